// Geometry and pure parts of the volume readers; real files are compared with other readers in
// tests/conformance.
#include <gtest/gtest.h>

#include <cmath>

#include "headrace/imaging/dicom/contrast_phase.hpp"
#include "headrace/imaging/dicom/pseudonym.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"
#include "headrace/imaging/volume/label_volume.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::imaging {
namespace {

const std::string kCt = std::string(HR_SOURCE_DIR) + "/samples/ct/";

VolumeGrid oblique() {
  const double c = std::cos(0.3), s = std::sin(0.3);
  return VolumeGrid::of({7, 6, 5}, {0.8, 0.9, 3}, {-10, 20, 30}, {c, -s, 0, s, c, 0, 0, 0, 1});
}

TEST(VolumeGrid, IndexAndPointAreInverse) {
  const VolumeGrid grid = oblique();
  const Vec3 index = grid.to_index(grid.to_lps_mm(1.5, -2, 4));
  EXPECT_NEAR(index[0], 1.5, 1e-12);
  EXPECT_NEAR(index[1], -2, 1e-12);
  EXPECT_NEAR(index[2], 4, 1e-12);
}

TEST(VolumeGrid, ReversedAndSwappedAxesMatchTheSameVoxels) {
  const VolumeGrid grid = oblique();
  const auto d = grid.direction_lps();
  // Columns (z, -x, y) of the same world, starting at the far end of x.
  const VolumeGrid other =
      VolumeGrid::of({6, 5, 7}, {3, 0.8, 0.9}, grid.to_lps_mm(4, 0, 0),
                     {d[2], -d[0], d[1], d[5], -d[3], d[4], d[8], -d[6], d[7]});
  const auto map = match_grids(other, grid);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->axis, (std::array<int, 3>{1, 2, 0}));
  EXPECT_EQ(map->flip, (std::array<bool, 3>{true, false, false}));
  EXPECT_TRUE(match_grids(grid, grid)->identity());
}

TEST(VolumeGrid, AHalfVoxelOffIsAnotherGrid) {
  VolumeGrid moved = oblique();
  moved.affine_lps[3] += 0.03;  // under 5 % of 0.8 mm
  EXPECT_TRUE(match_grids(moved, oblique()));
  moved.affine_lps[3] += 0.4;
  EXPECT_FALSE(match_grids(moved, oblique()));
  VolumeGrid longer = oblique();
  longer.shape_zyx[0] = 8;
  EXPECT_FALSE(match_grids(longer, oblique()));
}

TEST(VolumeReader, Int16OfARealScanIsItsHounsfieldUnits) {
  const auto reader = open_volume(kCt + "totalseg-abdomen/ct.nii.gz");
  const auto& grid = reader->info().grid;
  ASSERT_EQ(grid.shape_zyx, (std::array<std::int64_t, 3>{30, 101, 122}));
  std::vector<std::int16_t> all(static_cast<std::size_t>(grid.voxels()));
  reader->read_int16(0, 30, all.data());
  std::vector<std::int16_t> slab(static_cast<std::size_t>(2 * grid.slice_voxels()));
  reader->read_int16(11, 2, slab.data());  // back in the file: starts again
  EXPECT_TRUE(std::equal(slab.begin(), slab.end(), all.begin() + 11 * grid.slice_voxels()));
}

class Constant : public VolumeReader {
 public:
  explicit Constant(double value) : value_(value) { info_.grid.shape_zyx = {2, 2, 2}; }
  void read_slice(std::int64_t z, double* dst) const override {
    std::fill(dst, dst + 4, 0);
    if (z == 1) dst[3] = value_;
  }

 private:
  double value_;
};

TEST(VolumeReader, ValuesBeyondInt16NameTheVoxel) {
  std::array<std::int16_t, 8> out{};
  for (const double value : {32768.0, -32769.0, std::nan(""), 1e300}) {
    const Constant reader(value);
    const std::string text =
        error_of(ErrorCode::malformed, [&] { reader.read_int16(0, 2, out.data()); });
    EXPECT_NE(text.find("voxel (x 1, y 1, z 1)"), std::string::npos) << text;
  }
  Constant(32767.4).read_int16(0, 2, out.data());
  EXPECT_EQ(out[7], 32767);
}

TEST(LabelVolume, OnlyWholeNumbersAreClasses) {
  const Constant reader(1.5);
  const std::string text =
      error_of(ErrorCode::malformed, [&] { read_label_volume(reader, reader.info().grid); });
  EXPECT_NE(text.find("expected a whole number"), std::string::npos) << text;
}

// HMAC-SHA256 of "patient\0PID4711" under the key below, computed with Python's hmac, first 32 hex
// digits.
TEST(Pseudonymizer, IsHmacSha256OfKindAndIdentifier) {
  const Pseudonymizer pseudonym("0123456789abcdef");
  EXPECT_EQ(pseudonym("patient", "PID4711"), "72f4243a84f3000ad6cc77510ffd958d");
  EXPECT_NE(pseudonym("study", "PID4711"), pseudonym("patient", "PID4711"));
  EXPECT_NE(Pseudonymizer("0123456789abcdeg")("patient", "PID4711"),
            pseudonym("patient", "PID4711"));
  EXPECT_EQ(pseudonym("patient", ""), "");
  EXPECT_THROW(Pseudonymizer("short"), Error);
}

TEST(ContrastPhase, WordsOfProtocolsNameThePhase) {
  using enum ContrastPhase;
  EXPECT_EQ(phase_of_description("THORAX/ABD ARTERIELL 3.0 B30f"), arterial);
  EXPECT_EQ(phase_of_description("CT ABD PORTAL-VENOUS"), portal_venous);
  EXPECT_EQ(phase_of_description("Liver PVP 1.25mm"), portal_venous);
  EXPECT_EQ(phase_of_description("delayed_10min"), delayed);
  EXPECT_EQ(phase_of_description("Liver late arterial 1.0"), arterial);
  EXPECT_EQ(phase_of_description("Liver late 1.0"), delayed);
  EXPECT_EQ(phase_of_description("ABD W/O CONTRAST"), native);
  EXPECT_EQ(phase_of_description("art+ven"), unknown);  // names two
  EXPECT_EQ(phase_of_description("cartilage particle"), unknown);
  EXPECT_EQ(phase_of_description("CT Body 3.0"), unknown);
  EXPECT_EQ(phase_of_description(""), unknown);
}

std::vector<SlicePlace> even(int count, double step) {
  std::vector<SlicePlace> places;
  for (int i = 0; i < count; ++i) places.push_back({i * step, 0, 0});
  return places;
}

const std::vector<std::string> kNames{"a", "b", "c", "d", "e", "f", "g", "h"};

TEST(SliceStack, RoundedPositionsAreEven) {
  auto places = even(8, 1.25);
  for (auto& place : places) place.along_mm = std::round(place.along_mm * 100) / 100;
  EXPECT_TRUE(examine_stack(places, 0.7).regular());
}

TEST(SliceStack, AMissingSliceIsCounted) {
  auto places = even(8, 2);
  places.erase(places.begin() + 3);
  const auto findings = examine_stack(places, 0.7);
  EXPECT_EQ(text_of(findings, kNames),
            "1 of 8 slices missing (first between c at 4.00 mm and d at 8.00 mm along the normal), "
            "where neighbours are 2.000 mm apart");
  EXPECT_EQ(findings.faults,
            std::vector<Note>{make_note(NoteCode::slices_missing, {1, 8, 2, 4, 3, 8, 2})});
}

TEST(SliceStack, ADoubledSliceIsFound) {
  auto places = even(6, 2);
  places.insert(places.begin() + 2, places[2]);
  const auto findings = examine_stack(places, 0.7);
  EXPECT_EQ(findings.doubled, std::vector<std::size_t>{3});
  EXPECT_EQ(text_of(findings, kNames),
            "1 slices doubled (first c and d, both at 4.00 mm along the normal)");
  EXPECT_EQ(findings.faults,
            std::vector<Note>{make_note(NoteCode::slices_doubled, {1, 2, 3, 4, 2})});
}

TEST(SliceStack, TiltIsTheAngleOfTheStack) {
  auto places = even(8, 3);
  for (int i = 0; i < 8; ++i)
    places[i].shift_y_mm = i * 3 * std::tan(18.5 * 3.14159265358979 / 180);
  const auto findings = examine_stack(places, 0.5);
  EXPECT_NEAR(findings.tilt_deg, 18.5, 1e-6);
  EXPECT_NE(text_of(findings, kNames).find("18.5 degrees"), std::string::npos);
}

TEST(SliceStack, FaultsStandTogetherAndMissingSlicesComeFirst) {
  auto places = even(8, 2);
  for (int i = 0; i < 8; ++i) places[i].shift_x_mm = i;
  places.erase(places.begin() + 5);
  places.insert(places.begin() + 2, places[2]);
  const auto findings = examine_stack(places, 0.7);
  ASSERT_EQ(findings.faults.size(), 3u);
  EXPECT_EQ(findings.faults[0].code, NoteCode::slices_missing);
  EXPECT_EQ(findings.faults[1].code, NoteCode::slices_doubled);
  EXPECT_EQ(findings.faults[2].code, NoteCode::slices_shifted);
  const std::string text = text_of(findings, kNames);
  EXPECT_EQ(text.find("1 of 9 slices missing (first between f at 8.00 mm and g at 12.00 mm"), 0u);
  EXPECT_NE(text.find("apart; 1 slices doubled (first c and d"), std::string::npos) << text;
  EXPECT_NE(text.find("normal); slices shifted"), std::string::npos) << text;
}

TEST(SliceStack, AnUnevenStepIsFound) {
  auto places = even(6, 2);
  for (int i = 3; i < 6; ++i) places[i].along_mm += 0.5;
  const auto findings = examine_stack(places, 0.7);
  EXPECT_EQ(text_of(findings, kNames),
            "unevenly spaced slices (2.000 to 2.500 mm, median 2.000 mm, first between c and d)");
  EXPECT_EQ(findings.faults,
            std::vector<Note>{make_note(NoteCode::slices_uneven, {2, 2.5, 2, 3, 2})});
}

TEST(SliceStack, WhereAllSlicesLieInOnePlaceTheyAreDoubled) {
  const auto findings = examine_stack(even(3, 0), 0.7);
  EXPECT_EQ(findings.spacing_mm, 0);
  EXPECT_EQ(text_of(findings, kNames),
            "2 slices doubled (first a and b, both at 0.00 mm along the normal)");
}

}  // namespace
}  // namespace headrace::imaging
