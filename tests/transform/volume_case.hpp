#pragma once
// A volume to cut windows from, and a sample of it made ready.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_params.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace headrace::transform::fixtures {

/// A level of CT-like values, rough enough that a voxel's shift shows, and labels in blobs.
struct VolumeLevel {
  std::array<std::int32_t, 3> shape;
  std::vector<std::int16_t> hu;
  std::vector<std::uint8_t> label;

  explicit VolumeLevel(std::array<std::int32_t, 3> size) : shape(size) {
    std::uint32_t state = 5;
    for (int z = 0; z < shape[0]; ++z) {
      for (int y = 0; y < shape[1]; ++y) {
        for (int x = 0; x < shape[2]; ++x) {
          state = state * 1664525u + 1013904223u;
          const double smooth =
              300 * std::sin(z * 0.19) * std::cos(y * 0.13) + 200 * std::sin(x * 0.17 + y * 0.05);
          hu.push_back(static_cast<std::int16_t>(smooth + static_cast<double>(state >> 25) - 64));
          const int blob = (z / 7 * 5 + y / 9 * 3 + x / 8) % 7;
          label.push_back(static_cast<std::uint8_t>(blob > 3 ? 0 : blob));
        }
      }
    }
  }
  std::size_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>((z * shape[1] + y) * shape[2] + x);
  }
};

inline const VolumeLevel& volume_level() {
  static const VolumeLevel it({70, 90, 110});
  return it;
}

/// The voxels of a box that the level has; the others hold poison, which nothing may read.
struct VolumeWindow {
  Box3 extent;
  std::vector<std::int16_t> hu;
  std::vector<std::uint8_t> label;
  VolumeView<std::int16_t> image;
  VolumeView<std::uint8_t> labels;

  VolumeWindow(const VolumeLevel& level, const Box3& box, std::int32_t extra = 3) {
    const std::int64_t pitch = box.size_zyx[2] + extra, plane = box.size_zyx[1] * pitch;
    const auto count = static_cast<std::size_t>(plane * box.size_zyx[0]);
    hu.assign(count + 8, std::int16_t{31000});
    label.assign(count + 16, std::uint8_t{0xEE});
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t begin = std::clamp<std::int64_t>(-box.origin_zyx[i], 0, box.size_zyx[i]);
      const std::int64_t end =
          std::clamp<std::int64_t>(level.shape[i] - box.origin_zyx[i], begin, box.size_zyx[i]);
      extent.origin_zyx[i] = begin;
      extent.size_zyx[i] = end - begin;
    }
    const auto& o = extent.origin_zyx;
    const auto& n = extent.size_zyx;
    for (std::int64_t z = o[0]; z < o[0] + n[0]; ++z) {
      for (std::int64_t y = o[1]; y < o[1] + n[1]; ++y) {
        for (std::int64_t x = o[2]; x < o[2] + n[2]; ++x) {
          const std::size_t from =
              level.at(z + box.origin_zyx[0], y + box.origin_zyx[1], x + box.origin_zyx[2]);
          const auto to = static_cast<std::size_t>(z * plane + y * pitch + x);
          hu[to] = level.hu[from];
          label[to] = level.label[from];
        }
      }
    }
    image.data = hu.data();
    labels.data = label.data();
    for (std::size_t i = 0; i < 3; ++i) {
      image.shape_zyx[i] = labels.shape_zyx[i] = static_cast<std::int32_t>(box.size_zyx[i]);
    }
    image.row_stride = labels.row_stride = pitch;
    image.slice_stride = labels.slice_stride = plane;
  }
};

struct VolumeResult {
  std::vector<float> image;
  std::vector<std::uint8_t> labels;
  bool operator==(const VolumeResult& o) const {
    return labels == o.labels && image.size() == o.image.size() &&
           std::memcmp(image.data(), o.image.data(), image.size() * sizeof(float)) == 0;
  }
};

inline IntensityStats some_patient() { return {100000, 35, 180, -420, 610}; }
inline IntensityStats some_foreground() { return {5000, 60, 110, -150, 330}; }

struct VolumeSetting {
  std::string name;
  std::vector<VolumeTransformSpec> specs;
  VolumePatchSpec patch{{24, 29, 37}, {1.5, 1.5, 1.5}};
  std::array<double, 3> centre{35.2, 44.7, 55.1};  ///< level voxels
  std::array<double, 3> spacing{1.6, 1.4, 1.5};    ///< of the level
  ChannelPlace channel = {};
};

struct VolumeSample {
  VolumeGraph graph;
  std::shared_ptr<const VolumeParams> params;
  VolumeGeometry geometry;

  explicit VolumeSample(const VolumeSetting& s, std::uint64_t index = 5, bool random = true)
      : graph(VolumeGraph::compile(s.specs, s.patch, some_foreground(), s.channel)),
        params(graph.draw({9, 2, index}, some_patient(), random)) {
    graph.locate(*params, s.centre, s.spacing, geometry);
  }

  std::size_t voxels() const {
    const auto& n = graph.patch().size_zyx;
    return std::size_t(n[0]) * std::size_t(n[1]) * std::size_t(n[2]);
  }

  /// Both outputs, poisoned before, with guard words around.
  VolumeResult run(const VolumeLevel& level = volume_level(), bool labelled = true) const {
    VolumeScratch scratch;
    return run(level, labelled, scratch);
  }
  VolumeResult run(const VolumeLevel& level, bool labelled, VolumeScratch& scratch) const {
    constexpr float kGuard = -12345.5f;
    const VolumeWindow window(level, geometry.window);
    std::vector<float> out(voxels() + 32, kGuard);
    std::vector<std::uint8_t> labels(voxels() + 32, 0xA5);
    std::fill(out.begin() + 16, out.end() - 16, std::nanf(""));
    graph.run(*params, geometry, window.image,
              labelled ? window.labels : VolumeView<std::uint8_t>{}, window.extent, 255,
              out.data() + 16, labels.data() + 16, scratch);
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
