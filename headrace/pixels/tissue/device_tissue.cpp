#include <vector>

#include "headrace/pixels/tissue/tissue_passes.hpp"

namespace headrace::pixels {
namespace {

class DeviceTissuePasses : public TissuePasses {
 public:
  DeviceTissuePasses(const Image8& rgb, StatisticsWorkspaces& workspaces)
      : workspace_(workspaces), height_(rgb.height), width_(static_cast<std::int32_t>(rgb.width)) {
    std::uint8_t* there = workspace_->area<std::uint8_t>(0, 3 * pixels());
    workspace_->send(there, rgb.pixels.data(), 3 * pixels());
    view_ = {there, 3 * rgb.width};
    dense_ = workspace_->area<std::uint8_t>(1, pixels());
    ink_ = workspace_->area<std::uint8_t>(2, pixels());
    rows_ = workspace_->area<std::uint8_t>(3, pixels());
  }

  std::array<std::uint64_t, 256> darkest() override {
    std::array<std::uint64_t, 256> counts{};
    auto* there = workspace_->cleared<std::uint64_t>(4, 256);
    workspace_->gather(DarkestCount{view_, height_, width_, there});
    workspace_->fetch(counts.data(), there, 256);
    return counts;
  }
  Marked mark(int highest) override {
    std::uint64_t counts[3];
    auto* there = workspace_->cleared<std::uint64_t>(4, 3);
    workspace_->gather(TissueCount{view_, height_, width_, highest, dense_, ink_, there});
    workspace_->fetch(counts, there, 3);
    return {static_cast<std::int64_t>(counts[1] + counts[2]), static_cast<std::int64_t>(counts[2])};
  }
  std::int64_t take_ink_out() override {
    erode(ink_, 1);
    dilate(ink_, 1);
    dilate(ink_, 2);
    std::uint64_t counts[2];
    auto* there = workspace_->cleared<std::uint64_t>(4, 2);
    workspace_->gather(ClearedCount{dense_, ink_, height_, width_, there});
    workspace_->fetch(counts, there, 2);
    return static_cast<std::int64_t>(counts[1]);
  }
  Mask smoothed() override {
    erode(dense_, 1);
    dilate(dense_, 1);
    dilate(dense_, 2);
    erode(dense_, 2);
    Mask mask(height_, width_);
    workspace_->fetch(mask.pixels.data(), dense_, pixels());
    return mask;
  }

 private:
  std::int64_t pixels() const { return height_ * width_; }
  void dilate(std::uint8_t* mask, int radius) { spread(mask, radius, 1, 1); }
  void erode(std::uint8_t* mask, int radius) { spread(mask, radius, 0, 0); }
  void spread(std::uint8_t* mask, int radius, std::uint8_t wanted, std::uint8_t hit) {
    workspace_->gather(SpreadPixel{mask, rows_, height_, width_, radius, wanted, 1, false});
    workspace_->gather(SpreadPixel{rows_, mask, height_, width_, radius, 1, hit, true});
  }

  StatisticsWorkspaces::Lease workspace_;
  std::int64_t height_;
  std::int32_t width_;
  RgbView view_;
  std::uint8_t *dense_, *ink_, *rows_;
};

}  // namespace

std::unique_ptr<TissuePasses> device_tissue_passes(const Image8& rgb,
                                                   StatisticsWorkspaces& workspaces) {
  return std::make_unique<DeviceTissuePasses>(rgb, workspaces);
}

}  // namespace headrace::pixels
