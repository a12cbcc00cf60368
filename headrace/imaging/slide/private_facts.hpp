#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::imaging {

/// What SlideReader never hands out, for users who ask for it by name: every property of a slide
/// file in words (free text, dates, identifiers) and its associated images (label, macro,
/// thumbnail), as OpenSlide has them. Nothing of Headrace's own work uses it. Safe from any thread.
class PrivateFacts {
 public:
  /// Errors: unsupported (no OpenSlide), malformed (not a slide that OpenSlide opens).
  static std::unique_ptr<PrivateFacts> open(const std::string& path);
  virtual ~PrivateFacts() = default;

  using Properties = std::vector<std::pair<std::string, std::string>>;
  virtual const Properties& properties() const = 0;  ///< values as stored: not always UTF-8
  virtual const std::vector<std::string>& images() const = 0;  ///< names

  /// (y, x, c) uint8 RGBA, not premultiplied.
  struct Image {
    std::int64_t height = 0, width = 0;
    std::vector<std::uint8_t> rgba;
    std::vector<std::byte> icc_profile;
  };
  /// Errors: usage (no such image), corrupt, memory (over 1 GiB).
  virtual Image read(const std::string& image) const = 0;
};

}  // namespace headrace::imaging
