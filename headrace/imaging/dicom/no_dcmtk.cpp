// Built instead of the readers with HR_WITH_DCMTK=OFF.
#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/slide_files.hpp"

namespace headrace::imaging {
namespace {

[[noreturn]] void not_built(const std::string& path) {
  fail(ErrorCode::unsupported,
       "{}: this build reads no DICOM. Build with HR_WITH_DCMTK=ON (needs libdcmtk-dev and "
       "libopenjp2-7-dev), or convert the "
       "series to NIfTI.",
       path);
}

}  // namespace

DicomScan scan_dicom(const std::vector<std::string>& inputs, const Pseudonymizer&, int,
                     const SeriesRules&) {
  not_built(inputs.empty() ? std::string("(no input)") : inputs.front());
}

std::unique_ptr<VolumeReader> open_dicom_series(const DicomSeries& series, Irregular,
                                                const std::optional<Rescale>&) {
  not_built(series.slices.empty() ? std::string("(no slice)") : series.slices.front().path);
}

NamedLabels read_dicom_segmentation(const std::string& path, const VolumeGrid&, const WantedName&,
                                    const SlicePlaces&) {
  not_built(path);
}

NamedLabels read_structure_set(const std::string& path, const VolumeGrid&, const WantedName&,
                               const SlicePlaces&) {
  not_built(path);
}

DicomLabelNames read_label_names(const std::string& path) { not_built(path); }

std::vector<DicomSlideFiles> find_dicom_slides(const std::vector<std::string>&) { return {}; }

}  // namespace headrace::imaging
