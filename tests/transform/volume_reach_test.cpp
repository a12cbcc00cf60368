#include "headrace/transform/volume/reach.hpp"

#include "headrace/transform/volume/volume_spec.hpp"
#include "tests/transform/volume_case.hpp"

namespace headrace::transform {
namespace {

using fixtures::VolumeWindow;

/// Everything of a sample's output, image and labels.
struct Output {
  std::vector<float> image;
  std::vector<std::uint8_t> labels;
  Output(const VolumeGraph& graph, const VolumeParams& params, const VolumeGeometry& geometry,
         const VolumeWindow& window) {
    const auto& size = graph.patch().size_zyx;
    const auto voxels = static_cast<std::size_t>(size[0] * size[1] * size[2]);
    image.resize(voxels);
    labels.resize(voxels);
    VolumeScratch scratch;
    graph.run(params, geometry, window.image, window.labels, window.extent, 255, image.data(),
              labels.data(), scratch);
  }
};

struct Boxes {
  int all = 0, left_out = 0;
};

/// Poisons every box of 8³ voxels that the reach leaves out.
Boxes poison(VolumeWindow& window, const VolumeReach& reach) {
  Boxes boxes;
  const auto& o = window.extent.origin_zyx;
  const auto& n = window.extent.size_zyx;
  for (std::int64_t z = 0; z < n[0]; z += 8) {
    for (std::int64_t y = 0; y < n[1]; y += 8) {
      for (std::int64_t x = 0; x < n[2]; x += 8) {
        const Box3 box{{o[0] + z, o[1] + y, o[2] + x},
                       {std::min<std::int64_t>(8, n[0] - z), std::min<std::int64_t>(8, n[1] - y),
                        std::min<std::int64_t>(8, n[2] - x)}};
        ++boxes.all;
        if (reach.touches(box)) continue;
        ++boxes.left_out;
        for (std::int64_t k = 0; k < box.size_zyx[0]; ++k) {
          for (std::int64_t j = 0; j < box.size_zyx[1]; ++j) {
            const std::int64_t at = (box.origin_zyx[0] + k) * window.image.slice_stride +
                                    (box.origin_zyx[1] + j) * window.image.row_stride +
                                    box.origin_zyx[2];
            std::fill_n(window.hu.begin() + at, box.size_zyx[2], std::int16_t{-31000});
            std::fill_n(window.label.begin() + at, box.size_zyx[2], std::uint8_t{0xDD});
          }
        }
      }
    }
  }
  return boxes;
}

Boxes check(const std::vector<VolumeTransformSpec>& specs, const VolumePatchSpec& patch,
            std::uint64_t samples) {
  const VolumeGraph graph = VolumeGraph::compile(specs, patch);
  Boxes sum;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const auto params = graph.draw({21, 0, i}, {}, true);
    VolumeGeometry geometry;
    // Now and then far enough out that part of the window, or all of it, is beyond the level.
    const double far = i % 5 == 4 ? 40 : 0;
    graph.locate(*params, {35.3 + far, 44.8 - far, 55.1 + 2 * far}, {1, 1, 1}, geometry);
    VolumeWindow window(fixtures::volume_level(), geometry.window);
    if (window.extent.voxels() == 0) continue;
    const Output whole(graph, *params, geometry, window);
    const Boxes boxes = poison(window, VolumeReach(*params, patch, geometry, window.extent));
    const Output reached(graph, *params, geometry, window);
    EXPECT_EQ(0, std::memcmp(whole.image.data(), reached.image.data(), whole.image.size() * 4))
        << "sample " << i;
    EXPECT_EQ(whole.labels, reached.labels) << "sample " << i;
    sum.all += boxes.all;
    sum.left_out += boxes.left_out;
  }
  return sum;
}

const VolumePatchSpec kPatch{{40, 36, 44}, {1, 1, 1}};

TEST(VolumeReach, WhatItLeavesOutOfATurnedPatchReachesNoByte) {
  const VolumeAffineSpec turn{
      .rotate_deg = {-180, 180}, .scale = {0.7, 1.4}, .shear_deg = {-15, 15}, .flip = true};
  const Boxes boxes = check({turn}, kPatch, 150);
  EXPECT_GT(boxes.left_out, boxes.all / 4) << "of " << boxes.all;
}

TEST(VolumeReach, DeformedPatchesReachFurther) {
  const VolumeAffineSpec turn{.rotate_deg = {-60, 60}, .scale = {0.8, 1.25}};
  const Boxes rigid = check({turn}, kPatch, 100);
  const Boxes bent = check({turn, VolumeElasticSpec{.grid = 3, .magnitude_mm = 6}}, kPatch, 100);
  EXPECT_GT(bent.left_out, 0);
  EXPECT_LT(static_cast<double>(bent.left_out) / bent.all,
            static_cast<double>(rigid.left_out) / rigid.all);
}

TEST(VolumeReach, SmoothingBeforeAReductionReachesFurther) {
  const VolumePatchSpec coarse{{20, 18, 22}, {2.5, 2.5, 2.5}};
  const Boxes boxes = check({VolumeAffineSpec{.rotate_deg = {-45, 45}}}, coarse, 100);
  EXPECT_GT(boxes.left_out, 0);
}

TEST(VolumeReach, OfAPatchThatIsNotTurnedTheWholeWindow) {
  const Boxes boxes = check({VolumeAffineSpec{.scale = {0.8, 1.25}, .flip = true}}, kPatch, 10);
  EXPECT_EQ(boxes.left_out, 0);
}

}  // namespace
}  // namespace headrace::transform
