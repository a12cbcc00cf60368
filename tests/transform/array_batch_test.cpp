#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_array_batch.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/volume/volume_array_batch.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "tissue.hpp"
#include "volume_case.hpp"

namespace headrace::transform {
namespace {

using fixtures::Level;

const std::vector<TransformSpec> kSlides{AffineSpec{{-180, 180}, {0.8, 1.25}, {-5, 5}, 0.1, true},
                                         ElasticSpec{5, 4, 0.5}, ColorJitterSpec{0.2, 0.2, 0.2, 0},
                                         GaussianNoiseSpec{{0, 0.1}, 1}};

VolumeAffineSpec turned() {
  VolumeAffineSpec spec;
  spec.rotate_deg = {-40, 40};
  spec.scale = {0.7, 1.4};
  spec.flip = true;
  return spec;
}
const std::vector<VolumeTransformSpec> kVolumes{turned(), VolumeElasticSpec{5, 4, 0.5},
                                                VolumeNoiseSpec{{0, 20}, 1}};

ImageArray array_of(const Level& level, std::array<double, 2> centre) {
  const auto height = static_cast<std::int32_t>(level.height),
             width = static_cast<std::int32_t>(level.width);
  return {{level.rgb.data(), height, width, 3 * level.width},
          {level.label.data(), height, width, level.width},
          centre,
          {0.4, 0.5},
          {}};
}

/// Samples in the middle of an image, over its edges and outside of it.
std::vector<ImageArray> images_of(const Level& level) {
  std::vector<ImageArray> images;
  for (const double y : {60.0, 3.5, 117.0, -400.0}) images.push_back(array_of(level, {y, 70.25}));
  images.back().labels = {};
  return images;
}

TEST(ArrayBatch, GivesWhatTheGraphGivesOfACutWindow) {
  const Level level(120, 140, 5);
  const PatchSpec patch{40, 56, 0.5, {1}};
  const Graph graph = Graph::compile(kSlides, patch);
  const auto images = images_of(level);
  const std::size_t plane = 40 * 56;
  std::vector<float> out(3 * plane * images.size());
  std::vector<std::uint8_t> labels(plane * images.size());
  ThreadPool pool(1);
  ArrayBatch(graph).run(images, {3, 2, 50}, true, out.data(), labels.data(), pool);
  Scratch scratch;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto params = graph.draw({3, 2, 50 + i}, {}, true);
    PatchGeometry g;
    graph.locate(*params, 1, images[i].centre_yx, images[i].mpp_yx, g);
    const auto pixels = fixtures::cut(level.rgb, level.height, level.width, 3, g.window, 77);
    const auto marks = fixtures::cut(level.label, level.height, level.width, 1, g.window, 77);
    std::vector<float> expected(3 * plane);
    std::vector<std::uint8_t> expected_labels(plane, 255);
    graph.image(*params, g, pixels.view, pixels.extent, expected.data(), scratch);
    if (images[i].labels.data != nullptr) {
      graph.labels(*params, g, marks.view, marks.extent, 255, expected_labels.data(), scratch);
    }
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + 3 * plane * i)) << i;
    EXPECT_TRUE(
        std::equal(expected_labels.begin(), expected_labels.end(), labels.begin() + plane * i))
        << i;
  }
}

TEST(ArrayBatch, ThreadsChangeNothingAndErrorsNameTheImage) {
  const Level level(120, 140, 5);
  const ArrayBatch batch(Graph::compile(kSlides, {32, 32, 0.5, {1}}));
  auto images = images_of(level);
  const auto made = [&](int threads) {
    std::vector<float> out(3 * 32 * 32 * images.size());
    ThreadPool pool(threads);
    batch.run(images, {1, 0, 0}, true, out.data(), nullptr, pool);
    return out;
  };
  const auto expected = made(1);
  for (const int threads : {2, 7}) EXPECT_EQ(made(threads), expected);
  images[2].mpp_yx = {0, 1};
  try {
    made(2);
    FAIL() << "an image without a pixel size was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()).rfind("image 2: ", 0), 0u) << error.what();
  }
  EXPECT_THROW(ArrayBatch(Graph::compile({}, {32, 32, 0.5, {1, 2}})), Error);
}

VolumeArray array_of(const fixtures::VolumeLevel& level, std::array<double, 3> centre,
                     std::size_t channels) {
  const std::int64_t row = level.shape[2], slice = row * level.shape[1];
  VolumeArray array;
  array.channels.assign(channels, {level.hu.data(), level.shape, row, slice});
  array.labels = {level.label.data(), level.shape, row, slice};
  array.centre_zyx = centre;
  array.spacing_mm_zyx = {2, 1, 1};
  return array;
}

TEST(VolumeArrayBatch, GivesWhatTheGraphsGiveOfACutWindow) {
  const auto& level = fixtures::volume_level();
  const VolumePatchSpec patch{{16, 24, 20}, {2.5, 1.7, 1}};
  std::vector<VolumeGraph> graphs;
  for (const std::uint32_t c : {0u, 1u})
    graphs.push_back(VolumeGraph::compile(kVolumes, patch, {}, {"abcd"[c] + std::string(), c, {}}));
  std::vector<VolumeArray> volumes;
  for (const double z : {35.0, 2.0, 69.5, 500.0})
    volumes.push_back(array_of(level, {z, 40, 60}, 2));
  volumes.back().labels = {};
  const std::size_t voxels = 16 * 24 * 20;
  std::vector<float> out(2 * voxels * volumes.size());
  std::vector<std::uint8_t> labels(voxels * volumes.size());
  ThreadPool pool(2);
  VolumeArrayBatch(graphs).run(volumes, {4, 1, 9}, true, out.data(), labels.data(), pool);
  VolumeScratch scratch;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    for (std::size_t c = 0; c < 2; ++c) {
      const auto params = graphs[c].draw({4, 1, 9 + i}, {}, true);
      VolumeGeometry g;
      graphs[c].locate(*params, volumes[i].centre_zyx, volumes[i].spacing_mm_zyx, g);
      const fixtures::VolumeWindow window(level, g.window);
      const bool labelled = volumes[i].labels.data != nullptr;
      std::vector<float> expected(voxels);
      std::vector<std::uint8_t> expected_labels(voxels, 255);
      graphs[c].run(*params, g, window.image, labelled ? window.labels : VolumeView<std::uint8_t>{},
                    window.extent, 255, expected.data(),
                    labelled ? expected_labels.data() : nullptr, scratch);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + voxels * (2 * i + c)))
          << i << " " << c;
      EXPECT_TRUE(
          std::equal(expected_labels.begin(), expected_labels.end(), labels.begin() + voxels * i))
          << i;
    }
  }
  volumes[1].channels.pop_back();
  EXPECT_THROW(VolumeArrayBatch(graphs).run(volumes, {}, true, out.data(), nullptr, pool), Error);
  EXPECT_THROW(VolumeArrayBatch({}), Error);
}

}  // namespace
}  // namespace headrace::transform
