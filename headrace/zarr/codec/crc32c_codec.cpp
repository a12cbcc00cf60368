#include "headrace/zarr/codec/crc32c_codec.hpp"

#include <cstring>

#include "headrace/core/crc32c.hpp"
#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

class Crc32cCodec : public BytesBytesCodec {
 public:
  std::optional<std::size_t> fixed_size(std::optional<std::size_t> decoded) const override {
    return decoded ? std::optional(*decoded + 4) : std::nullopt;
  }

  bool only_checks() const override { return true; }

  std::span<const std::byte> decode(std::span<const std::byte> encoded, const Expect& expect,
                                    Scratch&) const override {
    if (encoded.size() < 4) {
      fail(ErrorCode::corrupt, "codec crc32c: {} bytes found, expected at least 4", encoded.size());
    }
    const auto data = encoded.first(encoded.size() - 4);
    if (expect.size && data.size() != *expect.size) {
      fail(ErrorCode::corrupt, "codec crc32c: {} bytes of data found, expected {}", data.size(),
           *expect.size);
    }
    std::uint32_t stored;
    std::memcpy(&stored, encoded.data() + data.size(), 4);
    if (const std::uint32_t computed = crc32c(data); stored != computed) {
      fail(ErrorCode::corrupt, "stored crc32c {:08x}, computed {:08x}", stored, computed);
    }
    return data;
  }

  void encode(std::span<const std::byte> decoded, std::vector<std::byte>& out) const override {
    const std::uint32_t crc = crc32c(decoded);
    out.assign(decoded.begin(), decoded.end());
    out.resize(decoded.size() + 4);
    std::memcpy(out.data() + decoded.size(), &crc, 4);
  }
};

}  // namespace

std::unique_ptr<BytesBytesCodec> make_crc32c(CodecConfig& config) {
  config.finish();
  return std::make_unique<Crc32cCodec>();
}

}  // namespace headrace::zarr
