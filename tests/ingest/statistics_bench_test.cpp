// The bench of statistics, with the host in a GPU's place: its results are compared before they are
// timed, and small ones are the CPU's.
#include <gtest/gtest.h>

#include "bench/device/statistics_table.hpp"
#include "tests/pixels/host_statistics.hpp"

namespace headrace::bench {
namespace {

TEST(StatisticsBench, FindsTheCpusResults) {
  pixels::fixtures::HostStatistics device;
  Table table(device, 1);
  table.images(512);
  table.tissue(300);
  table.volume(3, 96);
  EXPECT_TRUE(table.same());
  EXPECT_GT(device.passes(), 20);
}

}  // namespace
}  // namespace headrace::bench
