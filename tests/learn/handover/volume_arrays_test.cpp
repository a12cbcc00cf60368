// The arrays of a result as the exports of volumes take them.
#include <gtest/gtest.h>

#include <numeric>

#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "learn/handover/volume/volume_export.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::handover {
namespace {

std::shared_ptr<const zarr::Array> array_of(const imaging::TempFolder& folder,
                                            const std::vector<std::int64_t>& shape,
                                            const std::vector<std::uint8_t>& values) {
  const auto store = std::make_shared<storage::LocalStore>(folder / "store");
  zarr::ArrayMetadata metadata;
  metadata.shape = metadata.chunk_shape = shape;
  metadata.fill_value = {std::byte{0}};
  metadata.codecs = zarr::Codecs::zstd(DType::uint8, 3);
  zarr::ArrayWriter writer(store, "a", metadata);
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  writer.write_shard(std::vector<std::int64_t>(shape.size()),
                     reinterpret_cast<const std::byte*>(values.data()), strides);
  writer.finish();
  return zarr::Array::open(store, "a");
}

TEST(VolumeArrays, ClassesAreReadWhole) {
  const imaging::TempFolder folder;
  std::vector<std::uint8_t> values(2 * 3 * 4);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  EXPECT_EQ(class_voxels(*array_of(folder, {2, 3, 4}, values)), values);
}

TEST(VolumeArrays, ProbabilitiesAreThoseOfOneClass) {
  const imaging::TempFolder folder;
  std::vector<std::uint8_t> values(3 * 2 * 3 * 4);
  std::iota(values.begin(), values.end(), std::uint8_t{1});
  const auto array = array_of(folder, {3, 2, 3, 4}, values);
  EXPECT_EQ(probability_voxels(*array, 2),
            std::vector<std::uint8_t>(values.begin() + 48, values.end()));
  EXPECT_NE(
      error_of(ErrorCode::usage, [&] { probability_voxels(*array, 3); }).find("classes 0 to 2"),
      std::string::npos);
}

}  // namespace
}  // namespace headrace::handover
