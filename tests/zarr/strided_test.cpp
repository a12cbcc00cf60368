#include "headrace/zarr/codec/strided.hpp"

#include <algorithm>
#include <random>

#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

// Random boxes of random strides against a plain loop over elements.
TEST(Strided, CopiesAreThoseOfAPlainLoop) {
  std::mt19937 generator(7);
  for (int trial = 0; trial < 400; ++trial) {
    const int rank = static_cast<int>(generator() % 5);
    const std::size_t item = std::size_t{1} << generator() % 4;
    Index shape{}, order{};
    for (int axis = 0; axis < rank; ++axis) {
      shape[axis] = 1 + static_cast<std::int64_t>(generator() % 6);
      order[axis] = axis;
    }
    std::shuffle(order.begin(), order.begin() + rank, generator);
    Index dst_strides{};
    std::int64_t step = static_cast<std::int64_t>(item);
    for (int i = rank - 1; i >= 0; --i) {
      dst_strides[order[i]] = step;
      step *= shape[order[i]] + static_cast<std::int64_t>(generator() % 2);
    }
    const Index src_strides = contiguous_strides(rank, shape, static_cast<std::int64_t>(item));
    const auto count = static_cast<std::size_t>(count_elements(rank, shape));
    const auto src = test::smooth_bytes(count * item, static_cast<unsigned>(trial));
    std::vector<std::byte> got(static_cast<std::size_t>(step), std::byte{0xee}), want = got;
    const bool swap = generator() % 2 == 0;
    copy_elements(rank, shape, src.data(), src_strides, got.data(), dst_strides, item, swap);
    for (std::size_t i = 0; i < count; ++i) {
      auto rest = static_cast<std::int64_t>(i);
      std::int64_t to = 0;
      for (int axis = rank - 1; axis >= 0; --axis) {
        to += rest % shape[axis] * dst_strides[axis];
        rest /= shape[axis];
      }
      for (std::size_t b = 0; b < item; ++b) {
        want[static_cast<std::size_t>(to) + b] = src[i * item + (swap ? item - 1 - b : b)];
      }
    }
    ASSERT_EQ(got, want) << "trial " << trial;
  }
}

TEST(Strided, FillsTouchOnlyTheBox) {
  for (const std::vector<std::byte>& value :
       {std::vector<std::byte>{std::byte{7}}, std::vector<std::byte>(4, std::byte{9}),
        std::vector<std::byte>{std::byte{1}, std::byte{2}}}) {
    const auto item = static_cast<std::int64_t>(value.size());
    const Index shape{3, 4}, strides{10 * item, item};
    std::vector<std::byte> got(static_cast<std::size_t>(40 * item), std::byte{0xee});
    fill_elements(2, shape, got.data() + 2 * item, strides, value);
    for (std::int64_t i = 0; i < 40; ++i) {
      const bool inside = i / 10 < 3 && i % 10 >= 2 && i % 10 < 6;
      for (std::int64_t b = 0; b < item; ++b) {
        ASSERT_EQ(got[static_cast<std::size_t>(i * item + b)],
                  inside ? value[static_cast<std::size_t>(b)] : std::byte{0xee});
      }
    }
  }
}

TEST(Strided, AllEqualSeesOneDifferentElement) {
  const std::vector<std::byte> value{std::byte{1}, std::byte{2}};
  std::vector<std::byte> elements;
  for (int i = 0; i < 9; ++i) elements.insert(elements.end(), value.begin(), value.end());
  EXPECT_TRUE(all_equal(elements, value));
  for (std::byte& byte : elements) {
    byte ^= std::byte{0x80};
    EXPECT_FALSE(all_equal(elements, value));
    byte ^= std::byte{0x80};
  }
}

}  // namespace
}  // namespace headrace::zarr
