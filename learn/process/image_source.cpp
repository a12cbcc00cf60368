#include "learn/process/image_source.hpp"

#include <algorithm>
#include <filesystem>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/zarr/array.hpp"
#include "learn/process/stored_pixels.hpp"

namespace headrace::process {
namespace {

// Size of the blocks given to one thread: large enough that starting one costs nothing, small
// enough for its cache. A source's own block is taken whole unless it is larger than this.
constexpr std::int64_t kNominalBlock = 512;
constexpr std::int64_t kSmallBlock = 128;

std::int64_t working_block(std::int64_t stored, std::int64_t extent) {
  if (stored <= 0 || stored > 2 * kNominalBlock) return std::min(kNominalBlock, extent);
  if (stored >= kSmallBlock) return stored;
  return (kSmallBlock + stored - 1) / stored * stored;
}

void check_level(int level, std::size_t levels, const std::string& path) {
  if (level < 0 || static_cast<std::size_t>(level) >= levels) {
    fail(ErrorCode::usage, "{} {}: {} has levels 0 to {}", Option{"level"}, level, path,
         levels - 1);
  }
}

class SlideSource : public ImageSource {
 public:
  SlideSource(const std::string& path, int level)
      : path_(path), level_(level), reader_(imaging::SlideReader::open(path)) {
    const imaging::SlideInfo& info = reader_->info();
    check_level(level, info.levels.size(), path);
    const imaging::SlideLevel& size = info.levels[static_cast<std::size_t>(level)];
    info_.height = size.height;
    info_.width = size.width;
    info_.block_height = working_block(size.block_height, size.height);
    info_.block_width = working_block(size.block_width, size.width);
    if (info.mpp_y && info.mpp_x) {
      info_.mpp_y = *info.mpp_y * size.downsample;
      info_.mpp_x = *info.mpp_x * size.downsample;
    }
    info_.format = info.format;
  }

  const ImageInfo& info() const override { return info_; }
  void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const override {
    reader_->read(level_, box.y0, box.x0, box.height, box.width, dst, row_bytes);
  }
  StoredPixels stored_pixels() const override { return stored_tiff_pixels(path_, *this); }
  JpegBlocks jpeg_blocks() const override { return jpeg_slide_blocks(reader_, path_, *this); }
  std::string fingerprint() const override {
    const imaging::SourceStamp stamp = imaging::stamp_source(path_);
    return fmt::format("{}-{}-{}", stamp.size_bytes, stamp.sha256, level_);
  }

 private:
  std::string path_;
  int level_;
  std::shared_ptr<const imaging::SlideReader> reader_;
  ImageInfo info_;
};

class ZarrSource : public ImageSource {
 public:
  /// folder: that of the array on this machine; empty where its chunks can't be found by their
  /// keys.
  ZarrSource(std::shared_ptr<const zarr::Array> array, std::string identity,
             std::string folder = {})
      : array_(std::move(array)), identity_(std::move(identity)), folder_(std::move(folder)) {
    const zarr::ArrayMetadata& metadata = array_->metadata();
    const std::size_t rank = metadata.shape.size();
    const bool colour = rank == 3 && (metadata.shape[0] == 3 || metadata.shape[0] == 1);
    if (metadata.dtype != DType::uint8 || (rank != 2 && !colour)) {
      fail(ErrorCode::unsupported,
           "array {} is {} of shape ({}); images of uint8 (y, x) or (3, y, x) are read",
           array_->path(), name_of(metadata.dtype), fmt::join(metadata.shape, ", "));
    }
    info_.channels = rank == 3 ? static_cast<int>(metadata.shape[0]) : 1;
    info_.height = metadata.shape[rank - 2];
    info_.width = metadata.shape[rank - 1];
    if (info_.height < 1 || info_.width < 1) {
      fail(ErrorCode::malformed, "array {} has no pixels", array_->path());
    }
    const auto& chunk = array_->inner_chunk_shape();
    info_.block_height = working_block(chunk[rank - 2], info_.height);
    info_.block_width = working_block(chunk[rank - 1], info_.width);
    info_.format = "zarr";
  }
  void set_mpp(double y, double x) {
    info_.mpp_y = y;
    info_.mpp_x = x;
  }

  const ImageInfo& info() const override { return info_; }
  void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const override {
    auto* bytes = reinterpret_cast<std::byte*>(dst);
    if (array_->metadata().shape.size() == 3) {
      array_->read({{0, box.y0, box.x0},
                    {info_.channels, box.height, box.width},
                    bytes,
                    {1, row_bytes, info_.channels},
                    {}});
    } else {
      array_->read({{box.y0, box.x0}, {box.height, box.width}, bytes, {row_bytes, 1}, {}});
    }
  }
  StoredPixels stored_pixels() const override {
    return stored_zarr_pixels(folder_, array_->metadata(), info_.channels);
  }
  std::string fingerprint() const override {
    return sha256_hex(identity_ + dump_json(array_->metadata().to_json()));
  }

 private:
  std::shared_ptr<const zarr::Array> array_;
  std::string identity_, folder_;
  ImageInfo info_;
};

/// The level's path in an OME-Zarr image, and its scale in micrometres where that is known.
struct OmeLevel {
  std::string path;
  std::optional<double> mpp_y, mpp_x;
};

OmeLevel ome_level(const Json& ome, int level, const std::string& origin) {
  try {
    const Json& multiscale = ome.at("multiscales").at(0);
    const Json& datasets = multiscale.at("datasets");
    check_level(level, datasets.size(), origin);
    const Json& dataset = datasets.at(static_cast<std::size_t>(level));
    OmeLevel found{dataset.at("path").get<std::string>(), {}, {}};
    const Json& axes = multiscale.at("axes");
    const bool micrometres = axes.back().value("unit", "") == "micrometer";
    for (const Json& step : dataset.value("coordinateTransformations", Json::array())) {
      if (!micrometres || step.value("type", "") != "scale") continue;
      const Json& scale = step.at("scale");
      found.mpp_y = scale.at(scale.size() - 2).get<double>();
      found.mpp_x = scale.at(scale.size() - 1).get<double>();
    }
    return found;
  } catch (const Json::exception&) {
    fail(ErrorCode::malformed, "{}: attributes.ome is not a multiscales entry of OME-Zarr 0.5",
         origin);
  }
}

std::unique_ptr<ImageSource> open_cohort(const std::string& path, const std::string& image,
                                         int level) {
  const auto cohort = cohort::Cohort::open(path);
  if (image.empty()) {
    fail(ErrorCode::usage, "{} is a store of {} images: name one with {}", path,
         cohort->images().size(), Option{"image"});
  }
  if (cohort->kind() != "slide") {
    fail(ErrorCode::unsupported, "{} is a store of volumes; process works on slides", path);
  }
  const std::size_t at = cohort->find_image(image);
  const auto& record = cohort->images()[at];
  check_level(level, record.levels.size(), path + ", image " + image);
  const auto& size = record.levels[static_cast<std::size_t>(level)];
  auto source = std::make_unique<ZarrSource>(
      cohort->image_array(at, static_cast<std::size_t>(level)), cohort->dataset_hash());
  if (record.has_mpp) source->set_mpp(size.mpp_yx[0], size.mpp_yx[1]);
  return source;
}

std::unique_ptr<ImageSource> open_folder(const std::string& path, const std::string& image,
                                         int level) {
  const auto store = storage::open_store(storage::Place::parse(path));
  if (!store->exists("zarr.json")) {
    fail(ErrorCode::not_found, "{}: is a folder without zarr.json, so no Zarr v3 image", path);
  }
  const std::string text = store->get_text("zarr.json");
  const Json root = parse_json(text, store->describe("zarr.json"));
  const Json attributes = root.value("attributes", Json::object());
  const Json own = attributes.value("headrace", Json::object());
  if (own.value("kind", "") == "process" && !own.value("complete", false)) {
    fail(ErrorCode::corrupt,
         "{}: was not finished: the run that wrote it ended early. Run the same command again to "
         "finish it, or delete it",
         path);
  }
  if (store->exists("manifest.json") || own.value("kind", "") == "slide" ||
      own.value("kind", "") == "volume") {
    return open_cohort(path, image, level);
  }
  if (root.value("node_type", "") == "array") {
    check_level(level, 1, path);
    return std::make_unique<ZarrSource>(zarr::Array::open(store, ""), text, path);
  }
  if (!attributes.contains("ome")) {
    fail(ErrorCode::unsupported, "{}: its zarr.json is neither an array nor an OME-Zarr 0.5 image",
         path);
  }
  const OmeLevel found = ome_level(attributes["ome"], level, path);
  auto source = std::make_unique<ZarrSource>(zarr::Array::open(store, found.path), text,
                                             path + "/" + found.path);
  if (found.mpp_y) source->set_mpp(*found.mpp_y, *found.mpp_x);
  return source;
}

}  // namespace

StoredPixels ImageSource::stored_pixels() const { return {.why_not = "it is not in a file"}; }
JpegBlocks ImageSource::jpeg_blocks() const { return {.why_not = "its blocks are not JPEGs"}; }

std::unique_ptr<ImageSource> ImageSource::open(const std::string& path, const std::string& image,
                                               int level) {
  const auto place = storage::Place::parse(path);
  if (place.is_url() || std::filesystem::is_directory(place.path()))
    return open_folder(path, image, level);
  if (!image.empty())
    fail(ErrorCode::usage, "{}: {} is a file, not a store", Option{"image"}, path);
  return std::make_unique<SlideSource>(place.path().string(), level);
}

}  // namespace headrace::process
