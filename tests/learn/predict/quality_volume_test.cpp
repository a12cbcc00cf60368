// What is said of volumes: of a store with known voxels, and of real CT.
#include "learn/predict/quality/volume_quality.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/nifti_writer.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::predict {
namespace {

using imaging::sample;
using imaging::TempFolder;

config::RunConfig run(const std::string& patch) {
  return config::RunConfig::parse("task: segmentation\ndata: {store: v.zarr}\npatch: " + patch,
                                  "run.yaml");
}

std::map<QualityCode, Remark> remarks(const cohort::Cohort& cohort, std::size_t image,
                                      const config::RunConfig& config,
                                      const loader::Preprocessing& preprocessing = {}) {
  std::map<QualityCode, Remark> found;
  for (const Remark& remark : volume_quality(cohort, image, preprocessing, config))
    found[remark.code] = remark;
  return found;
}

/// 50×130×141 voxels of 2.5×0.8×0.8 mm: 125×104×112.8 mm.
class VolumeQuality : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempFolder>();
    fixtures::write_volume_store(*folder_ / "v.zarr", {});
    cohort_ = cohort::Cohort::open(*folder_ / "v.zarr");
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  static inline std::unique_ptr<TempFolder> folder_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

TEST_F(VolumeQuality, NothingIsSaidOfAVolumeThatFits) {
  loader::Preprocessing preprocessing;
  preprocessing.foreground = {1000, 20, 40, -50, 100};
  EXPECT_TRUE(
      remarks(*cohort_, 0, run("{size: [16, 32, 32], spacing_mm: [2.5, 1.6, 1.6]}"), preprocessing)
          .empty());
  EXPECT_TRUE(remarks(*cohort_, 0, run("{size: [16, 32, 32], spacing_mm: null}")).empty());
}

TEST_F(VolumeQuality, AShortVolumeIsANoteAndAVeryShortOneAWarning) {
  const auto note = remarks(*cohort_, 0, run("{size: [48, 16, 16], spacing_mm: [3, 2, 2]}"));
  ASSERT_EQ(note.size(), 1u);
  EXPECT_EQ(
      note.at(QualityCode::smaller_than_patch),
      (Remark{QualityCode::smaller_than_patch, Severity::note, {125, 104, 112.8, 144, 32, 32, 1}}));
  const auto warning = remarks(*cohort_, 0, run("{size: [96, 16, 16], spacing_mm: [3, 2, 2]}"));
  EXPECT_EQ(warning.at(QualityCode::smaller_than_patch).severity, Severity::warning);
  const auto voxels = remarks(*cohort_, 0, run("{size: [64, 16, 16], spacing_mm: null}"));
  EXPECT_EQ(voxels.at(QualityCode::smaller_than_patch).values,
            (std::vector<double>{50, 130, 141, 64, 16, 16, 0}));
}

TEST_F(VolumeQuality, LessBodyThanAPatchIsANote) {
  const auto found = remarks(*cohort_, 0, run("{size: [48, 96, 96], spacing_mm: [2.5, 1, 1]}"));
  const auto& body = cohort_->images()[0].volume->body;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found.at(QualityCode::little_body).values[0],
              static_cast<double>(body.voxels) * 2.5 * 0.8 * 0.8 / 1e6, 1e-6);
  EXPECT_NEAR(found.at(QualityCode::little_body).values[1], 120 * 96 * 96 / 1e6, 1e-6);
}

TEST_F(VolumeQuality, CoarseSpacingIsHeldAgainstTheRuns) {
  const auto found =
      remarks(*cohort_, 0, run("{size: [16, 32, 32], spacing_mm: [1.25, 1.6, 1.6]}"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at(QualityCode::coarse_spacing).values,
            (std::vector<double>{2.5, 0.8, 0.8, 1.25, 1.6, 1.6, 2}));
}

TEST_F(VolumeQuality, IntensitiesThatTheTrainingDidNotLabelAreAWarning) {
  loader::Preprocessing preprocessing;
  preprocessing.foreground = {1000, 600, 100, 400, 900};  // bone, of which the volume has none
  const auto found =
      remarks(*cohort_, 0, run("{size: [16, 32, 32], spacing_mm: [2.5, 1.6, 1.6]}"), preprocessing);
  ASSERT_EQ(found.size(), 1u);
  const auto& values = found.at(QualityCode::intensity_differs).values;
  const double mean = cohort_->images()[0].volume->body.mean;
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[2], 400);
  EXPECT_EQ(values[3], 900);
  EXPECT_NEAR(values[4], (mean - 600) / 100, 1e-6);
}

TEST_F(VolumeQuality, AirAloneHasNoBody) {
  fixtures::VolumeSpec spec;
  spec.images = 1;
  spec.air_alone = true;
  spec.labels = false;
  fixtures::write_volume_store(*folder_ / "air.zarr", spec);
  const auto cohort = cohort::Cohort::open(*folder_ / "air.zarr");
  const auto found = remarks(*cohort, 0, run("{size: [16, 32, 32], spacing_mm: [2.5, 1.6, 1.6]}"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at(QualityCode::no_body).severity, Severity::warning);
}

TEST(VolumeQualityOfFiles, RealCtFitsAndValuesAsOfMrDoNot) {
  const TempFolder folder;
  ThreadPool pool(1);
  // Values from 0 to 299, as an MR in a NIfTI file, which states no modality.
  const auto grid =
      imaging::VolumeGrid::of({40, 40, 40}, {3, 3, 3}, {0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  imaging::write_nifti_gz(folder / "mr.nii.gz", grid, DType::int16, pool,
                          [](std::int64_t z, std::byte* dst) {
                            for (std::int64_t i = 0; i < 1600; ++i) {
                              const auto value = static_cast<std::int16_t>((7 * i + 13 * z) % 300);
                              std::memcpy(dst + 2 * i, &value, 2);
                            }
                          });
  ingest::VolumeIngestOptions options;
  options.inputs = {sample("ct/totalseg-abdomen/ct.nii.gz"), folder / "mr.nii.gz"};
  options.out = folder / "v.zarr";
  ingest::ingest_volumes(options);
  const auto cohort = cohort::Cohort::open(options.out);
  const auto config = run("{size: [16, 32, 32], spacing_mm: [3, 3, 3]}");
  loader::Preprocessing preprocessing;
  preprocessing.foreground = {1000, 100, 30, 20, 180};
  for (const auto& [code, remark] :
       remarks(*cohort, cohort->find_image("ct"), config, preprocessing))
    ADD_FAILURE() << text_of(remark);
  const auto mr = remarks(*cohort, cohort->find_image("mr"), config, preprocessing);
  ASSERT_EQ(mr.size(), 1u);
  EXPECT_EQ(mr.at(QualityCode::unit_implausible).severity, Severity::warning);
  EXPECT_GE(mr.at(QualityCode::unit_implausible).values[2], 0);
}

TEST(VolumeQualityOfFiles, ASlideIsRefused) {
  const TempFolder folder;
  fixtures::write_store(folder / "s.zarr", {});
  const auto cohort = cohort::Cohort::open(folder / "s.zarr");
  const auto config = run("{size: [16, 32, 32], spacing_mm: [3, 3, 3]}");
  EXPECT_NE(error_of(ErrorCode::usage, [&] { volume_quality(*cohort, 0, {}, config); })
                .find("not a volume"),
            std::string::npos);
}

}  // namespace
}  // namespace headrace::predict
