#pragma once
#include <cstdint>

namespace headrace::imaging {

/// What a picture holds beside its first channel, which alone is read as labels: pixels whose three
/// channels differ, so that the first is no grey value, and transparency.
struct ColourCount {
  std::uint64_t first_only = 0;  ///< the others are 0: PANDA's masks have their labels so
  std::uint64_t mixed = 0;       ///< any other difference
  /// By the sample beside the colours, where there is one: transparency in most files.
  std::uint64_t clear = 0, opaque = 0;

  void add(double first, double second, double third) {
    if (first == second && second == third) return;
    ++(second == 0 && third == 0 ? first_only : mixed);
  }
  void add_beside(double sample) { ++(sample == 0 ? clear : opaque); }
  ColourCount& operator+=(const ColourCount& other) {
    first_only += other.first_only;
    mixed += other.mixed;
    clear += other.clear;
    opaque += other.opaque;
    return *this;
  }
};

}  // namespace headrace::imaging
