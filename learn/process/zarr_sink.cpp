#include "learn/process/zarr_sink.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/store_lock.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "headrace/zarr/codec/strided.hpp"

namespace headrace::process {
namespace {

constexpr const char* kArray = "0";

Json codecs_of(const SinkOptions& options, DType dtype) {
  if (options.codec == SinkCodec::blosc_zstd) {
    return zarr::Codecs::blosc_zstd(dtype, options.level,
                                    size_of(dtype) > 1 ? "shuffle" : "noshuffle");
  }
  Json codecs = zarr::Codecs::zstd(dtype, options.level);
  if (options.codec == SinkCodec::none) codecs.erase(1);  // array→bytes alone
  return codecs;
}

/// Unsynced objects from before a reboot may have been lost, so they are not trusted.
std::string boot_id() {
  const std::string id = read_file_if_there("/proc/sys/kernel/random/boot_id");
  return id.substr(0, id.find('\n'));
}

zarr::ArrayMetadata array_metadata(const SinkOptions& options, const SinkImage& image) {
  zarr::ArrayMetadata metadata;
  metadata.shape = {image.height, image.width};
  metadata.chunk_shape = {options.chunk, options.chunk};
  metadata.dimension_names = {"y", "x"};
  if (image.channel_names.size() > 1) {
    const auto channels = static_cast<std::int64_t>(image.channel_names.size());
    metadata.shape.insert(metadata.shape.begin(), channels);
    metadata.chunk_shape.insert(metadata.chunk_shape.begin(), channels);
    metadata.dimension_names.insert(metadata.dimension_names.begin(), "c");
  }
  metadata.dtype = image.dtype;
  metadata.fill_value.resize(size_of(image.dtype));
  metadata.codecs = codecs_of(options, image.dtype);
  return metadata;
}

Json ome_metadata(const SinkImage& image) {
  const bool known = image.mpp_y && image.mpp_x;
  Json axes = Json::array(), scale = Json::array();
  if (image.channel_names.size() > 1) {
    axes.push_back({{"name", "c"}, {"type", "channel"}});
    scale.push_back(1.0);
  }
  for (const char* name : {"y", "x"}) {
    Json axis{{"name", name}, {"type", "space"}};
    if (known) axis["unit"] = "micrometer";
    axes.push_back(axis);
  }
  scale.push_back(known ? *image.mpp_y : 1.0);
  scale.push_back(known ? *image.mpp_x : 1.0);
  const Json dataset{
      {"path", kArray},
      {"coordinateTransformations", Json::array({Json{{"type", "scale"}, {"scale", scale}}})}};
  Json multiscale{
      {"name", image.operation.at("name")}, {"axes", axes}, {"datasets", Json::array({dataset})}};
  return {{"version", "0.5"}, {"multiscales", Json::array({multiscale})}};
}

class ZarrSink : public ImageSink {
 public:
  ZarrSink(const SinkOptions& options, const SinkImage& image)
      : path_(options.path),
        image_(image),
        metadata_(array_metadata(options, image)),
        new_folder_(!std::filesystem::exists(options.path)) {
    check_destination(options);
    lock_.emplace(options.path);
    store_ = storage::open_store(storage::Place::parse(options.path),
                                 {.durability = storage::Durability::on_sync});
    begin();
    writer_ = std::make_unique<zarr::ArrayWriter>(store_, kArray, metadata_);
  }

  bool interleaved() const noexcept override { return false; }

  bool has(std::int64_t y, std::int64_t x) const override { return kept_.contains(key(y, x)); }

  void write(std::int64_t y, std::int64_t x, const ChunkView& view) override {
    std::vector<std::int64_t> strides{view.row_bytes, view.pixel_bytes};
    if (metadata_.shape.size() == 3) strides.insert(strides.begin(), view.channel_bytes);
    const std::uint64_t bytes = lies_as_stored(y, x, view)
                                    ? write_bytes(y, x, view.data)
                                    : writer_->write_shard(index(y, x), view.data, strides);
    bytes_ += bytes;
    ++(bytes == 0 ? empty_ : written_);
  }

  bool takes_files() const noexcept override { return metadata_.codecs.size() == 1; }
  void write_file(std::int64_t y, std::int64_t x, std::uint64_t size_bytes,
                  const std::function<void(const std::string& path)>& write) override {
    store_->put_file(key(y, x), size_bytes, write);
    bytes_ += size_bytes;
    ++written_;
  }
  void write_zeros(std::int64_t, std::int64_t) override { ++empty_; }

  void finish() override {
    writer_->finish();
    store_->sync();  // every chunk, before the image is marked as complete
    Json own{{"kind", "process"},
             {"complete", true},
             {"format", 1},
             {"operation", image_.operation},
             {"source", {{"format", image_.source_format}}}};
    store_->put_text(
        "zarr.json",
        dump_json(zarr::group_metadata({{"ome", ome_metadata(image_)}, {"headrace", own}})));
    store_->sync();
  }

  SinkCounts counts() const override { return {written_, empty_, kept_.size(), bytes_}; }

 private:
  std::vector<std::int64_t> index(std::int64_t y, std::int64_t x) const {
    return metadata_.shape.size() == 3 ? std::vector<std::int64_t>{0, y, x}
                                       : std::vector<std::int64_t>{y, x};
  }
  std::string key(std::int64_t y, std::int64_t x) const {
    return std::string(kArray) + "/" + metadata_.chunk_key(index(y, x));
  }

  /// The chunk in memory equals the object's bytes exactly.
  bool lies_as_stored(std::int64_t y, std::int64_t x, const ChunkView& view) const {
    const auto item = static_cast<std::int64_t>(size_of(metadata_.dtype));
    const std::int64_t edge = metadata_.chunk_shape.back();
    const bool whole = (y + 1) * edge <= image_.height && (x + 1) * edge <= image_.width;
    return whole && metadata_.codecs.size() == 1 && view.pixel_bytes == item &&
           view.row_bytes == edge * item &&
           (metadata_.shape.size() == 2 || view.channel_bytes == edge * edge * item);
  }
  std::uint64_t write_bytes(std::int64_t y, std::int64_t x, const std::byte* data) {
    std::size_t size = size_of(metadata_.dtype);
    for (const std::int64_t edge : metadata_.chunk_shape) size *= static_cast<std::size_t>(edge);
    std::span<const std::byte> bytes(data, size);
    if (zarr::all_equal(bytes, metadata_.fill_value)) bytes = {};
    return writer_->write_encoded_shard(index(y, x), std::span(&bytes, 1));
  }

  /// Marker of an unfinished output: holds what decides its bytes, and whether its objects can be
  /// trusted.
  Json marker() const {
    return {{"kind", "process"},
            {"complete", false},
            {"operation", image_.operation},
            {"array", metadata_.to_json()},
            {"source", image_.source_fingerprint},
            {"boot", boot_id()}};
  }

  void check_destination(const SinkOptions& options) const {
    namespace fs = std::filesystem;
    if (new_folder_) return;
    if (!fs::is_directory(path_)) {
      fail(ErrorCode::usage, "{}: is a file; name a folder that is new, or one ending in .tif",
           path_);
    }
    if (fs::is_empty(path_)) return;
    const Json own = own_attributes();
    if (own.value("kind", "") != "process") {
      fail(ErrorCode::usage,
           "{}: is a folder with other things in it; name a new one for the result", path_);
    }
    if (own.value("complete", false) && !options.overwrite) {
      fail(ErrorCode::usage, "{}: holds a finished image; give {} to replace it", path_,
           Option{"overwrite"});
    }
  }

  Json own_attributes() const {
    const auto store = storage::open_store(storage::Place::parse(path_));
    // A run that was killed before it wrote its marker has left at most a temporary file.
    if (!store->exists("zarr.json")) {
      const bool other = !store->list("").empty();
      return {{"kind", other ? "" : "process"}};
    }
    const Json root = parse_json(store->get_text("zarr.json"), store->describe("zarr.json"));
    return root.value("attributes", Json::object()).value("headrace", Json::object());
  }

  void begin() {
    store_->remove_leftovers();
    const Json found = new_folder_ ? Json::object() : own_attributes();
    const Json mine = marker();
    if (found == mine) {
      for (std::string& name : store_->list(std::string(kArray) + "/c/")) kept_.insert(name);
      return;
    }
    // The marker first: an image that is being deleted must not count as complete.
    store_->put_text("zarr.json", dump_json(zarr::group_metadata({{"headrace", mine}})));
    for (const std::string& name : store_->list(std::string(kArray) + "/")) store_->erase(name);
    store_->sync();
  }

  std::string path_;
  SinkImage image_;
  zarr::ArrayMetadata metadata_;
  bool new_folder_;
  std::optional<storage::StoreLock> lock_;
  std::shared_ptr<storage::Store> store_;
  std::unique_ptr<zarr::ArrayWriter> writer_;
  std::set<std::string> kept_;
  std::atomic<std::uint64_t> written_{0}, empty_{0}, bytes_{0};
};

}  // namespace

std::unique_ptr<ImageSink> open_zarr_sink(const SinkOptions& options, const SinkImage& image) {
  return std::make_unique<ZarrSink>(options, image);
}

}  // namespace headrace::process
