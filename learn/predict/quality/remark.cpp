#include "learn/predict/quality/remark.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"

namespace headrace::predict {
namespace {

std::string slide_text(const Remark& remark) {
  const auto& v = remark.values;
  switch (remark.code) {
    case QualityCode::no_tissue:
      return fmt::format("No tissue was found on the slide ({:.2f} % of the image).", 100 * v[0]);
    case QualityCode::little_tissue:
      return fmt::format("The tissue has {:.2g} times the area of one patch of the run.", v[0]);
    case QualityCode::blurred:
      return fmt::format(
          "The slide is blurred: sharpness {:.3g}, expected at least {:.3g} (median of {:.0f} "
          "windows on tissue at {:.2f} µm a pixel, {:.0f} % of them below).",
          v[0], v[1], v[3], v[4], 100 * v[2]);
    case QualityCode::partly_blurred:
      return fmt::format(
          "{:.0f} % of {:.0f} windows on tissue are blurred (sharpness below {:.3g} at {:.2f} µm a "
          "pixel; median {:.3g}).",
          100 * v[2], v[3], v[1], v[4], v[0]);
    case QualityCode::sharpness_not_judged:
      if (v[0] == 0)
        return "Sharpness was not judged: the slide's micrometres a pixel are not known.";
      return fmt::format("Sharpness was not judged: {:.2f} µm a pixel, {:.0f} windows on tissue.",
                         v[0], v[1]);
    case QualityCode::pen_marks:
      return fmt::format(
          "Pen marks on {:.2f} % of the image ({:.2f} % coloured ink, {:.2f} % black).",
          100 * (v[0] + v[1]), 100 * v[0], 100 * v[1]);
    case QualityCode::not_bright_field:
      return fmt::format(
          "{:.0f} % of the image is black: it does not look like a bright-field slide.",
          100 * v[0]);
    case QualityCode::stain_differs:
      return fmt::format(
          "The stains differ from the run's reference: haematoxylin by {:.0f}°, eosin by {:.0f}°, "
          "expected at most {:.0f}°.",
          v[0], v[1], v[2]);
    case QualityCode::colour_differs:
      return fmt::format(
          "The colour of the tissue is {:.1f} standard deviations of optical density from that of "
          "the run's training slides, expected at most {:.1f}.",
          v[0], v[1]);
    case QualityCode::unknown_scanner:
      return fmt::format(
          "The run does not know the slide's scanner; it was trained on slides of {:.0f}.", v[0]);
    case QualityCode::coarse_pixels:
      return fmt::format(
          "The slide has {:.3g} µm a pixel, {:.2f} times the {:.3g} µm that the run works at.",
          v[0], v[2], v[1]);
    default:
      return {};
  }
}

std::string volume_text(const Remark& remark) {
  const auto& v = remark.values;
  switch (remark.code) {
    case QualityCode::no_body:
      return "No body was found in the volume.";
    case QualityCode::little_body:
      return fmt::format(
          "The volume shows {:.3g} l of body, less than one patch of the run "
          "({:.3g} l).",
          v[0], v[1]);
    case QualityCode::smaller_than_patch:
      return fmt::format(
          "The volume is smaller than one patch of the run: {:.0f}×{:.0f}×{:.0f} {} (z, y, x), the "
          "patch {:.0f}×{:.0f}×{:.0f}.",
          v[0], v[1], v[2], v[6] == 1 ? "mm" : "voxels", v[3], v[4], v[5]);
    case QualityCode::coarse_spacing:
      return fmt::format(
          "The volume's spacing is {:.3g}×{:.3g}×{:.3g} mm (z, y, x), up to {:.2f} times that of "
          "the run ({:.3g}×{:.3g}×{:.3g} mm).",
          v[0], v[1], v[2], v[6], v[3], v[4], v[5]);
    case QualityCode::channel_missing:
      return fmt::format("The volume lacks channel {:.0f} of the run; zeros stand for it.", v[0]);
    case QualityCode::unit_implausible:
      return fmt::format(
          "The values of channel {:.0f} do not look like its unit: mean {:.4g}, percentiles 0.5 "
          "and 99.5 of the body {:.4g} and {:.4g}.",
          v[0], v[1], v[2], v[3]);
    case QualityCode::intensity_differs:
      return fmt::format(
          "Of the body in channel {:.0f}, {:.2f} % have intensities as under the labels of the "
          "training ({:.4g} to {:.4g}); the body's mean lies {:.1f} standard deviations from "
          "theirs.",
          v[0], 100 * v[1], v[2], v[3], v[4]);
    default:
      return {};
  }
}

}  // namespace

std::size_t value_count(QualityCode code) {
  switch (code) {
    case QualityCode::no_body:
      return 0;
    case QualityCode::no_tissue:
    case QualityCode::little_tissue:
    case QualityCode::not_bright_field:
    case QualityCode::unknown_scanner:
    case QualityCode::channel_missing:
      return 1;
    case QualityCode::sharpness_not_judged:
    case QualityCode::pen_marks:
    case QualityCode::colour_differs:
    case QualityCode::little_body:
      return 2;
    case QualityCode::stain_differs:
    case QualityCode::coarse_pixels:
      return 3;
    case QualityCode::unit_implausible:
      return 4;
    case QualityCode::blurred:
    case QualityCode::partly_blurred:
    case QualityCode::intensity_differs:
      return 5;
    case QualityCode::smaller_than_patch:
    case QualityCode::coarse_spacing:
      return 7;
  }
  fail(ErrorCode::internal, "a remark of unknown code");
}

Remark make_remark(QualityCode code, Severity severity, std::vector<double> values) {
  if (values.size() != value_count(code)) {
    fail(ErrorCode::internal, "a remark '{}' of {} values, expected {}", headrace::name_of(code),
         values.size(), value_count(code));
  }
  for (double& value : values) value = to_six_decimals(value);
  return {code, severity, std::move(values)};
}

std::string text_of(const Remark& remark) {
  const std::string text = slide_text(remark);
  return text.empty() ? volume_text(remark) : text;
}

std::string texts_of(const std::vector<Remark>& remarks) {
  std::string out;
  for (const Remark& remark : remarks)
    out += fmt::format("; {}: {}", headrace::name_of(remark.severity), text_of(remark));
  return out;
}

Json to_json(const Remark& remark) {
  return {{"code", std::string(headrace::name_of(remark.code))},
          {"severity", std::string(headrace::name_of(remark.severity))},
          {"values", remark.values}};
}

Json to_json(const std::vector<Remark>& remarks) {
  Json list = Json::array();
  for (const Remark& remark : remarks) list.push_back(to_json(remark));
  return list;
}

Remark remark_from_json(const Json& json, const std::string& origin) {
  try {
    const auto code = value_named<QualityCode>(json.at("code").get<std::string>());
    const auto severity = value_named<Severity>(json.at("severity").get<std::string>());
    const auto values = json.at("values").get<std::vector<double>>();
    if (code && severity && values.size() == value_count(*code)) return {*code, *severity, values};
  } catch (const Json::exception&) {
    // Told below.
  }
  fail(ErrorCode::malformed,
       "{}: a remark is no code of this Headrace with its severity and values: written by a newer "
       "Headrace, or damaged; predict the image again",
       origin);
}

}  // namespace headrace::predict
