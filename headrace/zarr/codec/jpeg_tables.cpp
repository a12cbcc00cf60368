#include "headrace/zarr/codec/jpeg_tables.hpp"

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "headrace/core/base64.hpp"
#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_splice.hpp"
#include "headrace/zarr/codec/scratch.hpp"

namespace headrace::zarr {
namespace {

class JpegTables : public BytesBytesCodec {
 public:
  JpegTables(std::vector<std::byte> tables, bool rgb) : tables_(std::move(tables)), rgb_(rgb) {}

  std::span<const std::byte> decode(std::span<const std::byte> encoded, const Expect& expect,
                                    Scratch& out) const override {
    thread_local std::vector<std::byte> jpeg;  // its memory stays from tile to tile
    pixels::JpegMarkers markers;
    if (!pixels::splice_jpeg(tables_, encoded, rgb_, markers, jpeg)) {
      fail(ErrorCode::corrupt, "codec headrace.jpeg_tables: {} bytes that are no colour JPEG",
           encoded.size());
    }
    if (jpeg.size() > expect.limit)
      fail(ErrorCode::corrupt, "codec headrace.jpeg_tables: {} bytes are too many", jpeg.size());
    out.reserve(jpeg.size());
    std::memcpy(out.data(), jpeg.data(), jpeg.size());
    return {out.data(), jpeg.size()};
  }

  void encode(std::span<const std::byte>, std::vector<std::byte>&) const override {
    fail(ErrorCode::unsupported, "codec headrace.jpeg_tables: is read alone");
  }

 private:
  std::vector<std::byte> tables_;
  bool rgb_;
};

}  // namespace

std::unique_ptr<BytesBytesCodec> make_jpeg_tables(CodecConfig& config) {
  const Json& stated = config.value("tables");
  auto tables =
      stated.is_string() ? from_base64(stated.get_ref<const std::string&>()) : std::nullopt;
  if (!tables) config.reject("tables", "expected base64");
  const bool rgb = config.boolean_or("rgb", false);
  config.finish();
  return std::make_unique<JpegTables>(std::move(*tables), rgb);
}

}  // namespace headrace::zarr
