#include "headrace/imaging/orientation.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace headrace::imaging {
namespace {

/// Unsigned integers of a TIFF in its byte order; 0 beyond the end.
class Numbers {
 public:
  Numbers(std::span<const std::byte> bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  std::uint32_t at(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = offset + (big_endian_ ? i : size - 1 - i);
      value = value << 8 | std::to_integer<std::uint32_t>(bytes_[place]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

}  // namespace

int exif_orientation(std::span<const std::byte> exif) {
  constexpr std::size_t kHead = 8, kEntry = 12;
  constexpr std::uint32_t kOrientation = 274, kShort = 3, kMagic = 42;
  if (exif.size() < kHead) return 1;
  const bool big_endian = exif[0] == std::byte{'M'};
  const Numbers numbers(exif, big_endian);
  if (numbers.at(2, 2) != kMagic) return 1;
  const std::size_t directory = numbers.at(4, 4);
  const std::size_t entries = numbers.at(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    if (entry + kEntry > exif.size()) break;
    if (numbers.at(entry, 2) != kOrientation || numbers.at(entry + 2, 2) != kShort) continue;
    const auto value = static_cast<int>(numbers.at(entry + 8, 2));
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

std::optional<std::string> why_turned(int orientation) {
  if (orientation <= 1) return std::nullopt;
  return fmt::format(
      "its picture is to be turned or mirrored (Orientation {}), which programs do or leave out, "
      "so that masks would fit one of the two; store it turned, with Orientation 1",
      orientation);
}

}  // namespace headrace::imaging
