#include "headrace/zarr/codec/jpeg2k_tile.hpp"

#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_stream.hpp"
#include "headrace/zarr/codec/scratch.hpp"

namespace headrace::zarr {
namespace {

class Jpeg2kTile : public BytesBytesCodec {
 public:
  explicit Jpeg2kTile(bool ycbcr) : ycbcr_(ycbcr) {}

  std::span<const std::byte> decode(std::span<const std::byte> encoded, const Expect& expect,
                                    Scratch& out) const override {
    const auto stream = pixels::find_codestream(encoded);
    if (stream && stream->recoloured) {
      fail(ErrorCode::unsupported,
           "codec headrace.jpeg2k_tile: JPEG 2000 with a palette or an order of channels");
    }
    const std::vector<std::byte> tile =
        stream ? pixels::copy_jpeg2000(stream->codestream, stream->sycc || ycbcr_)
               : std::vector<std::byte>();
    if (tile.empty() || tile.size() > expect.limit) {
      fail(ErrorCode::corrupt, "codec headrace.jpeg2k_tile: {} bytes that are no JPEG 2000 tile",
           encoded.size());
    }
    out.reserve(tile.size());
    std::memcpy(out.data(), tile.data(), tile.size());
    return {out.data(), tile.size()};
  }

  void encode(std::span<const std::byte>, std::vector<std::byte>&) const override {
    fail(ErrorCode::unsupported, "codec headrace.jpeg2k_tile: is read alone");
  }

 private:
  bool ycbcr_;
};

}  // namespace

std::unique_ptr<BytesBytesCodec> make_jpeg2k_tile(CodecConfig& config) {
  const bool ycbcr = config.boolean_or("ycbcr", false);
  config.finish();
  return std::make_unique<Jpeg2kTile>(ycbcr);
}

}  // namespace headrace::zarr
