// DICOM objects of a real series, read back by Headrace's own readers. Other readers:
// dicom_objects_test.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "learn/handover/dicom/measurement_report.hpp"
#include "learn/handover/dicom/segmentation.hpp"
#include "learn/handover/dicom/structure_set.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::handover {
namespace {

using imaging::file_text;
using imaging::TempFolder;

const imaging::Pseudonymizer kKey("a key for tests only");

class DicomObjects : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto scan = imaging::scan_dicom({imaging::sample(GetParam())}, kKey, 1);
    ASSERT_EQ(scan.series.size(), 1u);
    prediction_.file_grid = imaging::open_dicom_series(scan.series[0])->info().grid;
    for (const auto& slice : scan.series[0].slices) {
      prediction_.source_files.push_back(slice.path);
    }
    draw();
    prediction_.classes = classes_;
    prediction_.segments = {
        {1, "liver", {200, 40, 40}, segment_codes("liver"), {}},
        {2, "lesion", {255, 255, 0}, segment_codes("lesion"), {}},
        {4, "spleen", {0, 0, 255}, segment_codes("spleen"), {}},
    };
    prediction_.algorithm = {"0.1.0", std::string(64, 'a')};
    prediction_.predicted_at = std::chrono::sys_seconds(std::chrono::seconds(1700000000));
  }

  /// A box with holes and single voxels, values without a segment, and empty slices at the ends.
  void draw() {
    const auto [depth, height, width] = prediction_.file_grid.shape_zyx;
    classes_.assign(static_cast<std::size_t>(prediction_.file_grid.voxels()), 0);
    expected_.assign(classes_.size(), 0);
    std::mt19937 random(11);
    std::size_t i = 0;
    for (std::int64_t z = 0; z < depth; ++z) {
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x, ++i) {
          const bool end = depth > 2 && (z == 0 || z == depth - 1);
          const bool inside =
              y >= height / 3 && y < height / 3 + 30 && x >= width / 4 && x < width / 4 + 25;
          if (end || !inside) continue;
          classes_[i] = std::array<std::uint8_t, 8>{1, 1, 1, 1, 2, 0, 255, 3}[random() % 8];
          expected_[i] = classes_[i] <= 2 ? classes_[i] : 0;
        }
      }
    }
  }

  std::vector<std::uint8_t> classes_;
  std::vector<std::uint16_t> expected_;  ///< as readers number the segments
  CtPrediction prediction_;
  TempFolder folder_;
};

TEST_P(DicomObjects, SegmentationsReadBackTheSame) {
  for (const auto kind : {SegmentationKind::binary, SegmentationKind::labelmap}) {
    const std::string path = folder_ / "seg.dcm";
    write_segmentation(prediction_, kind, path);
    const auto labels = imaging::read_dicom_segmentation(path, prediction_.file_grid);
    EXPECT_EQ(labels.names, (std::vector<std::string>{"background", "liver", "lesion", "spleen"}));
    EXPECT_EQ(labels.volume.voxels, expected_) << name_of(kind);
    EXPECT_TRUE(labels.volume.notes.empty());
  }
}

TEST_P(DicomObjects, ProbabilitiesReadBackAsTheirMajority) {
  std::vector<std::uint8_t> probability(classes_.size());
  for (std::size_t i = 0; i < classes_.size(); ++i) probability[i] = classes_[i] == 1 ? 200 : 90;
  prediction_.segments.resize(1);
  prediction_.segments[0].probability = probability;
  write_segmentation(prediction_, SegmentationKind::fractional, folder_ / "seg.dcm");
  const auto labels = imaging::read_dicom_segmentation(folder_ / "seg.dcm", prediction_.file_grid);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    ASSERT_EQ(labels.volume.voxels[i], classes_[i] == 1) << i;
  }
}

TEST_P(DicomObjects, StructuresReadBackTheSame) {
  write_structure_set(prediction_, folder_ / "rs.dcm");
  const auto labels = imaging::read_structure_set(folder_ / "rs.dcm", prediction_.file_grid);
  EXPECT_EQ(labels.names, (std::vector<std::string>{"background", "liver", "lesion", "spleen"}));
  EXPECT_EQ(labels.volume.voxels, expected_);
  // Structures with gaps, and the spleen, of which nothing is drawn.
  const imaging::Note no_spleen{imaging::NoteCode::structure_empty, {3}};
  EXPECT_EQ(std::ranges::count(labels.volume.notes, no_spleen), 1);
  for (const imaging::Note& note : labels.volume.notes)
    EXPECT_TRUE(note == no_spleen || note.code == imaging::NoteCode::contours_missing)
        << text_of(note);
}

TEST_P(DicomObjects, NothingFoundIsAnObjectToo) {
  std::fill(classes_.begin(), classes_.end(), std::uint8_t{0});
  std::fill(expected_.begin(), expected_.end(), std::uint16_t{0});
  const auto segmentation =
      write_segmentation(prediction_, SegmentationKind::binary, folder_ / "seg.dcm");
  write_structure_set(prediction_, folder_ / "rs.dcm");
  write_measurement_report(prediction_, {}, segmentation, folder_ / "sr.dcm");
  const auto& grid = prediction_.file_grid;
  EXPECT_EQ(imaging::read_dicom_segmentation(folder_ / "seg.dcm", grid).volume.voxels, expected_);
  EXPECT_EQ(imaging::read_structure_set(folder_ / "rs.dcm", grid).volume.voxels, expected_);
}

TEST_P(DicomObjects, AReportWithoutLesionsNeedsNoSegmentation) {
  prediction_.segments.clear();
  write_measurement_report(prediction_, {}, {}, folder_ / "sr.dcm");
  EXPECT_EQ(folder_.files(), 1u);
  const Lesion lesion{"Lesion 1", 1, 1.5, 12, 8, 0.9, segment_codes("lesion").type, {}};
  error_of(ErrorCode::usage, [&] {
    write_measurement_report(prediction_, {{&lesion, 1}}, {}, folder_ / "other.dcm");
  });
}

TEST_P(DicomObjects, SameInputSameBytesInAnyOrderOfFiles) {
  const Lesion lesion{"Lesion 1", 2, 1.5, 12, 8, 0.9, segment_codes("lesion").type, {}};
  const auto write = [&](const std::string& name) {
    const auto object =
        write_segmentation(prediction_, SegmentationKind::binary, folder_ / (name + ".seg"));
    write_structure_set(prediction_, folder_ / (name + ".rs"));
    write_measurement_report(prediction_, {{&lesion, 1}}, object, folder_ / (name + ".sr"));
    return object;
  };
  const auto first = write("a");
  std::reverse(prediction_.source_files.begin(), prediction_.source_files.end());
  const auto second = write("b");
  for (const char* kind : {".seg", ".rs", ".sr"}) {
    EXPECT_EQ(file_text(folder_ / ("a" + std::string(kind))),
              file_text(folder_ / ("b" + std::string(kind))));
  }
  EXPECT_EQ(folder_.files(), 6u);  // and nothing beside them
  EXPECT_EQ(first.sop_instance_uid, second.sop_instance_uid);
  classes_[0] = 1;
  const auto changed = write("c");
  EXPECT_NE(changed.series_uid, first.series_uid);
  EXPECT_NE(changed.sop_instance_uid, first.sop_instance_uid);
  prediction_.algorithm.weights_sha256 = std::string(64, 'b');
  EXPECT_NE(write("d").series_uid, first.series_uid);
}

TEST_P(DicomObjects, RefusesWhatDoesNotFit) {
  const auto refused = [&](ErrorCode code, const CtPrediction& prediction) {
    const std::string text = error_of(code, [&] {
      write_segmentation(prediction, SegmentationKind::binary, folder_ / "seg.dcm");
    });
    EXPECT_EQ(folder_.files(), 0u);
    return text;
  };
  CtPrediction other = prediction_;
  other.source_files.pop_back();
  EXPECT_NE(refused(ErrorCode::malformed, other).find("has no file in the series"),
            std::string::npos);
  other = prediction_;
  other.source_files.push_back(other.source_files.front());
  EXPECT_NE(refused(ErrorCode::malformed, other).find("a second file"), std::string::npos);
  other = prediction_;
  other.file_grid.affine_lps[3] += 5;
  EXPECT_NE(refused(ErrorCode::malformed, other).find("does not lie on a slice"),
            std::string::npos);
  other = prediction_;
  other.segments[1].value = 1;
  EXPECT_NE(refused(ErrorCode::usage, other).find("class 'lesion' of value 1"), std::string::npos);
  other = prediction_;
  other.classes = other.classes.subspan(1);
  EXPECT_NE(refused(ErrorCode::usage, other).find("as its grid"), std::string::npos);
}

TEST_P(DicomObjects, FractionalNeedsProbabilities) {
  error_of(ErrorCode::usage, [&] {
    write_segmentation(prediction_, SegmentationKind::fractional, folder_ / "seg.dcm");
  });
}

TEST_P(DicomObjects, AFolderThatIsNotThereIsAnErrorOfIo) {
  error_of(ErrorCode::io, [&] {
    write_segmentation(prediction_, SegmentationKind::binary, folder_ / "missing/seg.dcm");
  });
}

INSTANTIATE_TEST_SUITE_P(Series, DicomObjects,
                         ::testing::Values("ct/sts-008/image", "ct/organs/trunk",
                                           "ct/liver-3slice"));

TEST(DicomSource, WithoutIdentifiersIsRefused) {
  const auto scan = imaging::scan_dicom({imaging::sample("ct/totalseg-dicom")}, kKey, 1);
  CtPrediction prediction;
  prediction.file_grid = imaging::open_dicom_series(scan.series.at(0))->info().grid;
  for (const auto& slice : scan.series[0].slices) prediction.source_files.push_back(slice.path);
  const std::vector<std::uint8_t> classes(static_cast<std::size_t>(prediction.file_grid.voxels()));
  prediction.classes = classes;
  prediction.segments = {{1, "liver", {}, segment_codes("liver"), {}}};
  const TempFolder folder;
  const std::string text =
      error_of(ErrorCode::malformed, [&] { write_structure_set(prediction, folder / "rs.dcm"); });
  EXPECT_NE(text.find("StudyInstanceUID is missing"), std::string::npos) << text;
}

}  // namespace
}  // namespace headrace::handover
