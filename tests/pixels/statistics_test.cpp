// The passes of statistics, one result at a time, in a queue that does nothing before it is waited
// for; and a real slide's pixels.
#include "tests/pixels/statistics_cases.hpp"

#include "headrace/core/error.hpp"
#include "tests/pixels/host_statistics.hpp"
#include "tests/transform/golden.hpp"

namespace headrace::pixels {
namespace {

using fixtures::HostStatistics;

TEST(Statistics, DarkestChannelsAreThoseOfALoop) {
  HostStatistics device;
  fixtures::expect_darkest_of_a_loop(device);
  EXPECT_EQ(device.held_device_bytes(), 0u);
}
TEST(Statistics, StainsAreTheAccumulators) {
  HostStatistics device;
  fixtures::expect_stains_of_the_accumulator(device);
}
TEST(Statistics, MasksAreThoseOfALoop) {
  HostStatistics device;
  fixtures::expect_masks_of_a_loop(device);
}
TEST(Statistics, VolumesAreThoseOfALoop) {
  HostStatistics device;
  fixtures::expect_volumes_of_a_loop(device);
}

TEST(Statistics, RealTissueHasTheSameStains) {
  const auto p = transform::fixtures::tissue_picture("tcga-lung-rgb.png");
  StainAccumulator expected, got;
  expected.add(p.rgb.data(), p.height * p.width);
  HostStatistics device;
  fixtures::There there(device);
  auto* totals = there.cleared<std::uint64_t>(kStainTotals);
  const std::int64_t across = (p.width + 255) / 256, blocks = across * ((p.height + 255) / 256);
  there.queue().gather(StainSums{{there.sent(p.rgb), 3 * p.width},
                                 p.height,
                                 p.width,
                                 0,
                                 0,
                                 {},
                                 blocks,
                                 across,
                                 blocks,
                                 256,
                                 totals,
                                 stain_rule(got.variant())});
  got.add_totals(there.fetched(totals, kStainTotals));
  ASSERT_TRUE(expected.estimate().has_value());
  EXPECT_EQ(got.estimate()->stain_od_rgb_he, expected.estimate()->stain_od_rgb_he);
  EXPECT_EQ(got.estimate()->max_concentration, expected.estimate()->max_concentration);
  EXPECT_THROW(got.add_totals(std::vector<std::uint64_t>(7)), Error);
}

}  // namespace
}  // namespace headrace::pixels
