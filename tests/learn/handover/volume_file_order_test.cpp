// Predicted volumes on the grid of their file: every axis order, in every format.
#include "learn/handover/volume/file_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/nifti_reader.hpp"
#include "headrace/imaging/volume/nrrd.hpp"
#include "learn/handover/volume/volume_export.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/axis_orders.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::handover {
namespace {

using imaging::all_orders;
using imaging::AxisMap;
using imaging::VolumeGrid;

constexpr double kCos = 0.9781476007338057, kSin = 0.20791169081775934;  // 12 degrees

/// An oblique body in stored order, with edges and spacings that are all different.
VolumeGrid body() {
  return VolumeGrid::of({4, 5, 7}, {0.7, 0.9, 2.5}, {-11.3, 20.9, 301.7},
                        {kCos, -kSin, 0, kSin, kCos, 0, 0, 0, 1});
}

/// The same body as a file in this order has it, and the map of its prediction.
result::VolumeMap map_of(const AxisMap& order) {
  result::VolumeMap map;
  map.file_grid = imaging::reordered(body(), order);
  const imaging::CanonicalGrid canonical = imaging::canonical_grid(map.file_grid);
  map.grid = canonical.grid;
  map.from_file = canonical.from_file;
  return map;
}

/// A value of each place: 140 voxels, classes 0 to 6 and the mark of what was not predicted.
std::uint8_t class_at(std::int64_t i) {
  return i % 11 == 3 ? result::kNotPredicted : static_cast<std::uint8_t>(i * i % 7);
}

std::vector<std::uint8_t> classes() {
  std::vector<std::uint8_t> values;
  for (std::int64_t i = 0; i < body().voxels(); ++i) values.push_back(class_at(i));
  return values;
}

/// Where the centre of voxel i of a file lies in the stored map, by way of the patient.
std::size_t stored_place(const result::VolumeMap& map, std::int64_t i) {
  const std::int64_t width = map.file_grid.shape_zyx[2], slice = map.file_grid.slice_voxels();
  const auto mm = map.file_grid.to_lps_mm(static_cast<double>(i % width),
                                          static_cast<double>(i % slice / width),
                                          static_cast<double>(i / slice));
  const auto index = map.grid.to_index(mm);
  return static_cast<std::size_t>(
      (std::llround(index[2]) * map.grid.shape_zyx[1] + std::llround(index[1])) *
          map.grid.shape_zyx[2] +
      std::llround(index[0]));
}

std::vector<double> voxels_of(const imaging::VolumeReader& reader) {
  const VolumeGrid& grid = reader.info().grid;
  std::vector<double> values(static_cast<std::size_t>(grid.voxels()));
  for (std::int64_t z = 0; z < grid.shape_zyx[0]; ++z)
    reader.read_slice(z, values.data() + z * grid.slice_voxels());
  return values;
}

void expect_grid(const VolumeGrid& found, const VolumeGrid& expected, double tolerance_mm) {
  EXPECT_EQ(found.shape_zyx, expected.shape_zyx);
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_NEAR(found.affine_lps[i], expected.affine_lps[i], tolerance_mm) << i;
}

const std::vector<ClassLook> kLooks{
    {"background", {}},   {"liver", {255, 0, 51}}, {"back\\slash: spleen", {0, 128, 255}},
    {"c3", {1, 2, 3}},    {"c4", {4, 5, 6}},       {"c5", {7, 8, 9}},
    {"c6", {10, 11, 12}}, {"empty", {13, 14, 15}}};

TEST(FileOrder, EveryVoxelLiesWhereItLayInThePatientInAllOrders) {
  const std::vector<std::uint8_t> values = classes();
  for (const AxisMap& order : all_orders()) {
    const result::VolumeMap map = map_of(order);
    const auto in_file = file_order<std::uint8_t>(values, map);
    ASSERT_EQ(in_file.size(), values.size());
    for (std::size_t i = 0; i < in_file.size(); ++i)
      ASSERT_EQ(in_file[i], values[stored_place(map, static_cast<std::int64_t>(i))]) << i;
  }
}

TEST(FileOrder, RefusesWhatIsNoOrderOfTheFile) {
  result::VolumeMap map = map_of(all_orders()[5]);
  const std::vector<std::uint8_t> values = classes(), fewer(values.size() - 1);
  error_of(ErrorCode::internal, [&] { file_order<std::uint8_t>(fewer, map); });
  map.grid.shape_zyx[0] += 1;
  EXPECT_NE(error_of(ErrorCode::malformed, [&] { file_order<std::uint8_t>(values, map); })
                .find("predict the image again"),
            std::string::npos);
  map.from_file.axis = {0, 0, 2};
  error_of(ErrorCode::malformed, [&] { file_order<std::uint8_t>(values, map); });
}

TEST(VolumeExport, NiftiOfEveryOrderHasTheFilesGridAndClasses) {
  const imaging::TempFolder folder;
  const std::vector<std::uint8_t> values = classes();
  ThreadPool pool(2);
  for (const AxisMap& order : all_orders()) {
    const result::VolumeMap map = map_of(order);
    const std::string path = folder / "classes.nii.gz";
    const std::uint64_t bytes = write_class_nifti(path, map, values, pool);
    EXPECT_EQ(bytes, std::filesystem::file_size(path));
    const auto reader = imaging::open_nifti(path);
    expect_grid(reader->info().grid, map.file_grid, 1e-4);  // the header holds float32
    const std::vector<double> found = voxels_of(*reader);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::uint8_t stored = values[stored_place(map, static_cast<std::int64_t>(i))];
      ASSERT_EQ(found[i], stored == result::kNotPredicted ? 0 : stored) << i;
    }
  }
  EXPECT_EQ(folder.files(), 1u);
}

TEST(VolumeExport, ProbabilitiesReadFromZeroToOne) {
  const imaging::TempFolder folder;
  ThreadPool pool(1);
  std::vector<std::uint8_t> values = classes();
  values[0] = 255;  // a probability of 1 is no mark here
  const result::VolumeMap map = map_of({{1, 0, 2}, {false, true, true}});
  write_probability_nifti(folder / "p.nii.gz", map, values, pool);
  const std::vector<double> found = voxels_of(*imaging::open_nifti(folder / "p.nii.gz"));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double stored = values[stored_place(map, static_cast<std::int64_t>(i))];
    ASSERT_NEAR(found[i], stored / 255, 1e-7) << i;
  }
}

TEST(VolumeExport, SegmentationOfEveryOrderHasTheFilesGridAndClasses) {
  const imaging::TempFolder folder;
  const std::vector<std::uint8_t> values = classes();
  ThreadPool pool(2);
  for (const AxisMap& order : all_orders()) {
    const result::VolumeMap map = map_of(order);
    const std::string path = folder / "classes.seg.nrrd";
    write_segmentation(path, map, values, kLooks, pool);
    const auto reader = imaging::open_nrrd(path);
    expect_grid(reader->info().grid, map.file_grid, 1e-12);
    const std::vector<double> found = voxels_of(*reader);
    const auto expected = file_order<std::uint8_t>(values, map);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], expected[i] == result::kNotPredicted ? 0 : expected[i]) << i;
  }
  EXPECT_EQ(folder.files(), 1u);
}

TEST(VolumeExport, SegmentsHaveNamesValuesColoursAndExtents) {
  const imaging::TempFolder folder;
  ThreadPool pool(1);
  const result::VolumeMap map = map_of({{0, 1, 2}, {false, false, false}});
  std::vector<std::uint8_t> values(static_cast<std::size_t>(body().voxels()));
  const auto put = [&](std::int64_t z, std::int64_t y, std::int64_t x, std::uint8_t value) {
    values[static_cast<std::size_t>((z * 5 + y) * 7 + x)] = value;
  };
  put(1, 2, 3, 2);
  put(3, 1, 6, 2);
  put(0, 0, 0, result::kNotPredicted);
  write_segmentation(folder / "s.seg.nrrd", map, values, std::span(kLooks).first(3), pool);
  const std::string text = imaging::file_text(folder / "s.seg.nrrd");
  const std::string header = text.substr(0, text.find("\n\n"));
  EXPECT_EQ(header.substr(header.find("Segment0_")), R"(Segment0_ID:=Segment_1
Segment0_Name:=liver
Segment0_NameAutoGenerated:=0
Segment0_Color:=1.000000 0.000000 0.200000
Segment0_ColorAutoGenerated:=0
Segment0_LabelValue:=1
Segment0_Layer:=0
Segment0_Extent:=0 -1 0 -1 0 -1
Segment1_ID:=Segment_2
Segment1_Name:=back\\slash: spleen
Segment1_NameAutoGenerated:=0
Segment1_Color:=0.000000 0.501961 1.000000
Segment1_ColorAutoGenerated:=0
Segment1_LabelValue:=2
Segment1_Layer:=0
Segment1_Extent:=3 6 1 2 1 3)");
}

TEST(VolumeExport, BytesDoNotDependOnThreads) {
  const imaging::TempFolder folder;
  ThreadPool one(1), two(2);
  const result::VolumeMap map = map_of({{2, 0, 1}, {true, false, true}});
  const std::vector<std::uint8_t> values = classes();
  write_segmentation(folder / "1.seg.nrrd", map, values, kLooks, one);
  write_segmentation(folder / "2.seg.nrrd", map, values, kLooks, two);
  EXPECT_EQ(imaging::file_text(folder / "1.seg.nrrd"), imaging::file_text(folder / "2.seg.nrrd"));
  write_class_nifti(folder / "1.nii.gz", map, values, one);
  write_class_nifti(folder / "2.nii.gz", map, values, two);
  EXPECT_EQ(imaging::file_text(folder / "1.nii.gz"), imaging::file_text(folder / "2.nii.gz"));
}

TEST(VolumeExport, NothingIsLeftOfAFileThatIsRefused) {
  const imaging::TempFolder folder;
  ThreadPool pool(1);
  const result::VolumeMap map = map_of({{0, 1, 2}, {false, false, false}});
  const std::vector<std::uint8_t> values = classes();
  const auto write = [&](std::span<const ClassLook> looks) {
    return [&, looks] { write_segmentation(folder / "s.seg.nrrd", map, values, looks, pool); };
  };
  EXPECT_NE(error_of(ErrorCode::malformed, write(std::span(kLooks).first(4))).find("class 4"),
            std::string::npos);
  std::vector<ClassLook> broken = kLooks;
  broken[2].name = "two\nencoding: raw";
  error_of(ErrorCode::usage, write(broken));
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace headrace::handover
