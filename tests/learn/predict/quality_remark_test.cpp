#include <gtest/gtest.h>

#include <set>

#include "learn/predict/quality/remark.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::predict {
namespace {

TEST(QualityRemark, EveryCodeHasItsOwnSentenceAndComesBackFromJson) {
  std::set<std::string> sentences;
  for (const auto& [code, name] : kNamesOf<QualityCode>) {
    const Remark remark =
        make_remark(code, Severity::warning, std::vector<double>(value_count(code), 1.5));
    EXPECT_TRUE(sentences.insert(text_of(remark)).second) << name;
    EXPECT_GT(text_of(remark).size(), 20u) << name;
    EXPECT_EQ(remark_from_json(to_json(remark), "findings.json"), remark) << name;
  }
  EXPECT_EQ(to_json(std::vector{make_remark(QualityCode::pen_marks, Severity::note, {0.25, -1e-9})})
                .dump(),
            R"([{"code":"pen-marks","severity":"note","values":[0.25,0.0]}])");
}

TEST(QualityRemark, SentencesNameTheNumbers) {
  EXPECT_EQ(text_of(make_remark(QualityCode::blurred, Severity::warning, {28.4, 60, 0.75, 40, 1})),
            "The slide is blurred: sharpness 28.4, expected at least 60 (median of 40 windows on "
            "tissue at 1.00 µm a pixel, 75 % of them below).");
  EXPECT_EQ(text_of(make_remark(QualityCode::smaller_than_patch, Severity::note,
                                {30, 200, 200, 48, 96, 96, 1})),
            "The volume is smaller than one patch of the run: 30×200×200 mm (z, y, x), the patch "
            "48×96×96.");
  EXPECT_EQ(text_of(make_remark(QualityCode::sharpness_not_judged, Severity::note, {0, 0})),
            "Sharpness was not judged: the slide's micrometres a pixel are not known.");
}

TEST(QualityRemark, RefusesOtherValuesAndOtherJson) {
  error_of(ErrorCode::internal, [] { make_remark(QualityCode::no_body, Severity::note, {1}); });
  for (const char* text : {R"({"code": "no-body", "severity": "note"})",
                           R"({"code": "no-body", "severity": "note", "values": [1]})",
                           R"({"code": "no-body", "severity": "grave", "values": []})",
                           R"({"code": "no-soul", "severity": "note", "values": []})", R"([])"}) {
    EXPECT_NE(error_of(ErrorCode::malformed,
                       [&] { remark_from_json(parse_json(text, "t"), "findings.json"); })
                  .find("findings.json: a remark is no code"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace headrace::predict
