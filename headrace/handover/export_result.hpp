#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/result/image_result.hpp"

namespace headrace::handover {

/// What other programs read (docs/formats.md, "Exports of a prediction").
enum class ExportFormat {
  geojson,               ///< slides: QuPath
  ome_tiff,              ///< slides: the class map with its pyramid
  csv,                   ///< regions of a slide, lesions of a volume
  nifti,                 ///< volumes: class map
  nifti_probability,     ///< volumes: one file for each class above 0
  nrrd,                  ///< volumes: 3D Slicer's segmentation
  dicom_seg,             ///< volumes of a DICOM series, as all that follow: BINARY
  dicom_seg_fractional,  ///< probabilities
  dicom_seg_labelmap,
  dicom_rtstruct,
  dicom_sr  ///< measurements of the lesions, and a SEG with a segment for each
};

}  // namespace headrace::handover

namespace headrace {
template <>
inline constexpr auto kNamesOf<handover::ExportFormat> = names<handover::ExportFormat>(
    {{handover::ExportFormat::geojson, "geojson"},
     {handover::ExportFormat::ome_tiff, "ome-tiff"},
     {handover::ExportFormat::csv, "csv"},
     {handover::ExportFormat::nifti, "nifti"},
     {handover::ExportFormat::nifti_probability, "nifti-probability"},
     {handover::ExportFormat::nrrd, "nrrd"},
     {handover::ExportFormat::dicom_seg, "dicom-seg"},
     {handover::ExportFormat::dicom_seg_fractional, "dicom-seg-fractional"},
     {handover::ExportFormat::dicom_seg_labelmap, "dicom-seg-labelmap"},
     {handover::ExportFormat::dicom_rtstruct, "dicom-rtstruct"},
     {handover::ExportFormat::dicom_sr, "dicom-sr"}});
}  // namespace headrace

namespace headrace::handover {

struct ExportOptions {
  std::vector<ExportFormat> formats;
  std::string out;                          ///< folder; empty: that of the result
  double tolerance_um = 0;                  ///< of outlines in GeoJSON
  std::optional<double> min_area_mm2 = {};  ///< of regions in GeoJSON
  std::string source;  ///< DICOM: the series that was predicted; empty: as the result states
  int jobs = 0;        ///< threads; 0: every core
};

/// Writes a finished prediction in each format, as OUT/<id>.<ending>; a file appears whole or not
/// at all, and one of that name is replaced. The same result and options give the same bytes.
/// Returns the files in the order of `formats`.
/// errors  usage (a format of the other kind of image; DICOM of a prediction that was not made from
///         a DICOM series), those of the writers
std::vector<std::filesystem::path> export_result(const result::ImageResult& result,
                                                 const ExportOptions& options);

}  // namespace headrace::handover
