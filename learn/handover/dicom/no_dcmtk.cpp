// Built instead of the writers with HR_WITH_DCMTK=OFF.
#include "headrace/core/error.hpp"
#include "learn/handover/dicom/measurement_report.hpp"
#include "learn/handover/dicom/segmentation.hpp"
#include "learn/handover/dicom/slide_segmentation.hpp"
#include "learn/handover/dicom/structure_set.hpp"

namespace headrace::handover {
namespace {

[[noreturn]] void not_built(const std::string& path) {
  fail(ErrorCode::unsupported,
       "{}: this build writes no DICOM. Build with HR_WITH_DCMTK=ON (needs libdcmtk-dev and "
       "libopenjp2-7-dev), or export to another format.",
       path);
}

}  // namespace

WrittenObject write_segmentation(const CtPrediction&, SegmentationKind, const std::string& path) {
  not_built(path);
}

WrittenObject write_slide_segmentation(const PredictedSlide&, const CtPrediction&,
                                       const std::string&, const std::string& path) {
  not_built(path);
}

WrittenObject write_structure_set(const CtPrediction&, const std::string& path) { not_built(path); }

WrittenObject write_measurement_report(const CtPrediction&, const StudyFindings&,
                                       const WrittenObject&, const std::string& path) {
  not_built(path);
}

}  // namespace headrace::handover
