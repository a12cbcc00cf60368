#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "headrace/core/ignore_label.hpp"
#include "headrace/math/philox.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

/// What holds for every device that gathers statistics: plain loops over pixels and voxels give the
/// same. statistics_test.cpp asks it of one on the host, statistics_cuda_test.cpp of a GPU.
namespace headrace::pixels::fixtures {

inline std::uint32_t draw_of(std::uint32_t i, std::uint32_t seed) {
  return math::philox4x32_10(math::Philox4Of<std::uint32_t>{{i, seed, 0, 0}}, 7, 11).v[0];
}

/// Memory of a device with what the host gives and takes.
class There {
 public:
  explicit There(StatisticsDevice& device) : device_(device), queue_(device.queue()) {}

  template <typename T>
  T* sent(const std::vector<T>& values) {
    T* there = room<T>(values.size());
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    const device::Memory staging = device_.host_memory(static_cast<std::size_t>(bytes));
    std::memcpy(staging.get(), values.data(), values.size() * sizeof(T));
    queue_->to_device(reinterpret_cast<std::uint8_t*>(there), bytes, staging.get(), bytes, bytes,
                      1);
    queue_->wait();
    return there;
  }
  template <typename T>
  T* cleared(std::size_t count) {
    T* there = room<T>(count);
    queue_->clear(reinterpret_cast<std::uint8_t*>(there),
                  static_cast<std::int64_t>(count * sizeof(T)));
    return there;
  }
  template <typename T>
  T* room(std::size_t count) {
    memory_.push_back(device_.device_memory(count * sizeof(T)));
    return reinterpret_cast<T*>(memory_.back().get());
  }
  template <typename T>
  std::vector<T> fetched(const T* there, std::size_t count) {
    const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
    const device::Memory staging = device_.host_memory(static_cast<std::size_t>(bytes));
    queue_->to_host(staging.get(), bytes, reinterpret_cast<const std::uint8_t*>(there), bytes,
                    bytes, 1);
    queue_->wait();
    std::vector<T> values(count);
    std::memcpy(values.data(), staging.get(), count * sizeof(T));
    return values;
  }
  StatisticsQueue& queue() { return *queue_; }

 private:
  StatisticsDevice& device_;
  std::vector<device::Memory> memory_;
  std::unique_ptr<StatisticsQueue> queue_;
};

struct RgbCase {
  std::int64_t height, width;
  bool stained;
  std::vector<std::uint8_t> rgb;
};
/// All white, black, one pixel, odd widths, noise, stains over glass.
inline std::vector<RgbCase> rgb_cases() {
  std::vector<RgbCase> cases;
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 777}, {301, 1}, {33, 257}, {520, 301}}) {
    for (const int kind : {0, 1, 2, 3}) {
      RgbCase c{height, width, kind == 3,
                std::vector<std::uint8_t>(std::size_t(height) * width * 3)};
      for (std::size_t i = 0; i < c.rgb.size(); ++i) {
        const std::uint32_t noise = draw_of(static_cast<std::uint32_t>(i), 3);
        const bool glass = i / 3 / 50 % 3 == 0;
        const std::uint8_t stained[3] = {150, 90, 170};
        c.rgb[i] = kind == 0   ? 255
                   : kind == 1 ? 0
                   : kind == 2 ? static_cast<std::uint8_t>(noise)
                   : glass     ? 250
                               : static_cast<std::uint8_t>(stained[i % 3] + noise % 60);
      }
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

inline void expect_darkest_of_a_loop(StatisticsDevice& device) {
  for (const RgbCase& c : rgb_cases()) {
    There there(device);
    auto* counts = there.cleared<std::uint64_t>(256);
    const RgbView view{there.sent(c.rgb), 3 * c.width};
    there.queue().gather(DarkestCount{view, c.height, static_cast<std::int32_t>(c.width), counts});
    std::vector<std::uint64_t> expected(256);
    for (std::size_t i = 0; i < c.rgb.size(); i += 3) {
      ++expected[*std::min_element(&c.rgb[i], &c.rgb[i] + 3)];
    }
    ASSERT_EQ(there.fetched(counts, 256), expected) << c.height << "x" << c.width;
  }
}

/// few: of stained images alone.
inline void expect_stains_of_the_accumulator(StatisticsDevice& device, bool few = false) {
  for (const StainVariant variant :
       {StainVariant::macenko_log10_any, StainVariant::macenko_ln_all}) {
    for (const RgbCase& c : rgb_cases()) {
      for (const int masked : {0, 1, 2}) {  // none, a third, all ignored
        if ((few || masked > 0) && !c.stained) continue;
        There there(device);
        constexpr std::int64_t kEdge = 64, kScale = 4;
        const std::int64_t across = (c.width + kEdge - 1) / kEdge;
        const std::int64_t blocks = across * ((c.height + kEdge - 1) / kEdge);
        const std::int64_t chosen = std::min<std::int64_t>(blocks, 7);
        // Smaller than the image: its last row and column reach on.
        const std::int64_t mask_height = std::max<std::int64_t>(1, c.height / kScale),
                           mask_width = std::max<std::int64_t>(1, c.width / kScale);
        std::vector<std::uint8_t> mask(static_cast<std::size_t>(mask_height * mask_width));
        for (std::size_t i = 0; masked < 2 && i < mask.size(); ++i) {
          mask[i] = draw_of(static_cast<std::uint32_t>(i), 9) % 3 == 0 ? 1 : 0;
        }
        auto* totals = there.cleared<std::uint64_t>(kStainTotals);
        StainSums pass{{there.sent(c.rgb), 3 * c.width},
                       c.height,
                       c.width,
                       0,
                       0,
                       {masked > 0 ? there.sent(mask) : nullptr, mask_height, mask_width, kScale},
                       blocks,
                       across,
                       chosen,
                       kEdge,
                       totals,
                       stain_rule(variant)};
        there.queue().gather(pass);

        StainAccumulator expected(variant), got(variant);
        for (std::int64_t i = 0; i < chosen; ++i) {
          const std::int64_t block = i * blocks / chosen;
          for (std::int64_t y = block / across * kEdge;
               y < std::min(c.height, (block / across + 1) * kEdge); ++y) {
            for (std::int64_t x = block % across * kEdge;
                 x < std::min(c.width, (block % across + 1) * kEdge); ++x) {
              const std::int64_t my = std::min(y / kScale, mask_height - 1),
                                 mx = std::min(x / kScale, mask_width - 1);
              const std::uint8_t in = masked == 0 ? 1 : mask[std::size_t(my * mask_width + mx)];
              expected.add(&c.rgb[std::size_t(3 * (y * c.width + x))], 1, &in);
            }
          }
        }
        got.add_totals(there.fetched(totals, kStainTotals));
        ASSERT_EQ(got.moments().pixels, expected.moments().pixels);
        ASSERT_EQ(got.moments().sum, expected.moments().sum);
        ASSERT_EQ(got.moments().product, expected.moments().product);
        if (!c.stained) continue;
        const auto a = got.estimate(), b = expected.estimate();
        ASSERT_EQ(a.has_value(), b.has_value());
        if (a) {
          ASSERT_EQ(a->stain_od_rgb_he, b->stain_od_rgb_he);
          ASSERT_EQ(a->max_concentration, b->max_concentration);
        }
      }
    }
  }
}

inline void expect_masks_of_a_loop(StatisticsDevice& device) {
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 300}, {61, 83}, {70, 3}}) {
    for (const int percent : {3, 50, 97}) {
      std::vector<std::uint8_t> mask(std::size_t(height) * width), other(mask.size());
      for (std::size_t i = 0; i < mask.size(); ++i) {
        mask[i] = draw_of(std::uint32_t(i), 1) % 100 < std::uint32_t(percent) ? 1 : 0;
        other[i] = draw_of(std::uint32_t(i), 2) % 4 == 0 ? 1 : 0;
      }
      There there(device);
      const std::uint8_t* src = there.sent(mask);
      for (const int radius : {1, 2, 5}) {
        for (const bool columns : {false, true}) {
          for (const int wanted : {0, 1}) {
            for (const int hit : {0, 1}) {
              auto* dst = there.room<std::uint8_t>(mask.size());
              there.queue().gather(SpreadPixel{src, dst, height, width, radius,
                                               std::uint8_t(wanted), std::uint8_t(hit), columns});
              const auto got = there.fetched(dst, mask.size());
              for (int y = 0; y < height; ++y) {
                for (int x = 0; x < width; ++x) {
                  bool found = false;
                  for (int n = -radius; n <= radius; ++n) {
                    const int ny = columns ? y + n : y, nx = columns ? x : x + n;
                    if (ny < 0 || nx < 0 || ny >= height || nx >= width) continue;
                    found |= mask[std::size_t(ny * width + nx)] == wanted;
                  }
                  ASSERT_EQ(got[std::size_t(y * width + x)], found ? hit : 1 - hit);
                }
              }
            }
          }
        }
      }
      auto* counts = there.cleared<std::uint64_t>(2);
      std::uint8_t* cut = there.sent(mask);
      there.queue().gather(ClearedCount{cut, there.sent(other), height, width, counts});
      const auto set = static_cast<std::uint64_t>(std::count(other.begin(), other.end(), 1));
      ASSERT_EQ(there.fetched(counts, 2), (std::vector<std::uint64_t>{mask.size() - set, set}));
      const auto got = there.fetched(cut, mask.size());
      for (std::size_t i = 0; i < mask.size(); ++i) {
        ASSERT_EQ(got[i], other[i] == 0 ? mask[i] : 0);
      }
    }
  }
}

struct VolumeCase {
  SlicesShape shape;
  std::vector<std::int16_t> values;
  std::vector<std::uint8_t> labels;
};
/// Air with a body, all of one value, the whole range of int16; rows of under and over 64 voxels.
inline std::vector<VolumeCase> volume_cases() {
  std::vector<VolumeCase> cases;
  for (const SlicesShape& shape : {SlicesShape{1, 1, 1}, {2, 9, 64}, {3, 20, 130}, {2, 5, 63}}) {
    for (const int kind : {0, 1, 2}) {
      VolumeCase c{shape, {}, {}};
      c.values.resize(std::size_t(shape.depth) * shape.height * shape.width);
      c.labels.resize(c.values.size());
      for (std::size_t i = 0; i < c.values.size(); ++i) {
        const std::uint32_t n = draw_of(std::uint32_t(i), 5);
        c.values[i] = kind == 0   ? static_cast<std::int16_t>(n % 10 == 0 ? -1000 : int(n % 90))
                      : kind == 1 ? std::int16_t{-32768}
                                  : static_cast<std::int16_t>(n);
        c.labels[i] = static_cast<std::uint8_t>(n % 7 == 0 ? kIgnoreLabel : n % 3);
      }
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

inline void expect_volumes_of_a_loop(StatisticsDevice& device) {
  for (const VolumeCase& c : volume_cases()) {
    const SlicesShape& s = c.shape;
    const std::int64_t words = s.words();
    const auto count = static_cast<std::size_t>(s.depth * s.height * words);
    There there(device);
    const std::int16_t* values = there.sent(c.values);
    auto* bits = there.room<std::uint64_t>(count);
    there.queue().gather(ThresholdWord{s, values, -300, bits});
    const auto above = there.fetched(bits, count);
    const auto get = [&](const std::vector<std::uint64_t>& mask, std::int64_t row, std::int64_t x) {
      return (mask[std::size_t(row * words + (x >> 6))] >> (x & 63) & 1) != 0;
    };
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / s.width;
      ASSERT_EQ(get(above, row, static_cast<std::int64_t>(i) % s.width), c.values[i] > -300);
      set += c.values[i] > -300 ? 1 : 0;
    }
    std::uint64_t bits_set = 0;
    for (const std::uint64_t word : above) bits_set += std::uint64_t(std::popcount(word));
    ASSERT_EQ(bits_set, set) << "bits beyond a row's end";

    for (const auto& [ry, rx] : {std::pair{0, 0}, {1, 2}, {3, 1}, {2, 16}, {40, 63}}) {
      for (const bool erode : {true, false}) {
        auto* along = there.room<std::uint64_t>(count);
        auto* out = there.room<std::uint64_t>(count);
        there.queue().gather(WordAlongX{s, bits, along, rx, erode});
        there.queue().gather(WordAlongY{s, along, erode ? nullptr : bits, out, ry, erode});
        const auto got = there.fetched(out, count);
        std::uint64_t got_set = 0, expected_set = 0;
        for (const std::uint64_t word : got) got_set += std::uint64_t(std::popcount(word));
        for (std::int64_t row = 0; row < s.depth * s.height; ++row) {
          for (std::int64_t x = 0; x < s.width; ++x) {
            bool expected = erode;
            const std::int64_t y = row % s.height;
            for (std::int64_t ny = std::max<std::int64_t>(0, y - ry);
                 ny <= std::min<std::int64_t>(s.height - 1, y + ry); ++ny) {
              for (std::int64_t nx = std::max<std::int64_t>(0, x - rx);
                   nx <= std::min<std::int64_t>(s.width - 1, x + rx); ++nx) {
                const bool other = get(above, row - y + ny, nx);
                expected = erode ? expected && other : expected || other;
              }
            }
            if (!erode) expected = expected && get(above, row, x);
            ASSERT_EQ(get(got, row, x), expected) << ry << "," << rx << " erode " << erode;
            expected_set += expected ? 1 : 0;
          }
        }
        ASSERT_EQ(got_set, expected_set) << "bits beyond a row's end";
      }
    }

    const std::uint8_t* labels = there.sent(c.labels);
    for (const int by : {0, 1, 2}) {  // every voxel, the mask's, those with a label
      auto* counts = there.cleared<std::uint64_t>(65536);
      there.queue().gather(IntensityCount{s, values, by == 1 ? bits : nullptr,
                                          by == 2 ? labels : nullptr, kIgnoreLabel, counts});
      std::vector<std::uint64_t> expected(65536);
      for (std::size_t i = 0; i < c.values.size(); ++i) {
        if (by == 1 && c.values[i] <= -300) continue;
        if (by == 2 && (c.labels[i] == 0 || c.labels[i] == kIgnoreLabel)) continue;
        ++expected[std::size_t(int(c.values[i]) + 32768)];
      }
      ASSERT_TRUE(there.fetched(counts, 65536) == expected) << by;
    }
  }
}

}  // namespace headrace::pixels::fixtures
