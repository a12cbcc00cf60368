#include "headrace/pixels/passes/rgb.hpp"
#include "headrace/pixels/tissue/morphology.hpp"
#include "headrace/pixels/tissue/tissue_passes.hpp"

namespace headrace::pixels {
namespace {

class CpuTissuePasses : public TissuePasses {
 public:
  explicit CpuTissuePasses(const Image8& rgb)
      : rgb_(rgb), dense_(rgb.height, rgb.width), ink_(rgb.height, rgb.width) {}

  std::array<std::uint64_t, 256> darkest() override {
    std::array<std::uint64_t, 256> counts{};
    count_darkest(rgb_.pixels.data(), rgb_.height * rgb_.width, counts);
    return counts;
  }
  Marked mark(int highest) override {
    Marked marked;
    for (std::size_t i = 0; i < dense_.pixels.size(); ++i) {
      const std::uint8_t* pixel = &rgb_.pixels[3 * i];
      if (darkest_of(pixel) > highest) continue;
      dense_.pixels[i] = 1;
      ink_.pixels[i] = is_ink(pixel) ? 1 : 0;
      marked.dense += 1;
      marked.ink += ink_.pixels[i];
    }
    return marked;
  }
  std::int64_t take_ink_out() override {
    const Mask stroke = dilate(open(ink_, 1), 2);
    for (std::size_t i = 0; i < stroke.pixels.size(); ++i) {
      if (stroke.pixels[i] != 0) dense_.pixels[i] = 0;
    }
    return stroke.count();
  }
  Mask smoothed() override { return close(open(dense_, 1), 2); }

 private:
  const Image8& rgb_;
  Mask dense_, ink_;
};

}  // namespace

std::unique_ptr<TissuePasses> cpu_tissue_passes(const Image8& rgb) {
  return std::make_unique<CpuTissuePasses>(rgb);
}

}  // namespace headrace::pixels
