#include "headrace/core/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define HR_CRC32C_TARGET "sse4.2"
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define HR_CRC32C_TARGET "+crc"
#endif

namespace headrace {
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

#if defined(HR_CRC32C_TARGET)
// One number at a time and asked of the CPU by itself, so no lane of math/lane.hpp.
#define HR_CRC32C_CPU __attribute__((target(HR_CRC32C_TARGET)))

bool cpu_has_crc32c() noexcept {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") != 0;
#else
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

HR_CRC32C_CPU inline std::uint64_t crc_of_word(std::uint64_t crc, std::uint64_t word) noexcept {
#if defined(__x86_64__)
  return _mm_crc32_u64(crc, word);
#else
  return __crc32cd(static_cast<std::uint32_t>(crc), word);
#endif
}

HR_CRC32C_CPU inline std::uint32_t crc_of_byte(std::uint32_t crc, std::byte byte) noexcept {
#if defined(__x86_64__)
  return _mm_crc32_u8(crc, std::to_integer<std::uint8_t>(byte));
#else
  return __crc32cb(crc, std::to_integer<std::uint8_t>(byte));
#endif
}

// What a running value becomes when `bytes` zero bytes follow: linear in its bits, so four tables
// of one byte each hold it.
using ShiftTables = std::array<std::array<std::uint32_t, 256>, 4>;

ShiftTables shift_by(std::size_t bytes) {
  ShiftTables tables;
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t crc = byte << (8 * k);
      for (std::size_t i = 0; i < bytes; ++i) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
      tables[k][byte] = crc;
    }
  }
  return tables;
}

std::uint64_t shifted(const ShiftTables& tables, std::uint64_t crc) noexcept {
  return tables[0][crc & 0xff] ^ tables[1][crc >> 8 & 0xff] ^ tables[2][crc >> 16 & 0xff] ^
         tables[3][crc >> 24 & 0xff];
}

std::uint64_t load64(const std::byte* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  return word;
}

// The instruction takes three cycles but one can start in each: three neighbouring thirds are
// summed at once, then joined.
HR_CRC32C_CPU std::uint32_t update_by_instruction(std::uint32_t start, const std::byte* data,
                                                  std::size_t size) noexcept {
  constexpr std::size_t kThird = 1024;
  static const ShiftTables third = shift_by(kThird);
  std::uint64_t crc = start;
  for (; size >= 3 * kThird; size -= 3 * kThird, data += 3 * kThird) {
    std::uint64_t middle = 0, last = 0;
    for (std::size_t i = 0; i < kThird; i += 8) {
      crc = crc_of_word(crc, load64(data + i));
      middle = crc_of_word(middle, load64(data + kThird + i));
      last = crc_of_word(last, load64(data + 2 * kThird + i));
    }
    crc = shifted(third, shifted(third, crc) ^ middle) ^ last;
  }
  for (; size >= 8; size -= 8, data += 8) crc = crc_of_word(crc, load64(data));
  auto narrow = static_cast<std::uint32_t>(crc);
  for (; size > 0; --size, ++data) narrow = crc_of_byte(narrow, *data);
  return narrow;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept {
  return ~update_by_table(~0U, bytes.data(), bytes.size());
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
#if defined(HR_CRC32C_TARGET)
  static const bool has_instruction = cpu_has_crc32c();
  if (has_instruction) return ~update_by_instruction(~0U, bytes.data(), bytes.size());
#endif
  return crc32c_by_table(bytes);
}

}  // namespace headrace
