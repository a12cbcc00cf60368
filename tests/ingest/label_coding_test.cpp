#include <gtest/gtest.h>

#include "headrace/core/class_sets.hpp"
#include "headrace/core/error.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/slide/label_source.hpp"

namespace headrace::ingest {
namespace {

TEST(LabelCoding, MapsEachProvidersValuesToTheCanonicalClasses) {
  const auto sets = parse_class_sets(panda_class_sets(), gleason_classes(), "test");
  EXPECT_EQ(sets, (std::vector<ClassSet>{{"benign_tissue", {0, 1, 2}}, {"cancer", {3, 4, 5}}}));
  const auto names = label_names(gleason_classes(), sets);
  const auto radboud = coding_table(MaskCoding::panda_radboud, names),
             karolinska = coding_table(MaskCoding::panda_karolinska, names);
  EXPECT_EQ((std::vector<int>(radboud.begin(), radboud.begin() + 7)),
            (std::vector<int>{0, 0, 1, 3, 4, 5, -1}));
  EXPECT_EQ((std::vector<int>(karolinska.begin(), karolinska.begin() + 4)),
            (std::vector<int>{0, 6, 7, -1}));
  EXPECT_THROW(coding_table(MaskCoding::panda_karolinska, gleason_classes()), Error);
  const auto plain = coding_table(MaskCoding::classes, {"a", "b", "c"}),
             instances = coding_table(MaskCoding::instances, {"a", "b"});
  EXPECT_EQ((std::vector<int>(plain.begin(), plain.begin() + 4)), (std::vector<int>{0, 1, 2, -1}));
  EXPECT_EQ(plain[255], 255);
  EXPECT_EQ(plain[256], -1);
  EXPECT_EQ(instances[0], 0);
  EXPECT_EQ(instances[65535], 1);
}

TEST(LabelCoding, KnowsClassNamesAsPathologistsWriteThem) {
  const auto& classes = gleason_classes();
  for (const char* name :
       {"pattern4", "Pattern 4", "Gleason 4", "gleason_4", "G4", "Gleason pattern 4"}) {
    EXPECT_EQ(class_value(name, classes), 4) << name;
  }
  EXPECT_EQ(class_value("HGPIN", classes), 2);
  try {
    class_value("Necrosis", classes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("background, benign, hgpin"), std::string::npos)
        << error.what();
  }
}

TEST(Split, OfACaseNeverMovesAndKeepsTheShare) {
  int val = 0;
  for (int i = 0; i < 10000; ++i)
    val += split_of_case("case-" + std::to_string(i), 0.2) == "val" ? 1 : 0;
  // Binomial: 2000 ± 40 is one standard deviation.
  EXPECT_NEAR(val, 2000, 200);
  EXPECT_EQ(split_of_case("a", 0), "train");
  EXPECT_EQ(split_of_case("a", 1), "val");
  // sha256("a") starts with ca978112ca1bb: 0.79.
  EXPECT_EQ(split_of_case("a", 0.79), "train");
  EXPECT_EQ(split_of_case("a", 0.80), "val");
}

TEST(ImageId, IsTheStemWithoutOddLetters) {
  EXPECT_EQ(id_of_file("/x/Slide 12 (a).svs"), "Slide_12__a_");
  EXPECT_EQ(id_of_file("b.ome.tif"), "b.ome");
  EXPECT_EQ(id_of_file("..hidden.png"), "_.hidden");
}

}  // namespace
}  // namespace headrace::ingest
