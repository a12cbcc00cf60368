#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "headrace/core/error.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/transform/patch_pixel.hpp"
#include "headrace/transform/place_patch.hpp"
#include "prepared_case.hpp"

namespace headrace::transform {
namespace {

using testing::KernelCase;
using testing::Prepared;
using testing::Result;

class ForcedIsa {
 public:
  explicit ForcedIsa(const char* name) : before_(device::name_of(device::cpu_isa())) {
    try {
      device::force_cpu_isa(name);
    } catch (const Error&) {
      lacking_ = true;
    }
  }
  ~ForcedIsa() { device::force_cpu_isa(before_); }
  bool lacking() const { return lacking_; }

 private:
  std::string before_;
  bool lacking_ = false;
};

TEST(Kernel, EveryInstructionSetGivesTheSameBytes) {
  for (const KernelCase& c : testing::kernel_cases()) {
    const Prepared prepared(c);
    Result v1;
    {
      const ForcedIsa isa("v1");
      v1 = prepared.run();
    }
    for (const char* name : {"v2", "v3"}) {
      const ForcedIsa isa(name);
      if (isa.lacking()) continue;
      EXPECT_TRUE(prepared.run() == v1) << c.name << " " << name;
    }
  }
}

template <typename Pixel>
void for_each(std::int64_t count, const Pixel& pixel) {
  for (std::int64_t i = 0; i < count; ++i) pixel(i);
}

/// What Graph::image does, in the per-pixel form.
void image_by_pixels(const Prepared& p, float* dst) {
  const PatchSpec& patch = p.graph.patch();
  const std::int64_t pixels = std::int64_t{patch.height} * patch.width;
  ControlPixels controls;
  const PatchKernel kernel =
      patch_kernel(*p.params, patch, p.geometry, p.image.view, p.image.extent, dst, controls);
  for_each(pixels, PatchPixel{kernel});
  if (!(p.params->blur_sigma > 0)) return;
  const BlurKernel blur = blur_kernel(p.params->blur_sigma, patch, dst);
  std::vector<float> plane(static_cast<std::size_t>(3 * pixels), std::nanf(""));
  for_each(3 * pixels, BlurRowPixel{blur, plane.data()});
  for_each(3 * pixels, BlurColumnPixel{blur, plane.data()});
  for_each(pixels, RecolourPixel{{p.params->after_blur, p.params->noise_after_blur, kernel.stream,
                                  patch.height, patch.width, dst}});
}

/// The per-pixel form is what a GPU runs: compiled here by the host compiler, one pixel at a time.
TEST(Kernel, OnePixelAtATimeGivesTheBytesOfRows) {
  for (const KernelCase& c : testing::kernel_cases()) {
    const Prepared p(c);
    const Result rows = p.run();
    Result pixels = rows;
    std::fill(pixels.image.begin(), pixels.image.end(), std::nanf(""));
    std::fill(pixels.labels.begin(), pixels.labels.end(), std::uint8_t{0xEE});
    image_by_pixels(p, pixels.image.data());
    ControlPixels controls;
    for_each(static_cast<std::int64_t>(rows.labels.size()),
             LabelPixel{label_kernel(*p.params, c.patch, p.geometry, p.label.view, p.label.extent,
                                     255, pixels.labels.data(), controls)});
    EXPECT_TRUE(pixels == rows) << c.name;
  }
}

TEST(Kernel, OutputsAreNumbersAlone) {
  for (const KernelCase& c : testing::kernel_cases()) {
    for (const float v : Prepared(c).run().image) ASSERT_TRUE(std::isfinite(v)) << c.name;
  }
}

TEST(Kernel, ThreadsAndReusedScratchDoNotMatter) {
  const auto cases = testing::kernel_cases();
  std::vector<Result> alone(cases.size()), together(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) alone[i] = Prepared(cases[i]).run();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Scratch scratch;  // goes from case to case, so from size to size
      for (std::size_t i = t; i < cases.size(); i += 4) {
        const Prepared p(cases[i]);
        const std::size_t pixels = alone[i].labels.size();
        together[i].image.resize(3 * pixels);
        together[i].labels.resize(pixels);
        p.graph.image(*p.params, p.geometry, p.image.view, p.image.extent, together[i].image.data(),
                      scratch);
        p.graph.labels(*p.params, p.geometry, p.label.view, p.label.extent, 255,
                       together[i].labels.data(), scratch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_TRUE(together[i] == alone[i]) << cases[i].name;
}

/// Changes only with intent ("Results change" in the changelog): the bytes of every case, folded by
/// FNV-1a.
TEST(Kernel, BytesAreThoseOfTheGolden) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto fold = [&hash](const void* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
    }
  };
  for (const KernelCase& c : testing::kernel_cases()) {
    const Result r = Prepared(c).run();
    fold(r.image.data(), r.image.size() * sizeof(float));
    fold(r.labels.data(), r.labels.size());
  }
  EXPECT_EQ(hash, 0xc300d95321c21c12u) << std::hex << hash;
}

}  // namespace
}  // namespace headrace::transform
