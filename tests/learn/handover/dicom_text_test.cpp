// Values, UIDs and codes of DICOM objects.
#include <gtest/gtest.h>

#include "learn/handover/dicom/derived_uid.hpp"
#include "learn/handover/dicom/dicom_text.hpp"
#include "learn/handover/dicom/segment_codes.hpp"

namespace headrace::handover {
namespace {

TEST(DicomText, DecimalsAreShort) {
  EXPECT_EQ(decimal_text(0), "0");
  EXPECT_EQ(decimal_text(-1e-9), "0");
  EXPECT_EQ(decimal_text(100), "100");
  EXPECT_EQ(decimal_text(-272.95), "-272.95");
  EXPECT_EQ(decimal_text(1.0 / 3), "0.333333");
  EXPECT_LE(decimal_text(-9999999.123456).size(), 16u);
}

TEST(DicomText, ValuesHaveNoBackslashAndAreCutByCharacters) {
  EXPECT_EQ(value_text("a\\b\nc", 10, false), "a b c");
  EXPECT_EQ(value_text("L\xc3\xa4sion", 10, true), "L\xc3\xa4sion");
  EXPECT_EQ(value_text("L\xc3\xa4sion", 10, false), "L?sion");
  EXPECT_EQ(value_text("L\xc3\xa4sion", 2, true), "L\xc3\xa4");
}

TEST(DicomText, DatesAndTimes) {
  const std::chrono::sys_seconds time{std::chrono::seconds(1700000000)};
  EXPECT_EQ(date_text(time), "20231114");
  EXPECT_EQ(time_text(time), "221320");
}

TEST(DicomText, ColoursAreThoseOfCielabWithD50) {
  const auto near = [](const std::array<std::uint16_t, 3>& lab, double l, double a, double b) {
    EXPECT_NEAR(lab[0] / 65535.0 * 100, l, 0.02);
    EXPECT_NEAR(lab[1] / 65535.0 * 255 - 128, a, 0.02);
    EXPECT_NEAR(lab[2] / 65535.0 * 255 - 128, b, 0.02);
  };
  near(cielab_of({255, 255, 255}), 100, 0, 0);
  near(cielab_of({0, 0, 0}), 0, 0, 0);
  near(cielab_of({255, 0, 0}), 54.29, 80.80, 69.89);  // as ICC profiles of sRGB state it
}

TEST(DerivedUid, IsTheNumberOfAUuidMadeFromSha256) {
  // By Python: int.from_bytes of sha256(text)[:16] with version 8 and the variant set.
  EXPECT_EQ(derived_uid(""), "2.25.302652579918966106791432553938847512868");
  EXPECT_EQ(derived_uid("headrace"), "2.25.213493579319432460666170348170056134085");
}

TEST(SegmentCodes, KnowsNamesInAnySpelling) {
  EXPECT_EQ(segment_codes("liver").type.value, "10200004");
  EXPECT_EQ(segment_codes("Small_Bowel").type.value, "30315005");
  EXPECT_EQ(segment_codes("back muscles").category.value, "85756007");
  EXPECT_EQ(segment_codes("Lesions").category.value, "49755003");
  EXPECT_TRUE(is_anatomy(segment_codes("spleen")));
  EXPECT_FALSE(is_anatomy(segment_codes("tumour")));
}

TEST(SegmentCodes, TakesTheSideOfPairedOrgans) {
  const SegmentCodes left = segment_codes("kidney_left");
  ASSERT_TRUE(left.laterality.has_value());
  EXPECT_EQ(left.laterality->value, "7771000");
  EXPECT_EQ(left.type, segment_codes("kidneys").type);
  EXPECT_EQ(segment_codes("right lung").laterality->value, "24028007");
}

TEST(SegmentCodes, UnknownNamesAreTissue) {
  const SegmentCodes codes = segment_codes("class_3");
  EXPECT_EQ(codes.type.value, "85756007");
  EXPECT_FALSE(codes.laterality.has_value());
}

}  // namespace
}  // namespace headrace::handover
