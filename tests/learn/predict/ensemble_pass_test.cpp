#include "learn/predict/ensemble_pass.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "learn/inference/patch_grid.hpp"
#include "learn/inference/volume/original_grid.hpp"
#include "learn/predict/slide/pixel_scores.hpp"
#include "learn/predict/volume/finding_rules.hpp"
#include "learn/predict/volume/voxel_scores.hpp"
#include "tests/learn/model/watched_operations.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

// Parts that are blended where the networks are, as on a GPU, against those of the host.
namespace headrace::predict {
namespace {

/// All parts of some images, and the agreement of each image's runs.
struct Passed {
  std::vector<BlendedPart> parts;
  std::vector<inference::RunAgreement> agreement;
  bool averaged = false;  ///< by tensors
};

/// Runs that have not learnt anything, each with weights and batches of its own.
class Runs {
 public:
  Runs(const std::string& config, std::shared_ptr<const cohort::Cohort> cohort)
      : config_(config), cohort_(std::move(cohort)) {}

  Passed pass(const char* where, std::size_t count, const TilePass::Options& options = {}) {
    setenv("HEADRACE_BLEND", where, 1);
    std::vector<TrainedRun> runs(count);
    for (std::size_t run = 0; run < count; ++run) open(runs[run], run);
    unsetenv("HEADRACE_BLEND");
    EnsemblePass pass(runs, cohort_, images(), options);
    Passed out;
    const model::fixtures::WatchedOperations watch;
    for (const std::uint32_t image : images()) {
      while (pass.image() == image) out.parts.push_back(pass.next());
      out.agreement.push_back(pass.take_agreement(image));
    }
    EXPECT_EQ(pass.done(), pass.tiles());
    EXPECT_FALSE(pass.image());
    out.averaged = watch.count("aten::div_") > 0;
    return out;
  }
  const cohort::Cohort& cohort() const { return *cohort_; }
  std::vector<std::uint32_t> images() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < cohort_->images().size(); ++i) all.push_back(i);
    return all;
  }
  config::RunConfig config(std::size_t run = 0) const {
    return config::RunConfig::parse(config_ + "sampling: {seed: " + std::to_string(3 + run) + "}\n",
                                    "run.yaml");
  }

 private:
  void open(TrainedRun& run, std::size_t number) const {
    run.config = config(number);
    run.config.tiles.batch = 2 + static_cast<std::int64_t>(number * number);  // 2, 3, 6
    run.preprocessing = std::make_shared<const loader::Preprocessing>(
        loader::Preprocessing::fit(*cohort_, run.config));
    run.network = std::make_shared<inference::Network>(run.config, 3);
  }

  std::string config_;
  std::shared_ptr<const cohort::Cohort> cohort_;
};

void expect_same_agreement(const Passed& found, const Passed& wanted, std::size_t runs) {
  ASSERT_EQ(found.agreement.size(), wanted.agreement.size());
  std::uint64_t disputed = 0;
  for (std::size_t i = 0; i < wanted.agreement.size(); ++i) {
    EXPECT_EQ(found.agreement[i].pixels, wanted.agreement[i].pixels);
    EXPECT_EQ(found.agreement[i].disputed, wanted.agreement[i].disputed);
    EXPECT_EQ(wanted.agreement[i].pixels > 0, runs > 1);
    disputed += wanted.agreement[i].disputed;
  }
  EXPECT_EQ(disputed > 0, runs > 1) << "a test without a disputed pixel shows nothing";
  EXPECT_EQ(found.averaged, runs > 1);
  EXPECT_FALSE(wanted.averaged);
}

class VolumeEnsemble : public ::testing::Test {
 protected:
  /// Volumes of an odd extent, at a spacing of the runs' own.
  VolumeEnsemble() {
    fixtures::VolumeSpec spec;
    spec.images = 2;
    spec.shape_zyx = {19, 43, 51};
    fixtures::write_volume_store(folder_.path("ct.zarr"), spec);
    runs_.emplace("task: colorectal\ndata: {store: " + folder_.path("ct.zarr") +
                      "}\npatch: {size: [8, 16, 16], spacing_mm: [4.1, 1.1, 0.7]}\n"
                      "transforms:\n  - window_hu: {low: -160, high: 240}\n"
                      "model: {name: unet3d, widths: [8, 16]}\ntrain: {threads: 1}\n"
                      "eval: {lesion_classes: [lesion, liver], batch: 3}\n",
                  cohort::Cohort::open(folder_.path("ct.zarr")));
    lesions_ = lesion_classes(runs_->cohort().classes(), runs_->config());
  }

  /// found: on level 0; wanted: on the grid of patches, which is taken to level 0 here.
  void expect_same(const std::vector<BlendedPart>& found, const std::vector<BlendedPart>& wanted) {
    std::size_t next = 0;
    std::optional<inference::OriginalGrid> grid;
    for (const BlendedPart& part : wanted) {
      ASSERT_TRUE(part.scores.empty());
      const cohort::ImageRecord& record = runs_->cohort().images()[part.image];
      const auto compare = [&, image = part.image](std::int64_t z, std::span<const float> p) {
        VoxelScores scores;
        score_voxels(p, 3, lesions_, scores);
        ASSERT_LT(next, found.size());
        const BlendedPart& own = found[next++];
        EXPECT_EQ(own.image, image);
        EXPECT_EQ(own.at, z);
        EXPECT_TRUE(own.probabilities.empty());
        const VoxelScores theirs = voxel_scores_of_rows(own.classes, own.scores, 3);
        EXPECT_EQ(theirs.classes, scores.classes);
        EXPECT_EQ(theirs.probabilities, scores.probabilities);
        EXPECT_EQ(theirs.lesion, scores.lesion);
      };
      if (part.at == 0) {
        grid.emplace(3, inference::extent_zyx(record, runs_->config()),
                     record.volume->levels.front().shape_zyx,
                     inference::step_zyx(record, runs_->config()), compare);
      }
      grid->add(part.probabilities);
    }
    EXPECT_EQ(next, found.size());
    EXPECT_EQ(next, 2u * 19u);
  }

  fixtures::TemporaryFolder folder_;
  std::optional<Runs> runs_;
  std::vector<std::uint8_t> lesions_;
};

TEST_F(VolumeEnsemble, WithTheNetworksComesWhatTheHostMakesOfProbabilities) {
  ASSERT_EQ(lesions_, (std::vector<std::uint8_t>{1, 2}));
  for (const std::size_t count : {1u, 2u, 3u}) {
    SCOPED_TRACE(count);
    const Passed found = runs_->pass("model", count), wanted = runs_->pass("host", count);
    expect_same(found.parts, wanted.parts);
    expect_same_agreement(found, wanted, count);
  }
}

TEST(SlideEnsemble, WithTheNetworksComesWhatTheHostMakesOfProbabilities) {
  fixtures::TemporaryFolder folder;
  fixtures::StoreSpec spec;
  spec.height = 230;
  spec.width = 170;
  spec.levels = 1;
  fixtures::write_store(folder.path("s.zarr"), spec);
  Runs runs("task: segmentation\ndata: {store: " + folder.path("s.zarr") +
                "}\npatch: {size: [64, 64]}\nmodel: {name: unet2d, widths: [8, 16]}\n"
                "train: {threads: 1}\neval: {overlap: 0.25, batch: 8}\n",
            cohort::Cohort::open(folder.path("s.zarr")));
  for (const std::size_t count : {1u, 2u, 3u}) {
    for (const std::int64_t batch : {0, 1, 7}) {
      SCOPED_TRACE(::testing::Message() << count << " runs, batches of " << batch);
      TilePass::Options options;
      options.batch = batch;
      const Passed found = runs.pass("model", count, options),
                   wanted = runs.pass("host", count, options);
      ASSERT_EQ(found.parts.size(), wanted.parts.size());
      PixelScores scores(3);
      for (std::size_t i = 0; i < wanted.parts.size(); ++i) {
        const BlendedPart &own = found.parts[i], &part = wanted.parts[i];
        ASSERT_EQ(own.image, part.image);
        ASSERT_EQ(own.at, part.at);
        ASSERT_EQ(own.classes, part.classes);
        ASSERT_TRUE(own.probabilities.empty());
        std::vector<std::uint8_t> rows(part.classes.size() * 4);
        scores.of(part.probabilities, rows);
        ASSERT_EQ(own.scores, rows);
      }
      expect_same_agreement(found, wanted, count);
    }
  }
}

}  // namespace
}  // namespace headrace::predict
