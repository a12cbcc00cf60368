#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "headrace/handover/dicom/ct_prediction.hpp"

namespace headrace::handover {

/// One lesion as a report states it.
struct Lesion {
  std::string name;           ///< "Lesion 1": how people call it, unique in the report
  std::uint16_t segment = 0;  ///< its number in the segmentation, which should hold it alone
  double volume_ml = 0;
  double long_axis_mm = 0;            ///< the longest diameter on an axial slice
  double short_axis_mm = 0;           ///< the longest diameter across it on that slice
  std::optional<double> probability;  ///< 0 to 1
  CodedConcept finding;               ///< what it is: segment_codes("lesion").type
  std::optional<CodedConcept> site;   ///< the organ it lies in
};

/// Writes a Measurement Report (Enhanced SR; PS3.16, TID 1500) with one measurement group (TID
/// 1411) a lesion, which refers to its segment in `segmentation` and to the source series, and
/// names the algorithm (TID 4019). Volume in ml, long and short axis in mm, and the probability in
/// percent as Certainty of Finding (111012, DCM). Without lesions it states Lesion = Absent, and
/// `segmentation` may be empty; the prediction's segments are not needed.
///
/// threads calls are independent
/// errors  as read_source_series; usage (a lesion without a name, segment or finite figures,
///         lesions without a segmentation);
///         unsupported (a source that is neither CT nor PET); io
WrittenObject write_measurement_report(const CtPrediction& prediction,
                                       std::span<const Lesion> lesions,
                                       const WrittenObject& segmentation, const std::string& path);

}  // namespace headrace::handover
