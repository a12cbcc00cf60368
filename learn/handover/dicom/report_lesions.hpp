#pragma once
#include <optional>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/handover/dicom/measurement_report.hpp"

namespace headrace::handover {

/// The lesions of a result, as a report states them.
struct ReportLesions {
  std::vector<Lesion> lesions;    ///< at or above the operating point; all where there is none
  std::vector<Segment> segments;  ///< of `lesions`, in their order
  std::vector<Lesion> below;      ///< below the operating point
  std::optional<StudyFlag> flag;  ///< none without an operating point

  StudyFindings findings() const { return {lesions, below, flag}; }
};

/// The lesions of `findings`, which is `volume` of findings.json (docs/formats.md). A segment's
/// value is the lesion's number there, which is its value in the label image 'lesions'.
/// errors  unsupported (over 254 lesions at or above the operating point: the label image does not
///         hold more)
ReportLesions report_lesions(const Json& findings);

}  // namespace headrace::handover
