#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"

namespace headrace::predict {

/// What may be remarked of an image that is predicted: its quality, and how well it fits the run.
/// A result holds the code and its values, never text, so nothing of a file can get into it by a
/// remark; the sentence is made when it is shown. A code keeps its name and its values for good,
/// since results hold them. Channels have numbers from 0, in the order of the model's input.
enum class QualityCode {
  // Slides.
  no_tissue,       ///< share of the image that is tissue
  little_tissue,   ///< tissue, in areas of one patch of the run
  blurred,         ///< median sharpness, limit, share of windows below it, windows, µm a pixel
  partly_blurred,  ///< the same
  sharpness_not_judged,  ///< µm a pixel of level 0 (0: not known), windows on tissue
  pen_marks,             ///< shares of the image: coloured ink, black ink
  not_bright_field,      ///< share of the image that is black
  stain_differs,         ///< degrees between haematoxylins, between eosins, limit
  colour_differs,        ///< distance in standard deviations, limit
  unknown_scanner,       ///< scanners that the run knows
  coarse_pixels,         ///< µm a pixel, of the run, their ratio
  // Volumes.
  no_body,             ///< no values
  little_body,         ///< litres of body, of one patch of the run
  smaller_than_patch,  ///< size z, y, x, of the run's patch z, y, x; 1: in mm, 0: in voxels
  coarse_spacing,      ///< mm z, y, x, of the run z, y, x, largest ratio
  channel_missing,     ///< channel
  unit_implausible,    ///< channel, mean, percentiles 0.5 and 99.5 of the body
  intensity_differs    ///< channel, share of the body in the run's range, its ends, standardised
                       ///< difference of the means
};

/// note     known and said; the result is to be read with it in mind
/// warning  the result may be wrong because of it
enum class Severity { note, warning };

/// One thing that was seen.
struct Remark {
  QualityCode code = QualityCode::no_tissue;
  Severity severity = Severity::note;
  std::vector<double> values;

  bool operator==(const Remark&) const = default;
};

/// Values are kept to six decimals (to_six_decimals). Errors: internal (not as many values as the
/// code has).
Remark make_remark(QualityCode code, Severity severity, std::vector<double> values = {});

/// The number of values of a code.
std::size_t value_count(QualityCode code);

/// The remark as a sentence.
std::string text_of(const Remark& remark);

/// The remarks after a line about an image: "; warning: …; note: …"; empty without any.
std::string texts_of(const std::vector<Remark>& remarks);

/// {"code": name, "severity": name, "values": [numbers]}, as results hold it.
Json to_json(const Remark& remark);
Json to_json(const std::vector<Remark>& remarks);
/// Errors: malformed; `origin` names the object.
Remark remark_from_json(const Json& json, const std::string& origin);

}  // namespace headrace::predict

namespace headrace {

template <>
inline constexpr auto kNamesOf<predict::Severity> = names<predict::Severity>(
    {{predict::Severity::note, "note"}, {predict::Severity::warning, "warning"}});

template <>
inline constexpr auto kNamesOf<predict::QualityCode> = names<predict::QualityCode>({
    {predict::QualityCode::no_tissue, "no-tissue"},
    {predict::QualityCode::little_tissue, "little-tissue"},
    {predict::QualityCode::blurred, "blurred"},
    {predict::QualityCode::partly_blurred, "partly-blurred"},
    {predict::QualityCode::sharpness_not_judged, "sharpness-not-judged"},
    {predict::QualityCode::pen_marks, "pen-marks"},
    {predict::QualityCode::not_bright_field, "not-bright-field"},
    {predict::QualityCode::stain_differs, "stain-differs"},
    {predict::QualityCode::colour_differs, "colour-differs"},
    {predict::QualityCode::unknown_scanner, "unknown-scanner"},
    {predict::QualityCode::coarse_pixels, "coarse-pixels"},
    {predict::QualityCode::no_body, "no-body"},
    {predict::QualityCode::little_body, "little-body"},
    {predict::QualityCode::smaller_than_patch, "smaller-than-patch"},
    {predict::QualityCode::coarse_spacing, "coarse-spacing"},
    {predict::QualityCode::channel_missing, "channel-missing"},
    {predict::QualityCode::unit_implausible, "unit-implausible"},
    {predict::QualityCode::intensity_differs, "intensity-differs"},
});

}  // namespace headrace
