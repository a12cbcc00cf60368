#include "learn/handover/dicom/report_lesions.hpp"

#include "headrace/core/error.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::handover {
namespace {

constexpr std::size_t kMostLesions = 254;  // of a label image of bytes

std::string class_of(const Json& lesion) {
  return lesion.at("class").is_null() ? "lesion" : lesion.at("class").get<std::string>();
}

Lesion lesion_of(const Json& one, std::size_t number, bool below) {
  Lesion lesion;
  const auto score = one.at("score").get<double>();
  lesion.name = fmt::format("Lesion {} (score {:.2f}{})", number, score,
                            below ? ", below the operating point" : "");
  lesion.volume_ml = one.at("volume_ml").get<double>();
  lesion.long_axis_mm = one.at("longest_axial_diameter_mm").get<double>();
  lesion.short_axis_mm = one.at("perpendicular_axial_diameter_mm").get<double>();
  if (!one.at("probability").is_null()) lesion.probability = one.at("probability").get<double>();
  lesion.finding = segment_codes(class_of(one)).type;
  lesion.score = score;
  one.at("centre_lps_mm").get_to(lesion.centre_lps_mm);
  return lesion;
}

Segment segment_of(const Json& one, const Lesion& lesion, std::size_t number) {
  Segment segment;
  segment.value = static_cast<std::uint8_t>(number);
  segment.name = lesion.name;
  segment.rgb = pixels::class_colour(number);
  segment.codes = segment_codes(class_of(one));
  return segment;
}

/// Of which the threshold is part of the sentence, so that a reader can hold scores against it.
StudyFlag flag_of(const Json& study, const Json& flag) {
  const Json& point = flag.at("operating_point");
  const auto number = [&](const char* key) { return point.at(key).get<double>(); };
  return {
      flag.at("positive").get<bool>(),
      fmt::format("Highest score {:.3f}, operating point {:.3f}: the lowest score with at most "
                  "{:g} false positives a scan on the run's validation ({:.2f} there, {:.1f} % "
                  "of {:g} lesions in {:g} scans found).",
                  study.at("score").get<double>(), number("threshold"),
                  number("allowed_false_positives_per_scan"), number("false_positives_per_scan"),
                  100 * number("sensitivity"), number("lesions"), number("scans"))};
}

}  // namespace

ReportLesions report_lesions(const Json& findings) {
  ReportLesions out;
  const Json& study = findings.at("study");
  const Json& flag = study.at("flag");
  if (!flag.is_null()) out.flag = flag_of(study, flag);
  const double least =
      flag.is_null() ? 0 : flag.at("operating_point").at("threshold").get<double>();
  std::size_t number = 0;
  for (const Json& one : findings.at("lesions")) {
    ++number;
    const bool below = one.at("score").get<double>() < least;
    Lesion lesion = lesion_of(one, number, below);
    if (below) {
      out.below.push_back(std::move(lesion));
      continue;
    }
    if (number > kMostLesions) {
      fail(
          ErrorCode::unsupported,
          "a report of over {} lesions, of which a segmentation holds no more; export the table of "
          "lesions (csv)",
          kMostLesions);
    }
    out.segments.push_back(segment_of(one, lesion, number));
    lesion.segment = static_cast<std::uint16_t>(out.segments.size());
    out.lesions.push_back(std::move(lesion));
  }
  return out;
}

}  // namespace headrace::handover
