#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "learn/handover/dicom/ct_prediction.hpp"

namespace headrace::handover {

/// One lesion as a report states it.
struct Lesion {
  std::string name;           ///< "Lesion 1": how people call it, unique in the report
  std::uint16_t segment = 0;  ///< its number in the segmentation, which should hold it alone
  double volume_ml = 0;
  double long_axis_mm = 0;            ///< the longest diameter on an axial slice
  double short_axis_mm = 0;           ///< the longest diameter across it on that slice
  std::optional<double> probability;  ///< 0 to 1: that it is one, calibrated
  CodedConcept finding;               ///< what it is: segment_codes("lesion").type
  std::optional<CodedConcept> site;   ///< the organ it lies in
  std::optional<double> score = {};   ///< 0 to 1: of the network, not calibrated
  imaging::Vec3 centre_lps_mm{};      ///< needed below the operating point alone
};

/// Whether a study has a lesion, by its operating point.
struct StudyFlag {
  bool positive = false;
  std::string text;  ///< the operating point in words
};

/// What was found in a study.
struct StudyFindings {
  std::span<const Lesion> lesions = {};
  /// Lesions below the operating point, which need no segment.
  std::span<const Lesion> below = {};
  std::optional<StudyFlag> flag = {};
};

/// Writes a Measurement Report (Enhanced SR; PS3.16, TID 1500) with one measurement group (TID
/// 1411) a lesion, which refers to its segment in `segmentation` and to the source series, and
/// names the algorithm (TID 4019). Volume in ml, long and short axis in mm, the score as
/// Probability (122157, DCM; 0 to 1), and the calibrated probability in percent as Certainty of
/// Finding (111012, DCM). Those below the operating point have groups of TID 1501, which refer to
/// the source image at their centre and have the rendering intent Presentation Optional. Among the
/// qualitative evaluations are Lesion = Present or Absent by the flag, and its text; without a flag
/// Absent where there are no lesions. Without lesions `segmentation` may be empty; the prediction's
/// segments are not needed.
///
/// threads calls are independent
/// errors  as read_source_series; usage (a lesion without a name, segment or finite figures,
///         lesions without a segmentation);
///         unsupported (a source that is neither CT nor PET); io
WrittenObject write_measurement_report(const CtPrediction& prediction,
                                       const StudyFindings& findings,
                                       const WrittenObject& segmentation, const std::string& path);

}  // namespace headrace::handover
