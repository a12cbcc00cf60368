#include "learn/process/tiff_sink.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/tiff/tiff_file_writer.hpp"

namespace headrace::process {
namespace {

class TiffSink : public ImageSink {
 public:
  TiffSink(const SinkOptions& options, const SinkImage& image)
      : image_(image),
        edge_(options.chunk),
        item_(static_cast<std::int64_t>(size_of(image.dtype))),
        samples_(static_cast<std::int64_t>(image.channel_names.size())),
        across_((image.width + edge_ - 1) / edge_),
        tiles_(static_cast<std::uint64_t>(across_ * ((image.height + edge_ - 1) / edge_))),
        tile_bytes_(static_cast<std::uint64_t>(edge_ * edge_ * item_ * samples_)) {
    if (options.codec != SinkCodec::none) {
      fail(ErrorCode::usage,
           "{} {}: a TIFF is written without compression; write Zarr, or "
           "leave it out",
           Option{"codec"}, name_of(options.codec));
    }
    if (std::filesystem::exists(options.path) && !options.overwrite) {
      fail(ErrorCode::usage, "{}: is there already; give {} to replace it", options.path,
           Option{"overwrite"});
    }
    file_ = std::make_unique<imaging::TiffFileWriter>(options.path, 0);  // always a BigTIFF
    first_ = file_->reserve(tiles_ * tile_bytes_);
  }

  bool interleaved() const noexcept override { return true; }
  bool has(std::int64_t, std::int64_t) const override { return false; }

  void write(std::int64_t y, std::int64_t x, const ChunkView& view) override {
    const std::uint64_t at = first_ + static_cast<std::uint64_t>(y * across_ + x) * tile_bytes_;
    const std::int64_t pixel = samples_ * item_, row = edge_ * pixel;
    const std::int64_t rows = std::min(edge_, image_.height - y * edge_);
    const std::int64_t columns = std::min(edge_, image_.width - x * edge_);
    if (view.row_bytes == row && rows == edge_ && columns == edge_) {
      file_->fill_reserved(at, {view.data, tile_bytes_});
    } else {
      std::vector<std::byte> tile(tile_bytes_);
      for (std::int64_t r = 0; r < rows; ++r) {
        std::memcpy(tile.data() + r * row, view.data + r * view.row_bytes,
                    static_cast<std::size_t>(columns * pixel));
      }
      file_->fill_reserved(at, tile);
    }
    ++written_;
  }

  void finish() override {
    using imaging::TiffType;
    const auto value = [](std::int64_t v) {
      return std::vector<std::uint64_t>{static_cast<std::uint64_t>(v)};
    };
    std::vector<imaging::TiffTag> tags;
    if (image_.mpp_y && image_.mpp_x) tags = imaging::tiff_resolution_tags(*image_.mpp_x);
    const bool rgb = samples_ == 3;
    std::vector<std::uint64_t> offsets, sizes(tiles_, tile_bytes_);
    for (std::uint64_t i = 0; i < tiles_; ++i) offsets.push_back(first_ + i * tile_bytes_);
    const auto each = [&](std::uint64_t v) {
      return std::vector<std::uint64_t>(static_cast<std::size_t>(samples_), v);
    };
    tags.insert(tags.end(), {{256, TiffType::dword, value(image_.width)},
                             {257, TiffType::dword, value(image_.height)},
                             {258, TiffType::word, each(static_cast<std::uint64_t>(item_ * 8))},
                             {259, TiffType::word, {1}},
                             {262, TiffType::word, {rgb ? 2u : 1u}},
                             {277, TiffType::word, value(samples_)},
                             {284, TiffType::word, {1}},
                             {322, TiffType::dword, value(edge_)},
                             {323, TiffType::dword, value(edge_)},
                             {324, TiffType::offset, std::move(offsets)},
                             {325, TiffType::dword, std::move(sizes)},
                             {339, TiffType::word, each(image_.dtype == DType::float32 ? 3 : 1)}});
    if (samples_ == 2) tags.push_back({338, TiffType::word, {0}});  // the second is not a colour
    file_->add_directory(std::move(tags));
    file_->finish();
  }

  SinkCounts counts() const override { return {written_, 0, 0, written_ * tile_bytes_}; }

 private:
  SinkImage image_;
  std::int64_t edge_, item_, samples_, across_;
  std::uint64_t tiles_, tile_bytes_, first_ = 0;
  std::unique_ptr<imaging::TiffFileWriter> file_;
  std::atomic<std::uint64_t> written_{0};
};

}  // namespace

std::unique_ptr<ImageSink> open_tiff_sink(const SinkOptions& options, const SinkImage& image) {
  return std::make_unique<TiffSink>(options, image);
}

}  // namespace headrace::process
