#include "headrace/zarr/parallel_read.hpp"

#include <nlohmann/json.hpp>

#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using test::MemoryStore;
using test::Shape;

const Shape kShape{3, 70, 90};

/// A (c, y, x) image in chunks of 16 x 16.
class ManyChunks : public ::testing::Test {
 protected:
  ManyChunks() {
    ArrayMetadata metadata = test::metadata_of(kShape, {3, 16, 16}, DType::uint8,
                                               Codecs::checked(Codecs::zstd(DType::uint8, 1)));
    metadata.fill_value = {std::byte{9}};
    test::write_array(store_, "a", metadata, test::smooth_bytes(3 * 70 * 90, 4));
    array_ = Array::open(store_, "a");
  }

  std::vector<std::byte> read(const Shape& origin, const Shape& size, ThreadPool& pool) const {
    std::vector<std::byte> elements(static_cast<std::size_t>(test::count_of(size)));
    read_parallel(*array_, {origin, size, elements.data(), test::c_strides(size, 1), {}}, pool);
    return elements;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::shared_ptr<const Array> array_;
};

TEST_F(ManyChunks, GiveTheBytesOfAPlainReadForAnyNumberOfThreads) {
  ThreadPool one(1), four(4);
  std::mt19937 generator(3);
  const auto within = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(generator() % static_cast<unsigned>(high - low));
  };
  for (int trial = 0; trial < 200; ++trial) {
    const Shape origin{within(-1, 3), within(-90, 90), within(-100, 110)};
    const Shape size{within(0, 4), within(0, 150), within(0, 170)};
    const std::vector<std::byte> want = test::read_region(*array_, origin, size);
    ASSERT_EQ(read(origin, size, one), want) << trial;
    ASSERT_EQ(read(origin, size, four), want) << trial;
  }
}

TEST_F(ManyChunks, AreEachReadOnce) {
  ThreadPool four(4);
  store_->reads.clear();
  read({0, 0, 0}, kShape, four);
  EXPECT_EQ(store_->reads.size(), 5u * 6u);
}

TEST_F(ManyChunks, FailWithTheFirstErrorAlongTheAxis) {
  ThreadPool four(4);
  for (const char* key : {"a/c/0/3/2", "a/c/0/1/4", "a/c/0/4/5"})
    store_->objects.at(key).pop_back();
  for (int trial = 0; trial < 20; ++trial) {
    const std::string text = error_of(ErrorCode::corrupt, [&] { read({0, 0, 0}, kShape, four); });
    EXPECT_NE(text.find("chunk c/0/3/2"), std::string::npos) << text;  // x crosses most chunks
  }
}

TEST_F(ManyChunks, RefuseARegionOfOtherAxes) {
  ThreadPool four(4);
  error_of(ErrorCode::usage, [&] { read({0, 0}, {60, 60}, four); });
}

}  // namespace
}  // namespace headrace::zarr
