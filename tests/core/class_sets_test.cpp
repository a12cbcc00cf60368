#include "headrace/core/class_sets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/error_of.hpp"

namespace headrace {
namespace {

const std::vector<std::string> kClasses{"background", "benign", "pattern3", "pattern4"};

std::string refused(const std::vector<std::string>& texts) {
  return error_of(ErrorCode::usage, [&] { parse_class_sets(texts, kClasses, "--class-sets"); });
}

TEST(ClassSets, AreSortedByNameAndCarryClassValues) {
  const auto sets = parse_class_sets({"tumour=pattern4+pattern3", "any=benign+pattern3"}, kClasses,
                                     "--class-sets");
  EXPECT_EQ(sets, (std::vector<ClassSet>{{"any", {1, 2}}, {"tumour", {2, 3}}}));
  EXPECT_EQ(
      label_names(kClasses, sets),
      (std::vector<std::string>{"background", "benign", "pattern3", "pattern4", "any", "tumour"}));
  EXPECT_EQ(class_sets_of(to_json(sets, kClasses), kClasses, "zarr.json"), sets);
}

TEST(ClassSets, ALabelValueStandsForItsClassOrThoseOfItsSet) {
  const auto masks = classes_by_value(4, {{"any", {1, 2}}, {"tumour", {2, 3}}});
  ASSERT_EQ(masks.size(), 256u);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(masks[c], ClassMask(1u << c)) << c;
  EXPECT_EQ(masks[4], ClassMask(0b0110));
  EXPECT_EQ(masks[5], ClassMask(0b1100));
  for (std::size_t value = 6; value < 256; ++value) EXPECT_TRUE(masks[value].none()) << value;
}

TEST(ClassSets, EveryMistakeIsNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(refused({"cancer"}), HasSubstr("--class-sets: expected NAME=CLASS+CLASS"));
  EXPECT_THAT(refused({"cancer=pattern3+patern4"}), HasSubstr("did you mean 'pattern4'?"));
  EXPECT_THAT(refused({"benign=pattern3+pattern4"}), HasSubstr("a name that no class has"));
  EXPECT_THAT(refused({"=pattern3+pattern4"}), HasSubstr("a name that no class has"));
  EXPECT_THAT(refused({"cancer=pattern3"}), HasSubstr("two or more different classes"));
  EXPECT_THAT(refused({"cancer=pattern3+pattern3"}), HasSubstr("two or more different classes"));
  EXPECT_THAT(refused({"c=benign+pattern3", "c=benign+pattern4"}), HasSubstr("stands there twice"));
  EXPECT_THAT(refused({"a=benign+pattern3", "b=pattern3+benign"}),
              HasSubstr("sets 'a' and 'b' are of the same classes"));
  EXPECT_THROW(class_sets_of(Json{{"c", "pattern3"}}, kClasses, "zarr.json"), Error);
}

TEST(ClassSets, DecideOnlyWhatAllTheirClassesSay) {
  const std::vector<ClassSet> sets{{"any", {1, 2}}, {"tumour", {2, 3}}};
  const auto tumour = region_membership({false, false, true, true}, sets);
  using enum Membership;
  EXPECT_EQ(
      (std::vector<Membership>(tumour.begin(), tumour.begin() + 7)),
      (std::vector<Membership>{outside, outside, inside, inside, undecided, inside, undecided}));
  EXPECT_EQ(tumour[255], undecided);
  EXPECT_EQ(region_membership({true, false, false, false}, sets)[4], outside);
}

}  // namespace
}  // namespace headrace
