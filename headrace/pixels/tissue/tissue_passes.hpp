#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "headrace/pixels/image.hpp"
#include "headrace/pixels/statistics/statistics_workspaces.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"

namespace headrace::pixels {

/// The steps of find_tissue over all pixels of an image, in their order. The host does the work
/// between them, the same for every back end.
class TissuePasses {
 public:
  virtual ~TissuePasses() = default;
  /// Pixels by the value of their darkest channel.
  virtual std::array<std::uint64_t, 256> darkest() = 0;
  /// Marks pixels whose darkest channel is at most `highest` as dense, those of a pen among them as
  /// ink, and counts the two.
  struct Marked {
    std::int64_t dense = 0, ink = 0;
  };
  virtual Marked mark(int highest) = 0;
  /// Removes ink, opened by 1 and dilated by 2, from the dense pixels. Returns the number of ink
  /// pixels.
  virtual std::int64_t take_ink_out() = 0;
  /// The dense pixels, opened by 1 and closed by 2.
  virtual Mask smoothed() = 0;
};

std::unique_ptr<TissuePasses> cpu_tissue_passes(const Image8& rgb);
/// Holds a workspace while it lives. Errors: device, memory.
std::unique_ptr<TissuePasses> device_tissue_passes(const Image8& rgb,
                                                   StatisticsWorkspaces& workspaces);
/// The CPU takes larger images, so that a workspace's memory is bounded.
inline constexpr std::int64_t kMostDeviceTissuePx = std::int64_t{1} << 24;

}  // namespace headrace::pixels
