#include "learn/view/volume/precomputed.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace headrace::view {
namespace {

/// 70 × 65 × 130 voxels (z, y, x) whose value tells their place.
class Places : public VoxelSource {
 public:
  explicit Places(DType dtype) {
    dtype_ = dtype;
    scales_ = {{{70, 65, 130}, {2.5, 0.7, 0.7}}};
  }
  static int at(std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<int>((z * 5 + y * 3 + x) % 256);
  }
  void read(std::size_t, const std::array<std::int64_t, 3>& origin,
            const std::array<std::int64_t, 3>& size, std::byte* dst) const override {
    for (std::int64_t z = 0; z < size[0]; ++z) {
      for (std::int64_t y = 0; y < size[1]; ++y) {
        for (std::int64_t x = 0; x < size[2]; ++x) {
          const int value = at(origin[0] + z, origin[1] + y, origin[2] + x);
          const auto wide = static_cast<std::int16_t>(value - 128);
          const auto narrow = static_cast<std::uint8_t>(value);
          const bool two = dtype_ == DType::int16;
          std::memcpy(dst, two ? static_cast<const void*>(&wide) : &narrow, two ? 2 : 1);
          dst += two ? 2 : 1;
        }
      }
    }
  }
};

TEST(Precomputed, InfoHasSizesInNanometresAndXFirst) {
  const Json info = precomputed_info(Places(DType::int16));
  EXPECT_EQ(info["data_type"], "int16");
  EXPECT_EQ(info["type"], "image");
  const Json& scale = info["scales"][0];
  EXPECT_EQ(scale["size"], Json({130, 65, 70}));
  EXPECT_DOUBLE_EQ(scale["resolution"][0], 700000);
  EXPECT_DOUBLE_EQ(scale["resolution"][2], 2500000);
  EXPECT_EQ(scale["chunk_sizes"], Json::array({{64, 64, 64}}));
  EXPECT_EQ(scale["voxel_offset"], Json({0, 0, 0}));
}

TEST(Precomputed, AChunkHasXFastestAndIsCutAtTheEnd) {
  const Places source(DType::int16);
  const auto chunk = precomputed_chunk(source, "0", "128-130_64-65_0-64");
  ASSERT_TRUE(chunk);
  ASSERT_EQ(chunk->size(), 2U * 2 * 1 * 64);
  for (std::int64_t z = 0; z < 64; ++z) {
    for (std::int64_t x = 0; x < 2; ++x) {
      std::int16_t value = 0;
      std::memcpy(&value, chunk->data() + 2 * (z * 2 + x), 2);
      EXPECT_EQ(value, Places::at(z, 64, 128 + x) - 128);
    }
  }
}

TEST(Precomputed, ClassMapsAreImagesOfBytes) {
  const Places source(DType::uint8);
  const Json info = precomputed_info(source);
  EXPECT_EQ(info["data_type"], "uint8");
  EXPECT_EQ(info["type"], "image");
  const auto chunk = precomputed_chunk(source, "0", "64-128_0-64_64-70");
  ASSERT_TRUE(chunk);
  ASSERT_EQ(chunk->size(), 64U * 64 * 6);
  for (std::int64_t i = 0; i < 64 * 64 * 6; ++i) {
    const int value = Places::at(64 + i / 4096, i / 64 % 64, 64 + i % 64);
    EXPECT_EQ(static_cast<int>((*chunk)[static_cast<std::size_t>(i)]), value);
  }
}

TEST(Precomputed, OtherNamesAreNoChunks) {
  const Places source(DType::int16);
  for (const char* name :
       {"", "0-64", "0-64_0-64", "1-65_0-64_0-64", "0-64_0-64_0-63", "0-64_0-64_64-128",
        "128-192_0-64_0-64", "-64-0_0-64_0-64", "0-64_0-64_0-64_0-64", "0-64_0-64_0-6x",
        "0-64_0-64_99999999999999999999-64"}) {
    EXPECT_FALSE(precomputed_chunk(source, "0", name)) << name;
  }
  EXPECT_FALSE(precomputed_chunk(source, "1", "0-64_0-64_0-64"));
  EXPECT_TRUE(precomputed_chunk(source, "0", "0-64_0-64_0-64"));
}

}  // namespace
}  // namespace headrace::view
