#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "headrace/core/error.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/transform/patch_pixel.hpp"
#include "headrace/transform/place_patch.hpp"
#include "kernel_cases.hpp"

namespace headrace::transform {
namespace {

using testing::cut;
using testing::KernelCase;
using testing::Level;

constexpr float kGuard = -12345.5f;

struct Result {
  std::vector<float> image;
  std::vector<std::uint8_t> labels;
  bool operator==(const Result& o) const {
    return labels == o.labels && image.size() == o.image.size() &&
           std::memcmp(image.data(), o.image.data(), image.size() * sizeof(float)) == 0;
  }
};

const Level& level() {
  static const Level it(600, 620, 11);
  return it;
}

struct Prepared {
  Graph graph;
  std::shared_ptr<const SampleParams> params;
  PatchGeometry geometry;
  testing::Window image, label;

  explicit Prepared(const KernelCase& c, std::uint64_t index = 5)
      : graph(Graph::compile(c.specs, c.patch)),
        params(graph.draw({9, 2, index}, testing::some_colour(), true)) {
    graph.locate(*params, c.context, c.centre, c.mpp, geometry);
    image = cut(level().rgb, level().height, level().width, 3, geometry.window, 77);
    label = cut(level().label, level().height, level().width, 1, geometry.window, 77);
  }

  /// Both outputs, poisoned before, with guard words around.
  Result run() const {
    Scratch scratch;
    const std::size_t pixels = std::size_t(graph.patch().height) * graph.patch().width;
    std::vector<float> out(3 * pixels + 32, kGuard);
    std::vector<std::uint8_t> labels(pixels + 32, 0xA5);
    for (std::size_t i = 16; i < 16 + 3 * pixels; ++i) out[i] = std::nanf("");
    graph.image(*params, geometry, image.view, image.extent, out.data() + 16, scratch);
    graph.labels(*params, geometry, label.view, label.extent, 255, labels.data() + 16, scratch);
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(out[i], kGuard);
      EXPECT_EQ(out[out.size() - 1 - i], kGuard);
      EXPECT_EQ(labels[i], 0xA5);
      EXPECT_EQ(labels[labels.size() - 1 - i], 0xA5);
    }
    return {{out.begin() + 16, out.end() - 16}, {labels.begin() + 16, labels.end() - 16}};
  }
};

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

/// The per-pixel form is what a GPU runs: compiled here by the host compiler, one pixel at a time.
TEST(Kernel, OnePixelAtATimeGivesTheBytesOfRows) {
  for (const KernelCase& c : testing::kernel_cases()) {
    const Prepared p(c);
    if (p.params->blur_sigma > 0) continue;
    const Result rows = p.run();
    Result pixels = rows;
    std::fill(pixels.image.begin(), pixels.image.end(), std::nanf(""));
    std::fill(pixels.labels.begin(), pixels.labels.end(), std::uint8_t{0xEE});
    ControlPixels controls;
    const PatchPixel image{patch_kernel(*p.params, c.patch, p.geometry, p.image.view,
                                        p.image.extent, pixels.image.data(), controls)};
    for (std::size_t i = 0; i < rows.labels.size(); ++i) image(static_cast<std::int64_t>(i));
    const LabelPixel label{label_kernel(*p.params, c.patch, p.geometry, p.label.view,
                                        p.label.extent, 255, pixels.labels.data(), controls)};
    for (std::size_t i = 0; i < rows.labels.size(); ++i) label(static_cast<std::int64_t>(i));
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
