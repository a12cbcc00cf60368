#include "headrace/zarr/codec/crc32c.hpp"

#include <array>
#include <cstring>

#include "headrace/core/error.hpp"
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace headrace::zarr {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bits reversed

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

// `crc` is the inverted running value in all of these.
std::uint32_t update_by_table(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept {
  while (size >= 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
    data += 8;
    size -= 8;
  }
  for (; size > 0; --size, ++data) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(*data)) & 0xff];
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t update_by_sse42(std::uint32_t start,
                                                                const std::byte* data,
                                                                std::size_t size) noexcept {
  std::uint64_t crc = start;
  for (; size >= 8; size -= 8, data += 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto narrow = static_cast<std::uint32_t>(crc);
  for (; size > 0; --size, ++data) {
    narrow = _mm_crc32_u8(narrow, std::to_integer<std::uint8_t>(*data));
  }
  return narrow;
}
#endif

class Crc32cCodec : public BytesBytesCodec {
 public:
  std::optional<std::size_t> fixed_size(std::optional<std::size_t> decoded) const override {
    return decoded ? std::optional(*decoded + 4) : std::nullopt;
  }

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

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept {
  return ~update_by_table(~0U, bytes.data(), bytes.size());
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
#if defined(__x86_64__)
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2") != 0;
  if (has_sse42) return ~update_by_sse42(~0U, bytes.data(), bytes.size());
#endif
  return crc32c_by_table(bytes);
}

std::unique_ptr<BytesBytesCodec> make_crc32c(CodecConfig& config) {
  config.finish();
  return std::make_unique<Crc32cCodec>();
}

}  // namespace headrace::zarr
