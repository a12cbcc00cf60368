// Which values can't be of their unit: histograms by hand, and those of phantoms of the situation.
#include "headrace/ingest/volume/value_check.hpp"

#include <gtest/gtest.h>

#include <map>

namespace headrace::ingest {
namespace {

using imaging::NoteCode;

/// Counts by stored value; `each` of every value from `low` to `high`.
struct Part {
  int low, high, each;
};

IntensityHistogram of(const std::vector<Part>& parts, IntensityUnit unit = IntensityUnit::hu) {
  IntensityHistogram histogram(unit);
  for (const Part& part : parts) {
    for (int value = part.low; value <= part.high; ++value) {
      for (int i = 0; i < part.each; ++i) histogram.add(static_cast<std::int16_t>(value));
    }
  }
  return histogram;
}

/// Judged with a body that is all of it.
ValueFindings judged(const std::vector<Part>& parts, IntensityUnit unit = IntensityUnit::hu) {
  const IntensityHistogram all = of(parts, unit);
  return judge_values(0, all, all);
}

const std::vector<Part> kCt{{-1000, -980, 40}, {-110, -90, 10}, {20, 80, 10}, {300, 900, 1}};

std::vector<Part> moved(std::vector<Part> parts, int by) {
  for (Part& part : parts) {
    part.low += by;
    part.high += by;
  }
  return parts;
}

void expect_impossible(const std::vector<Part>& parts, const std::string& words,
                       IntensityUnit unit = IntensityUnit::hu) {
  const auto found = judged(parts, unit);
  EXPECT_NE(found.impossible.find(words), std::string::npos) << words << ": " << found.impossible;
  EXPECT_FALSE(found.notes.empty()) << "said, too, where it is accepted";
}

TEST(ValueUnits, ArePlausibleByThePercentilesOfABody) {
  EXPECT_TRUE(is_plausible({100, 7, 169, -245, 1096}, IntensityUnit::hu)) << "samples/ct/sts-008";
  EXPECT_FALSE(is_plausible({100, 300, 200, 5, 1100}, IntensityUnit::hu)) << "as MR";
  EXPECT_TRUE(is_plausible({100, 1.1, 1.4, 0, 9}, IntensityUnit::suv));
  EXPECT_FALSE(is_plausible({100, 7, 169, -245, 1096}, IntensityUnit::suv)) << "HU";
  EXPECT_FALSE(is_plausible({100, 300, 200, 5, 1100}, IntensityUnit::suv));
}

TEST(ValueCheck, HuAreTakenWithoutAWord) {
  for (const auto& parts :
       {kCt, std::vector<Part>{{-3024, -3024, 900}, {-1000, -980, 40}, {-110, 80, 5}},
        std::vector<Part>{{-2000, -2000, 900}, {-950, -700, 4}, {-20, 60, 1}}}) {
    const auto found = judged(parts);
    EXPECT_EQ(found.impossible, "");
    EXPECT_TRUE(found.notes.empty());
  }
}

TEST(ValueCheck, ACropWithoutAirIsNotedAndTaken) {
  const auto organ = judged({{-10, 120, 10}});
  EXPECT_EQ(organ.impossible, "");
  ASSERT_EQ(organ.notes.size(), 1u);
  EXPECT_EQ(organ.notes[0].code, NoteCode::values_implausible);
  EXPECT_EQ(organ.notes[0].values[1], 55) << "the mean of -10 to 120";
  EXPECT_EQ(judged({{-60, 60, 5}, {100, 900, 3}}).impossible, "") << "of bone";
  EXPECT_TRUE(judged({{-130, 120, 10}}).notes.empty()) << "with fat";
}

TEST(ValueCheck, ClippedHuAreNotedAndTaken) {
  const auto window = judged({{-160, -160, 3000}, {-159, 239, 10}, {240, 240, 400}});
  EXPECT_EQ(window.impossible, "");
  ASSERT_EQ(window.notes.size(), 1u);
  EXPECT_EQ(window.notes[0].code, NoteCode::values_cut);
  EXPECT_EQ(window.notes[0].values, (std::vector<double>{0, -160, 240, 40.595399}));
  const auto brain = judged({{0, 0, 3000}, {1, 79, 60}, {80, 80, 900}});
  EXPECT_EQ(brain.impossible, "");
  EXPECT_EQ(brain.notes.size(), 2u) << "implausible, and cut";
  EXPECT_EQ(judged({{0, 0, 5000}, {1, 120, 60}, {121, 1000, 1}}).impossible, "") << "0 to 1000";
}

TEST(ValueCheck, WhatRoundingDestroysIsImpossible) {
  expect_impossible({{0, 1, 1000}}, "0 to 1 HU, of which 2 different ones would be stored");
  expect_impossible({{-3, 5, 100}}, "-3 to 5 HU, of which 9 different");
  expect_impossible({{0, 0, 1000}, {255, 255, 50}}, "0 to 255");
  expect_impossible({{7, 7, 1000}}, "are 7 HU in every voxel");
  expect_impossible({{0, 0, 9000}, {1, 12, 100}, {13, 16, 1}}, "0 to 16 HU");  // SUV as HU
  EXPECT_EQ(judged({{-15, 15, 100}}).impossible, "") << "water and its noise";
  EXPECT_EQ(judged({{-1000, -1000, 900}, {40, 40, 300}}).impossible, "") << "a phantom";
  expect_impossible({{0, 4, 1000}}, "0 to 0.04 SUV", IntensityUnit::suv);
}

TEST(ValueCheck, LostScalesAreImpossible) {
  expect_impossible(moved(kCt, 1024), "rescale 1,-1024");
  expect_impossible(moved(kCt, 1000), "too high");
  expect_impossible({{-2000, -2000, 500}, {24, 44, 40}, {914, 934, 10}, {1044, 1104, 10}},
                    "too high");  // with padding
  expect_impossible({{-2024, -2004, 40}, {-1134, -1114, 10}, {-1004, -944, 10}, {-800, -760, 1}},
                    "added twice");
  EXPECT_EQ(judged({{-2048, -2048, 900}, {-1020, -980, 40}, {-50, 20, 1}}).impossible, "")
      << "a finger, with padding";
  expect_impossible({{0, 0, 900}, {1, 254, 10}, {255, 255, 200}}, "8 bits");
}

TEST(ValueCheck, MrIsImpossible) {
  expect_impossible({{0, 30, 100}, {31, 1200, 2}}, "MR is not supported");
  expect_impossible({{0, 0, 6000}, {1, 1300, 2}}, "MR is not supported");
  expect_impossible({{0, 0, 6000}, {1, 30000, 1}}, "MR is not supported");  // PET in Bq/ml
}

TEST(ValueCheck, OfPet) {
  const auto suv = IntensityUnit::suv;
  const auto found = judged({{0, 10, 400}, {11, 900, 2}}, suv);
  EXPECT_EQ(found.impossible, "");
  EXPECT_TRUE(found.notes.empty());
  expect_impossible({{0, 0, 900}, {1, 99, 10}, {100, 100, 1}}, "divided by its maximum", suv);
  expect_impossible({{0, 100, 10}, {2000, 9000, 3}}, "Bq/ml", suv);
  expect_impossible({{-30000, 4000, 1}}, "HU", suv);
}

TEST(ValueCheck, ASampleIsOfAllRowsOrOfEvenlySpreadOnes) {
  const Shape3 small{2, 3, 4}, large{40, 500, 1000};
  std::vector<std::int16_t> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int16_t>(i);
  EXPECT_EQ(sampled_values(values.data(), small, IntensityUnit::hu).count(), 24u);
  values.assign(20'000'000, 0);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int16_t>(i / 1000 % 500 + 1000 * (i / 500'000));
  const auto sample = sampled_values(values.data(), large, IntensityUnit::hu);
  EXPECT_EQ(sample.count(), 4'000'000u) << "each fifth row";
  for (int z = 0; z < 30; ++z) {  // beyond int16 values wrap
    for (int y = 0; y < 500; ++y)
      EXPECT_EQ(sample.count_of(static_cast<std::int16_t>(1000 * z + y)),
                y % 5 == z % 5 ? 1000u : 0u);
  }
}

}  // namespace
}  // namespace headrace::ingest
