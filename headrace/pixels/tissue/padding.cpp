#include "headrace/pixels/tissue/padding.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "headrace/pixels/passes/rgb.hpp"
#include "headrace/pixels/tissue/morphology.hpp"

namespace headrace::pixels {
namespace {

constexpr int kBlack = 8;  // what JPEG makes of 0
constexpr int kNoLight =
    24;                     // what a sensor's noise or a gradient makes of it; no tissue is so dark
constexpr int kAlmost = 1;  // what JPEG makes of one colour
constexpr std::int64_t kSmallest = 64, kShare = 200;
constexpr std::int64_t kLargeBlack = 256;
constexpr int kRim = 2;

class Search {
 public:
  Search(const Image8& rgb, int glass)
      : rgb_(rgb),
        glass_(glass),
        least_(std::max(kSmallest, rgb.height * rgb.width / kShare)),
        least_black_(std::min(least_, kLargeBlack)) {}

  Mask run() {
    for (std::int64_t x = 0; x < rgb_.width; ++x) {
      try_at(0, x);
      try_at(rgb_.height - 1, x);
    }
    for (std::int64_t y = 0; y < rgb_.height; ++y) {
      try_at(y, 0);
      try_at(y, rgb_.width - 1);
    }
    for (std::int64_t y = 0; y < rgb_.height; ++y) {
      for (std::int64_t x = 0; x < rgb_.width; ++x) {
        if (brightest_of(at(y, x)) <= kBlack) try_at(y, x);
      }
    }
    if (!any_) return {};
    for (auto& pixel : state_.pixels) pixel = pixel == kPadding ? 1 : 0;
    return dilate(state_, kRim);
  }

 private:
  enum State : std::uint8_t { kUnseen, kOther, kPadding };
  struct Place {
    std::int64_t y, x;
  };

  const std::uint8_t* at(std::int64_t y, std::int64_t x) const { return rgb_.row(y) + 3 * x; }

  static bool alike(const std::uint8_t* seed, const std::uint8_t* pixel) {
    if (brightest_of(seed) <= kBlack) return brightest_of(pixel) <= kNoLight;
    for (int c = 0; c < 3; ++c) {
      if (std::abs(int{seed[c]} - int{pixel[c]}) > kAlmost) return false;
    }
    return true;
  }

  /// Marks the area of one colour around a pixel, as padding where it is large.
  void try_at(std::int64_t y, std::int64_t x) {
    if (darkest_of(at(y, x)) >= glass_) return;
    if (state_.pixels.empty()) state_ = Mask(rgb_.height, rgb_.width);
    if (state_.at(y, x) != kUnseen) return;
    const std::uint8_t* seed = at(y, x);
    area_.assign(1, {y, x});
    state_.at(y, x) = kOther;
    for (std::size_t i = 0; i < area_.size(); ++i) {
      const auto [cy, cx] = area_[i];
      const Place around[] = {{cy - 1, cx}, {cy + 1, cx}, {cy, cx - 1}, {cy, cx + 1}};
      for (const auto& [ny, nx] : around) {
        if (ny < 0 || nx < 0 || ny >= rgb_.height || nx >= rgb_.width) continue;
        if (state_.at(ny, nx) != kUnseen || !alike(seed, at(ny, nx))) continue;
        state_.at(ny, nx) = kOther;
        area_.push_back({ny, nx});
      }
    }
    const bool black = brightest_of(seed) <= kBlack;
    if (static_cast<std::int64_t>(area_.size()) < (black ? least_black_ : least_)) return;
    if (!(black ? has_much_black() : is_of_one_colour(seed))) return;
    any_ = true;
    for (const auto& [py, px] : area_) state_.at(py, px) = kPadding;
  }

  /// Whether a quarter of the area is as black as its seed: a dark fold has few such pixels.
  bool has_much_black() const {
    const auto black = std::count_if(area_.begin(), area_.end(), [&](const Place& place) {
      return brightest_of(at(place.y, place.x)) <= kBlack;
    });
    return 4 * black >= static_cast<std::int64_t>(area_.size());
  }

  /// Whether most of the area has the very same colour: smooth tissue has noise.
  bool is_of_one_colour(const std::uint8_t* seed) const {
    std::array<std::int64_t, 27> pixels{};  // by how far the three channels are from the seed's
    for (const auto& [y, x] : area_) {
      std::size_t kind = 0;
      for (int c = 0; c < 3; ++c)
        kind = 3 * kind + static_cast<std::size_t>(at(y, x)[c] - seed[c] + kAlmost);
      ++pixels[kind];
    }
    return 4 * *std::max_element(pixels.begin(), pixels.end()) >=
           3 * static_cast<std::int64_t>(area_.size());
  }

  const Image8& rgb_;
  const int glass_;
  const std::int64_t least_, least_black_;
  Mask state_;
  std::vector<Place> area_;
  bool any_ = false;
};

}  // namespace

Mask find_padding(const Image8& rgb, int glass) {
  if (rgb.height < 1 || rgb.width < 1) return {};
  return Search(rgb, glass).run();
}

}  // namespace headrace::pixels
