// Geometry and pure parts of the volume readers; real files are compared with other readers in
// tests/conformance.
#include <gtest/gtest.h>

#include <cmath>

#include "headrace/imaging/dicom/acquisitions.hpp"
#include "headrace/imaging/dicom/contrast_phase.hpp"
#include "headrace/imaging/dicom/ct_values.hpp"
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
            "unevenly spaced slices (2.000 to 2.500 mm, first between c and d)");
  EXPECT_EQ(findings.faults,
            std::vector<Note>{make_note(NoteCode::slices_uneven, {2, 2.5, 2, 3, 2})});
}

TEST(SliceStack, PositionsOfOneDecimalAreEven) {
  // 0.625 mm, rounded by Python: two steps out of three are 0.6 mm, the third 0.7 mm.
  std::vector<SlicePlace> places;
  for (const double along : {-20.0, -19.4, -18.8, -18.1, -17.5, -16.9, -16.2, -15.6})
    places.push_back({along, 0, 0});
  const auto findings = examine_stack(places, 0.7);
  EXPECT_TRUE(findings.regular()) << text_of(findings, kNames);
  EXPECT_NEAR(findings.off_mm, 0.0393, 1e-4);  // of the least squares line through them
}

TEST(SliceStack, StepsThatAreEachALittleTooLongAreNotEven) {
  auto places = even(40, 2.5);
  for (int i = 0; i < 40; ++i) places[i].along_mm += 0.1 * (i < 20 ? i : 40 - i);
  EXPECT_FALSE(examine_stack(places, 0.7).regular());
}

TEST(SliceStack, CoarseRoundingIsBelievedWhereTheHeadersStateTheSame) {
  auto places = even(40, 1.25);
  for (auto& place : places) place.along_mm = std::round(place.along_mm);
  EXPECT_FALSE(examine_stack(places, 0.7).regular());
  EXPECT_FALSE(examine_stack(places, 0.7, 1.0).regular());
  EXPECT_TRUE(examine_stack(places, 0.7, 1.25).regular());
}

TEST(SliceStack, TheFinestStepIsTheGridOfCoarserOnes) {
  std::vector<SlicePlace> places;
  for (const double along : {0.0, 2.5, 5.0, 12.5, 20.0}) places.push_back({along, 0, 0});
  const auto findings = examine_stack(places, 0.7);
  EXPECT_EQ(findings.spacing_mm, 2.5);
  EXPECT_EQ(findings.index, (std::vector<std::int64_t>{0, 1, 2, 5, 8}));
  EXPECT_TRUE(findings.on_grid);
  EXPECT_EQ(places_on_grid(places, findings).filled(), 4u);
}

TEST(SliceStack, ASliceOutOfPlaceDoesNotMakeTheGridFiner) {
  auto places = even(8, 3.27);
  places[4].along_mm += 1.1;
  const auto findings = examine_stack(places, 0.7);
  EXPECT_NEAR(findings.spacing_mm, 3.27, 1e-9);
  EXPECT_EQ(findings.index, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const SlicePlaces on_grid = places_on_grid(places, findings);
  ASSERT_EQ(on_grid.offsets_mm.size(), 8u);
  EXPECT_NEAR(*on_grid.offsets_mm[4], 1.1, 1e-9);
  const SlicePlaces other_way = reordered(on_grid, {{2, 1, 0}, {true, false, false}});
  EXPECT_EQ(other_way.axis, 0);
  EXPECT_NEAR(*other_way.offsets_mm[3], -1.1, 1e-9);
}

TEST(CtValues, AreHounsfieldUnitsUnlessAHeaderSaysOtherwise) {
  const auto of = [](const char* type, const char* kind) {
    return other_than_hounsfield({type, kind, {}, 1});
  };
  EXPECT_EQ(of("HU", "ORIGINAL\\PRIMARY\\AXIAL"), "");
  EXPECT_EQ(of("US", "DERIVED\\PRIMARY\\AXIAL\\VMI"), "");
  EXPECT_EQ(of("", "ORIGINAL\\PRIMARY\\PERFUSION\\NONE"), "");
  EXPECT_EQ(of("", "DERIVED\\SECONDARY\\PERFUSION"), "values that are blood flow (Image Type)");
  EXPECT_EQ(of("HU", "DERIVED\\PRIMARY\\AXIAL\\CT_SOM5 DE IODINE"),
            "values that are the share of iodine (Image Type)");
  EXPECT_EQ(of("HU", "DERIVED\\PRIMARY\\AXIAL\\MAT_REMOVED\\IODINE"), "");
  EXPECT_NE(of("US", "DERIVED\\PRIMARY\\AXIAL\\MAT_REMOVED"), "");
  EXPECT_NE(of("", "DERIVED\\PRIMARY\\AXIAL\\IODINE_REMOVED"), "");
  EXPECT_EQ(of("", "DERIVED\\PRIMARY\\AXIAL\\METAL_REMOVED"), "");
  EXPECT_EQ(of("", "DERIVED\\SECONDARY\\BED_REMOVED"), "");
  EXPECT_EQ(of("EDW", ""), "values in electron density relative to water (Rescale Type EDW)");
  EXPECT_EQ(of("secret words", ""), "values in a unit other than HU (Rescale Type)");
  EXPECT_EQ(other_than_hounsfield({"HU", "", {"mg/mL", "[hnsf'U]"}, 1}), "");
  EXPECT_NE(other_than_hounsfield({"HU", "", {"mg/mL"}, 1}), "");
  EXPECT_EQ(other_than_hounsfield({"HU", "", {}, 3}), "colours, no values");
}

AcquisitionKeys keys_of(const char* number, const char* time, double instance) {
  AcquisitionKeys keys;
  keys.values[AcquisitionKeys::number] = number;
  keys.values[AcquisitionKeys::time] = time;
  keys.instance = instance;
  return keys;
}

TEST(Acquisitions, AreToldApartByTheHeaderThatDoes) {
  const std::vector<double> twice{0, 1, 2, 0, 1, 2};
  std::vector<AcquisitionKeys> keys;
  for (int i = 0; i < 6; ++i) keys.push_back(keys_of(i < 3 ? "10" : "9", "", i));
  auto split = split_acquisitions(twice, keys);
  EXPECT_EQ(split.told_by, "AcquisitionNumber");
  EXPECT_EQ(split.part_of, (std::vector<std::size_t>{1, 1, 1, 0, 0, 0}));  // 9 comes before 10
  for (int i = 0; i < 6; ++i) keys[i] = keys_of("1", i < 3 ? "1010" : "1011", i);
  EXPECT_EQ(split_acquisitions(twice, keys).told_by, "acquisition time");
  for (int i = 0; i < 6; ++i) keys[i] = keys_of("1", std::to_string(i).c_str(), i);
  EXPECT_EQ(split_acquisitions(twice, keys).told_by, "InstanceNumber");
  for (int i = 0; i < 6; ++i) keys[i].instance.reset();
  EXPECT_EQ(split_acquisitions(twice, keys).parts, 1u);
  // A number for each slice is no acquisition for each slice.
  const std::vector<double> once{0, 1, 2, 3};
  std::vector<AcquisitionKeys> steps;
  for (const char* number : {"1", "2", "3", "4"}) steps.push_back(keys_of(number, "", 0));
  EXPECT_EQ(split_acquisitions(once, steps).parts, 1u);
}

TEST(SliceStack, WhereAllSlicesLieInOnePlaceTheyAreDoubled) {
  const auto findings = examine_stack(even(3, 0), 0.7);
  EXPECT_EQ(findings.spacing_mm, 0);
  EXPECT_EQ(text_of(findings, kNames),
            "2 slices doubled (first a and b, both at 0.00 mm along the normal)");
}

}  // namespace
}  // namespace headrace::imaging
