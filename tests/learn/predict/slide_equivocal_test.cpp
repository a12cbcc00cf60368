#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "learn/predict/slide/equivocal_regions.hpp"

namespace headrace::predict {
namespace {

/// Pixels of 100 µm: 0.01 mm².
SlideFacts gleason_facts() {
  SlideFacts facts;
  facts.map.mpp = 100;
  facts.rule.classes = {"background", "benign", "p3", "p4", "p5"};
  facts.rule.tumour = {false, false, true, true, true};
  facts.rule.gleason = true;
  facts.rule.patterns = measure::find_gleason_classes(facts.rule.classes);
  return facts;
}

/// A region with these mean probabilities, in 255ths.
SlideRegion region(std::uint8_t label, std::uint64_t pixels, std::vector<std::uint64_t> means) {
  SlideRegion made;
  made.label = label;
  made.pixels = pixels;
  for (std::uint64_t& mean : means) mean *= pixels;
  made.probability_sums = std::move(means);
  return made;
}

TEST(Equivocal, WhatChangesTheGradeGroupIsFirst) {
  const SlideFacts facts = gleason_facts();
  // 600 of pattern 3 and 400 of 4: 3+4, group 2. The second region would make it 4+3, group 3. The
  // first is larger and in more doubt, but changes nothing.
  const std::vector<std::uint64_t> areas{0, 5000, 600, 400, 0};
  const std::vector<SlideRegion> regions{
      region(3, 300, {0, 0, 125, 130, 0}),  // as 3: 900 and 100, still 3+4
      region(2, 110, {5, 5, 125, 120, 0}),  // as 4: 490 and 510
      region(2, 40, {0, 0, 130, 125, 0}),   // as 4: 560 and 440
      region(1, 900, {0, 130, 125, 0, 0}),  // not tumour
      region(2, 200, {0, 0, 240, 15, 0}),   // certain
  };
  const auto found = find_equivocal(facts, areas, regions);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].region, 1u);
  EXPECT_TRUE(found[0].changes_grade());
  EXPECT_EQ(found[0].grade_group, 2);
  EXPECT_EQ(found[0].second_grade_group, 3);
  EXPECT_EQ(found[0].second, 3);
  EXPECT_DOUBLE_EQ(found[0].doubt, 240.0 / 245);
  EXPECT_EQ(doubt_sentence(found[0], regions[1], facts),
            "pattern 3 (0.49) or pattern 4 (0.47), 1.1 mm²; as pattern 4 the grade group would be "
            "3 instead of 2");
  EXPECT_EQ(found[1].region, 0u);
  EXPECT_FALSE(found[1].changes_grade());
  EXPECT_EQ(doubt_sentence(found[1], regions[0], facts),
            "pattern 4 (0.51) or pattern 3 (0.49), 3.0 mm²; the grade group stays 2");
  EXPECT_EQ(found[2].region, 2u);
}

TEST(Equivocal, TumourOrNot) {
  const SlideFacts facts = gleason_facts();
  // Only this region is cancer, 30 of 1000. Tumour has 90 + 30 + 15 of 255, the rest 120.
  const std::vector<SlideRegion> regions{region(2, 30, {40, 80, 90, 30, 15})};
  const auto found = find_equivocal(facts, {0, 970, 30, 0, 0}, regions);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].about, DoubtAbout::tumour);
  EXPECT_EQ(found[0].second, 1);
  EXPECT_DOUBLE_EQ(found[0].doubt, 240.0 / 255);
  EXPECT_EQ(found[0].second_grade_group, 0);
  EXPECT_EQ(doubt_sentence(found[0], regions[0], facts),
            "tumour (0.53) or not (0.47, most likely benign), 0.3 mm²; as benign the slide would "
            "have no cancer");
}

TEST(Equivocal, OfTwoDoubtsTheOneThatChangesTheGradeGroup) {
  const SlideFacts facts = gleason_facts();
  // Benign is the greater doubt (0.94), but only pattern 4 (0.90) changes the group.
  const std::vector<SlideRegion> regions{region(2, 100, {0, 120, 74, 61, 0})};
  const auto found = find_equivocal(facts, {0, 5000, 1000, 0, 0}, regions);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].about, DoubtAbout::its_class);
  EXPECT_EQ(found[0].second, 3);
  EXPECT_EQ(found[0].second_grade_group, 2);
  EXPECT_DOUBLE_EQ(found[0].doubt, 122.0 / 135);
}

TEST(Equivocal, CancerThatIsTooLittle) {
  const SlideFacts facts = gleason_facts();
  // 15 of 1000 is no cancer, of whichever pattern.
  const std::vector<SlideRegion> regions{region(2, 5, {0, 0, 128, 127, 0})};
  const auto found = find_equivocal(facts, {0, 985, 15, 0, 0}, regions);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].changes_grade());
  EXPECT_EQ(doubt_sentence(found[0], regions[0], facts),
            "pattern 3 (0.50) or pattern 4 (0.50), 0.05 mm²");
}

TEST(Equivocal, ThresholdIsTheOption) {
  SlideFacts facts = gleason_facts();
  const std::vector<SlideRegion> regions{region(2, 10, {0, 0, 150, 50, 0})};  // doubt 0.5
  const std::vector<std::uint64_t> areas{0, 500, 100, 0, 0};
  EXPECT_TRUE(find_equivocal(facts, areas, regions).empty());
  facts.options.min_doubt = 0.5;
  EXPECT_TRUE(find_equivocal(facts, areas, regions).empty());
  facts.options.min_doubt = 0.49;
  EXPECT_EQ(find_equivocal(facts, areas, regions).size(), 1u);
}

TEST(Equivocal, WithoutGradeAnyOtherClass) {
  SlideFacts facts = gleason_facts();
  facts.rule.gleason = false;
  facts.map.mpp = 0;
  const std::vector<SlideRegion> regions{region(2, 12, {100, 30, 120, 5, 0}),
                                         region(3, 40, {0, 20, 80, 155, 0})};
  const auto found = find_equivocal(facts, {0, 0, 12, 40, 0}, regions);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].region, 1u);  // 0.68 · 40 is more than 0.91 · 12
  EXPECT_EQ(found[1].region, 0u);
  EXPECT_EQ(found[1].second, 0);
  EXPECT_EQ(doubt_sentence(found[1], regions[0], facts),
            "p3 (0.47) or background (0.39), 12 pixels");
}

TEST(Equivocal, OneClassIsNoDoubt) {
  SlideFacts facts;
  facts.rule.classes = {"background"};
  facts.rule.tumour = {false};
  EXPECT_TRUE(find_equivocal(facts, {10}, {}).empty());
}

}  // namespace
}  // namespace headrace::predict
