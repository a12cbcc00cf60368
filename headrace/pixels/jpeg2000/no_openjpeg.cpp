// Built instead of the decoder where OpenJPEG is missing.
#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_decoder.hpp"

namespace headrace::pixels {
namespace {

[[noreturn]] void not_built(std::string_view origin) {
  fail(ErrorCode::unsupported,
       "{}: this build reads no JPEG 2000. Install libopenjp2-7-dev and build again, or convert "
       "the picture, for example to Deflate.",
       origin);
}

}  // namespace

Jpeg2000Image decode_jpeg2000(std::span<const std::uint8_t>, std::int64_t, std::int64_t,
                              const std::string& origin) {
  not_built(origin);
}

void decode_jpeg2000_pixels(std::span<const std::uint8_t>, std::int64_t, std::int64_t, int, bool,
                            std::uint8_t*, std::int64_t, const std::string& origin) {
  not_built(origin);
}

void decode_jpeg2000_window(std::span<const std::byte>, std::string_view origin, const JpegShape&,
                            const JpegWindow&, std::byte*, std::ptrdiff_t) {
  not_built(origin);
}

}  // namespace headrace::pixels
