#pragma once
// A kernel case made ready: what every back end is given, and what it must give back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "kernel_cases.hpp"

namespace headrace::transform::fixtures {

constexpr float kGuard = -12345.5f;

struct Result {
  std::vector<float> image;
  std::vector<std::uint8_t> labels;
  bool operator==(const Result& o) const {
    return labels == o.labels && image.size() == o.image.size() &&
           std::memcmp(image.data(), o.image.data(), image.size() * sizeof(float)) == 0;
  }
};

inline const Level& level() {
  static const Level it(600, 620, 11);
  return it;
}

struct Prepared {
  Graph graph;
  std::shared_ptr<const SampleParams> params;
  PatchGeometry geometry;
  Window image, label;

  explicit Prepared(const KernelCase& c, std::uint64_t index = 5)
      : graph(Graph::compile(c.specs, c.patch)),
        params(graph.draw({9, 2, index}, some_colour(), true)) {
    graph.locate(*params, c.context, c.centre, c.mpp, geometry);
    image = cut(level().rgb, level().height, level().width, 3, geometry.window, 77);
    label = cut(level().label, level().height, level().width, 1, geometry.window, 77);
  }

  /// Both outputs of the CPU, poisoned before, with guard words around.
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

}  // namespace headrace::transform::fixtures
