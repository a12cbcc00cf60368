#include "learn/predict/volume/voxel_scores.hpp"

#include "tests/learn/model/watched_operations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "learn/inference/tensor_math.hpp"
#include "learn/measure/base/score.hpp"
#include "learn/predict/volume/tensor_voxels.hpp"
#include "tests/learn/inference/tiles_there.hpp"
#include "tests/learn/model/operations_on_meta.hpp"

namespace headrace::predict {
namespace {

constexpr std::size_t kSlices = 3, kPixels = 4099;

/// (slices, classes, pixels): random ones, equal ones, and edges of the roundings to 255 and to 65535
/// steps with their neighbours.
std::vector<float> values_of(std::size_t classes, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-0.05f, 1.05f);
  std::vector<float> out(kSlices * classes * kPixels);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float steps = i % 2 == 0 ? 255.0f : 65535.0f;
    const float edge =
        (static_cast<float>(random() % static_cast<std::uint32_t>(steps)) + 0.5f) / steps;
    switch (random() % 8) {
      case 0:
        out[i] = edge;
        break;
      case 1:
        out[i] = std::nextafter(edge, 0.0f);
        break;
      case 2:
        out[i] = std::nextafter(edge, 2.0f);
        break;
      case 3:
        out[i] = 0.5f;
        break;
      case 4:
        out[i] = random() % 2 == 0 ? 0.0f : 1.0f;
        break;
      default:
        out[i] = real(random);
    }
  }
  out.back() = std::numeric_limits<float>::quiet_NaN();
  return out;
}

at::Tensor tensor_of(const std::vector<float>& values, std::size_t classes) {
  return fixtures::tensor_there<float>(values).view({static_cast<std::int64_t>(kSlices),
                                                     static_cast<std::int64_t>(classes),
                                                     static_cast<std::int64_t>(kPixels)});
}

TEST(VoxelScores, ByHand) {
  const std::vector<float> p{0.5f, 0.25f, 0.1f,   //
                             0.5f, 0.25f, 0.3f,   //
                             0.0f, 0.5f,  0.6f};  // voxels are columns
  VoxelScores found;
  score_voxels(p, 3, std::vector<std::uint8_t>{1, 2}, found);
  EXPECT_EQ(found.classes, (std::vector<std::uint8_t>{0, 2, 2}));
  EXPECT_EQ(found.probabilities,
            (std::vector<std::uint8_t>{128, 64, 26, 128, 64, 77, 0, 128, 153}));
  EXPECT_EQ(found.lesion,
            (std::vector<std::uint16_t>{32768, 49151, measure::score_of(0.3f + 0.6f)}));
  score_voxels(p, 3, {}, found);
  EXPECT_TRUE(found.lesion.empty());
}

TEST(VoxelScores, OfTensorsAreThoseOfTheHost) {
  struct Case {
    std::size_t classes;
    std::vector<std::uint8_t> lesion_classes;
  };
  for (const Case& c :
       {Case{1, {}}, Case{2, {1}}, Case{3, {1, 2}}, Case{4, {}}, Case{9, {2, 5, 8}}}) {
    SCOPED_TRACE(c.classes);
    const auto values = values_of(c.classes, static_cast<std::uint32_t>(c.classes));
    const at::Tensor tensor = tensor_of(values, c.classes);
    const at::Tensor rows = tensor_voxels(tensor, c.lesion_classes).contiguous().to(at::kCPU),
                     classes = inference::classes_of(tensor).contiguous().to(at::kCPU);
    const auto size = static_cast<std::size_t>(rows.numel()) / kSlices;
    for (std::size_t z = 0; z < kSlices; ++z) {
      VoxelScores wanted;
      score_voxels({values.data() + z * c.classes * kPixels, c.classes * kPixels}, c.classes,
                   c.lesion_classes, wanted);
      const std::uint8_t *own = rows.const_data_ptr<std::uint8_t>() + z * size,
                         *predicted = classes.const_data_ptr<std::uint8_t>() + z * kPixels;
      const VoxelScores found =
          voxel_scores_of_rows({predicted, predicted + kPixels}, {own, own + size}, c.classes);
      EXPECT_EQ(found.classes, wanted.classes);
      EXPECT_EQ(found.probabilities, wanted.probabilities);
      EXPECT_EQ(found.lesion, wanted.lesion);
      EXPECT_EQ(wanted.lesion.empty(), c.lesion_classes.empty());
    }
  }
}

TEST(VoxelScores, OfTensorsGiveTheHostNoNumber) {
  const at::Tensor tensor = tensor_of(values_of(3, 1), 3);
  const std::vector<std::uint8_t> lesions{2};
  const model::fixtures::WatchedOperations watch;
  tensor_voxels(tensor, lesions);
  EXPECT_EQ(watch.host_reads(), 0);
  EXPECT_GT(watch.count("aten::mul"), 1) << "the watch sees nothing";
}

/// On a device without memory, of which a copy to the host would be an error.
TEST(VoxelScores, OfTensorsCopyNothing) {
  const model::fixtures::OperationsOnMeta operations;
  const model::fixtures::WatchedOperations watch;
  const std::vector<std::uint8_t> lesions{1, 2};
  const at::Tensor tensor = model::fixtures::on_meta({2, 3, 50});
  EXPECT_EQ(tensor_voxels(tensor, lesions).sizes(), (std::vector<std::int64_t>{2, 5, 50}));
  EXPECT_TRUE(inference::classes_of(tensor).is_meta());
  EXPECT_EQ(watch.copies_from_host() + watch.waits_for_copies() + watch.host_reads(), 0);
}

}  // namespace
}  // namespace headrace::predict
