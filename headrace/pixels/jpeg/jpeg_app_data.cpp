#include "headrace/pixels/jpeg/jpeg_app_data.hpp"

#include <cstring>
#include <functional>
#include <map>
#include <string_view>

namespace headrace::pixels {
namespace {

using Content = std::span<const std::byte>;

constexpr std::string_view kProfile{"ICC_PROFILE\0", 12}, kExif{"Exif\0\0", 6};
constexpr unsigned kApp1 = 0xE1, kApp2 = 0xE2, kScan = 0xDA, kEnd = 0xD9;

unsigned at(Content bytes, std::size_t i) { return std::to_integer<unsigned>(bytes[i]); }

bool begins_with(Content content, std::string_view signature) {
  return content.size() > signature.size() &&
         std::memcmp(content.data(), signature.data(), signature.size()) == 0;
}

/// Whether a segment has neither length nor content.
bool stands_alone(unsigned marker) { return marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8); }

/// Calls `see` for each segment before the first scan. False: what is there are no segments.
bool each_segment(Content jpeg, const std::function<void(unsigned marker, Content content)>& see) {
  for (std::size_t i = 2; i + 4 <= jpeg.size();) {
    if (at(jpeg, i) != 0xFF) return false;
    const unsigned marker = at(jpeg, i + 1);
    if (marker == 0xFF || stands_alone(marker)) {
      i += marker == 0xFF ? 1 : 2;
      continue;
    }
    if (marker == kScan || marker == kEnd) break;
    const std::size_t length = at(jpeg, i + 2) << 8 | at(jpeg, i + 3);
    if (length < 2 || i + 2 + length > jpeg.size()) return false;
    see(marker, jpeg.subspan(i + 4, length - 2));
    i += 2 + length;
  }
  return true;
}

}  // namespace

std::vector<std::byte> jpeg_icc_profile(std::span<const std::byte> jpeg) {
  std::map<unsigned, Content> parts;
  unsigned count = 0;
  const bool whole = each_segment(jpeg, [&](unsigned marker, Content content) {
    if (marker != kApp2 || content.size() <= kProfile.size() + 2 || !begins_with(content, kProfile))
      return;
    count = at(content, kProfile.size() + 1);
    parts[at(content, kProfile.size())] = content.subspan(kProfile.size() + 2);
  });
  std::vector<std::byte> joined;
  if (!whole || parts.size() != count) return joined;
  for (unsigned number = 1; number <= count; ++number) {
    const auto part = parts.find(number);
    if (part == parts.end()) return {};
    joined.insert(joined.end(), part->second.begin(), part->second.end());
  }
  return joined;
}

std::span<const std::byte> jpeg_exif(std::span<const std::byte> jpeg) {
  Content found;
  each_segment(jpeg, [&](unsigned marker, Content content) {
    if (marker == kApp1 && found.empty() && begins_with(content, kExif))
      found = content.subspan(kExif.size());
  });
  return found;
}

}  // namespace headrace::pixels
