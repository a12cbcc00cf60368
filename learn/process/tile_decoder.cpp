#include "learn/process/tile_decoder.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/zarr/device_decoder.hpp"
#include "headrace/zarr/nvidia/jpeg_batch.hpp"

namespace headrace::process {

struct TileDecoder::State {
  zarr::JpegBatch jpegs;
  std::vector<zarr::DecodePlan::Segment> segments;
};

TileDecoder::TileDecoder() = default;
TileDecoder::~TileDecoder() = default;

std::vector<std::size_t> TileDecoder::decode(std::span<const JpegTile> tiles,
                                             const std::uint8_t* host, std::uint8_t* device,
                                             device::cuda::Stream& stream, std::string& why) {
  if (state_ == nullptr) {
    const std::string& missing = zarr::GpuDecoders::here().no_jpeg;
    if (!missing.empty()) {
      fail(ErrorCode::unsupported, "{} gpu: {}. Set it to auto or cpu", Option{"decode"}, missing);
    }
    state_ = std::make_unique<State>();
  }
  auto& segments = state_->segments;
  segments.clear();
  for (const JpegTile& tile : tiles) {
    zarr::DecodePlan::Segment segment;
    segment.codec = zarr::StreamCodec::jpeg;
    segment.offset = tile.offset;
    segment.size = tile.size;
    segment.decoded_offset = tile.decoded;
    segment.height = tile.height;
    segment.width = tile.width;
    segment.decoded_size =
        3 * static_cast<std::uint64_t>(tile.height) * static_cast<std::uint64_t>(tile.width);
    segments.push_back(segment);
  }
  std::vector<std::size_t> left =
      state_->jpegs.start(segments, {}, reinterpret_cast<const std::byte*>(host),
                          reinterpret_cast<std::byte*>(device), stream);
  why = state_->jpegs.why_left();
  return left;
}

}  // namespace headrace::process
