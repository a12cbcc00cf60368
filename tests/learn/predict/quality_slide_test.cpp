// What is said of real slides, and of the same slides made worse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/pixels/stain/stain_angles.hpp"
#include "headrace/transform/slide/operations/slide_stain_normalize.hpp"
#include "learn/predict/quality/slide_measures.hpp"
#include "learn/predict/quality/slide_quality.hpp"
#include "learn/predict/quality/stain_fit.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::predict {
namespace {

using imaging::sample;
using imaging::TempFolder;
using pixels::kSharpnessLimit;
using pixels::kStainLimitDegrees;

/// One pass of a Gaussian along rows (or columns), cut at four sigmas; the edge's pixel goes on.
pixels::Image8 smoothed(const pixels::Image8& rgb, double sigma_px, bool columns) {
  const auto radius = static_cast<std::int64_t>(std::ceil(4 * sigma_px));
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = -radius; i <= radius; ++i) {
    const double u = static_cast<double>(i) / sigma_px;
    sum += weights.emplace_back(std::exp(-u * u / 2));
  }
  pixels::Image8 out(rgb.height, rgb.width, 3);
  const std::int64_t end = (columns ? rgb.height : rgb.width) - 1;
  for (std::int64_t y = 0; y < rgb.height; ++y) {
    for (std::int64_t x = 0; x < rgb.width; ++x) {
      for (std::int64_t c = 0; c < 3; ++c) {
        double value = 0;
        for (std::int64_t i = -radius; i <= radius; ++i) {
          const std::int64_t at = std::clamp((columns ? y : x) + i, std::int64_t{0}, end);
          value += weights[static_cast<std::size_t>(i + radius)] *
                   (columns ? rgb.row(at)[3 * x + c] : rgb.row(y)[3 * at + c]);
        }
        out.row(y)[3 * x + c] = static_cast<std::uint8_t>(value / sum + 0.5);
      }
    }
  }
  return out;
}

pixels::Image8 blurred(const pixels::Image8& rgb, double sigma_px) {
  return smoothed(smoothed(rgb, sigma_px, false), sigma_px, true);
}

/// A part of CMU-1-Small-Region with tissue and glass, 0.499 µm a pixel.
pixels::Image8 crop() {
  pixels::Image8 rgb(1024, 1024, 3);
  imaging::SlideReader::open(sample("slides/CMU-1-Small-Region.svs"))
      ->read(0, 700, 600, rgb.height, rgb.width, rgb.pixels.data(), 3 * rgb.width);
  return rgb;
}

/// Store of real slides, and of parts of one that were made worse; 0.5 µm a pixel.
class SlideQuality : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempFolder>();
    const pixels::Image8 sharp = crop();
    pixels::Image8 half = blurred(sharp, 4), pen = sharp;
    imaging::write_png(*folder_ / "sharp.png", sharp);
    imaging::write_png(*folder_ / "blurred.png", half);
    for (std::int64_t y = 0; y < 512; ++y) {  // the upper half is sharp
      std::copy_n(sharp.row(y), 3 * sharp.width, half.row(y));
      if (y >= 100) continue;
      for (std::int64_t x = 0; x < pen.width; ++x) {
        const std::array<std::uint8_t, 3> ink{40, 60, 170};
        std::copy(ink.begin(), ink.end(), pen.row(y) + 3 * x);
      }
    }
    imaging::write_png(*folder_ / "half.png", half);
    imaging::write_png(*folder_ / "pen.png", pen);
    ingest::SlideIngestOptions options;
    for (const char* name : {"sharp", "blurred", "half", "pen"})
      options.inputs.push_back(*folder_ / (std::string(name) + ".png"));
    for (const char* name : {"slides/CMU-1-Small-Region.svs", "tissue/no-tissue.png",
                             "nuclei/images/dsb_33a5b0ff232b.png"})
      options.inputs.push_back(sample(name));
    options.out = *folder_ / "s.zarr";
    options.mpp = 0.5;
    ingest::ingest_slides(options);
    cohort_ = cohort::Cohort::open(options.out);
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }

  static config::RunConfig run(const std::string& patch = "{size: [64, 64], mpp: 0.5}") {
    return config::RunConfig::parse("task: segmentation\ndata: {store: s.zarr}\npatch: " + patch,
                                    "run.yaml");
  }
  static std::map<QualityCode, Remark> remarks(const std::string& id,
                                               const loader::Preprocessing& preprocessing = {},
                                               const config::RunConfig& config = run()) {
    std::map<QualityCode, Remark> found;
    for (const Remark& remark :
         slide_quality(*cohort_, cohort_->find_image(id), preprocessing, config))
      found[remark.code] = remark;
    return found;
  }

  static inline std::unique_ptr<TempFolder> folder_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

TEST_F(SlideQuality, NothingIsSaidOfSharpSlides) {
  loader::Preprocessing preprocessing;
  const ImageColour reference = transform::builtin_reference();
  preprocessing.stain_reference = {"builtin", reference.stain_od_rgb_he,
                                   reference.max_concentration};
  for (const char* id : {"CMU-1-Small-Region", "sharp", "dsb_33a5b0ff232b"}) {
    for (const auto& [code, remark] : remarks(id, preprocessing))
      ADD_FAILURE() << id << ": " << text_of(remark);
  }
}

TEST_F(SlideQuality, ABlurOfTwoMicrometresIsRemarked) {
  const auto found = remarks("blurred");
  ASSERT_EQ(found.size(), 1u);
  const Remark& remark = found.at(QualityCode::blurred);
  EXPECT_EQ(remark.severity, Severity::warning);
  EXPECT_GT(remark.values[0], 10);
  EXPECT_LT(remark.values[0], 45);
  EXPECT_EQ(remark.values[1], kSharpnessLimit);
  EXPECT_EQ(remark.values[2], 1);
  EXPECT_NEAR(remark.values[4], 1, 1e-9);
}

TEST_F(SlideQuality, IngestNotesWhatIsRemarkedByTheSameNumbers) {
  const auto notes_of = [](const std::string& id) {
    const Json group = Json::parse(cohort_->store()->get_text("images/" + id + "/zarr.json"));
    return group.at("attributes").at("headrace").value("notes", Json::array());
  };
  const Json blurred = notes_of("blurred");
  ASSERT_EQ(blurred.size(), 1u);
  EXPECT_EQ(blurred[0].at("code"), "slide-blurred");
  EXPECT_EQ(blurred[0].at("values"), Json(remarks("blurred").at(QualityCode::blurred).values));
  EXPECT_EQ(notes_of("no-tissue").at(0).at("code"), "no-tissue");
  for (const char* id : {"CMU-1-Small-Region", "sharp", "half", "pen", "dsb_33a5b0ff232b"})
    EXPECT_EQ(notes_of(id), Json::array()) << id;
}

TEST_F(SlideQuality, ABlurOfOnePartIsANote) {
  const auto found = remarks("half");
  ASSERT_EQ(found.size(), 1u);
  const Remark& remark = found.at(QualityCode::partly_blurred);
  EXPECT_EQ(remark.severity, Severity::note);
  EXPECT_NEAR(remark.values[2], 0.4, 0.15);
}

TEST_F(SlideQuality, SharpnessOfTheSamplesLiesOnEitherSideOfTheLimit) {
  const auto median = [](const std::string& id) {
    const std::size_t image = cohort_->find_image(id);
    return sharpness_of(*cohort_, image, read_tissue(*cohort_, image)).median();
  };
  EXPECT_GT(median("CMU-1-Small-Region"), 40 * kSharpnessLimit);
  EXPECT_GT(median("dsb_33a5b0ff232b"), kSharpnessLimit) << "the softest of samples/nuclei";
  EXPECT_LT(median("blurred"), kSharpnessLimit);
}

TEST_F(SlideQuality, PenMarksAreRemarked) {
  const auto found = remarks("pen");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found.at(QualityCode::pen_marks).values[0], 100.0 / 1024, 0.01);
  EXPECT_LT(found.at(QualityCode::pen_marks).values[1], 0.001);
}

TEST_F(SlideQuality, NoTissueIsAWarning) {
  const auto found = remarks("no-tissue");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at(QualityCode::no_tissue).severity, Severity::warning);
}

TEST_F(SlideQuality, TissueOfLessThanAPatchAndCoarsePixelsAreHeldAgainstTheRun) {
  // 2,000 px of 0.25 µm are 1,000 px of the slide, which has 1,024.
  const auto fine = remarks("sharp", {}, run("{size: [2000, 2000], mpp: 0.25}"));
  EXPECT_EQ(fine.at(QualityCode::coarse_pixels).values, (std::vector<double>{0.5, 0.25, 2}));
  const double part = fine.at(QualityCode::little_tissue).values[0];
  EXPECT_GT(part, 0.3);
  EXPECT_LT(part, 1);
  EXPECT_EQ(remarks("sharp", {}, run("{size: [2000, 2000], mpp: null}")).size(), 1u)
      << "no µm, so only its tissue is held against the patch";
}

TEST_F(SlideQuality, StainsAndColoursAreHeldAgainstTheRunsOwn) {
  const cohort::ImageRecord& record = cohort_->images()[cohort_->find_image("sharp")];
  loader::Preprocessing preprocessing;
  preprocessing.stain_reference = {"blue", {0.99, 0.77, 0.09, 0.13, 0.09, 0.63}, {1, 1}};
  const auto stain = remarks("sharp", preprocessing);
  ASSERT_EQ(stain.size(), 1u);
  EXPECT_GT(stain.at(QualityCode::stain_differs).values[1], kStainLimitDegrees);

  preprocessing.stain_reference.reset();
  preprocessing.od = {100, {0.25, 0.45, 0.25}, {0.15, 0.25, 0.12}};
  preprocessing.scanners["another"] = preprocessing.od;
  const auto scanner = remarks("sharp", preprocessing);
  ASSERT_EQ(scanner.size(), 1u);
  EXPECT_EQ(scanner.at(QualityCode::unknown_scanner).values, std::vector<double>{1});

  // The scanner's own statistics decide, where the run has them.
  preprocessing.scanners[record.scanner] = {100, {2.2, 2.3, 1.2}, {0.15, 0.12, 0.5}};
  const auto colour = remarks("sharp", preprocessing);
  ASSERT_EQ(colour.size(), 1u);
  EXPECT_GT(colour.at(QualityCode::colour_differs).values[0], kColourLimit);
}

TEST_F(SlideQuality, AVolumeIsRefused) {
  const std::string store = *folder_ / "v.zarr";
  fixtures::write_volume_store(store, {});
  const auto volumes = cohort::Cohort::open(store);
  EXPECT_NE(error_of(ErrorCode::usage, [&] { slide_quality(*volumes, 0, {}, run()); })
                .find("not a slide"),
            std::string::npos);
}

}  // namespace
}  // namespace headrace::predict
