#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "learn/handover/ome_zarr/plain_writer.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// What other programs read (docs/formats.md, "Exports of a prediction").
enum class ExportFormat {
  geojson,               ///< slides: QuPath
  ome_tiff,              ///< slides: the class map with its pyramid
  ome_zarr,              ///< the image with the prediction's labels; a store's images
  csv,                   ///< regions of a slide, lesions of a volume
  parquet,               ///< the same
  nifti,                 ///< volumes: class map
  nifti_probability,     ///< volumes: one file for each class above 0
  nrrd,                  ///< volumes: 3D Slicer's segmentation
  dicom_seg,             ///< BINARY; of a DICOM series, as all that follow, or of a DICOM slide
  dicom_seg_fractional,  ///< volumes, as all that follow: probabilities
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
     {handover::ExportFormat::ome_zarr, "ome-zarr"},
     {handover::ExportFormat::csv, "csv"},
     {handover::ExportFormat::parquet, "parquet"},
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
  std::string out;                      ///< folder; empty: that of the result
  double tolerance_um = 0;              ///< of outlines in GeoJSON
  double min_area_mm2 = 0;              ///< of regions in GeoJSON
  PlainCodec codec = PlainCodec::zstd;  ///< OME-Zarr
  /// DICOM, OME-Zarr: the file, series or store that was predicted; empty: as the result states
  std::string source;
  int jobs = 0;  ///< threads; 0: every core
};

/// Refuses formats that are not for predictions of slides, or of volumes. `origin` names what
/// predicts, or was predicted. Errors: usage.
void check_formats(const std::vector<ExportFormat>& formats, bool slides,
                   const std::string& origin);

/// Writes a finished prediction in each format, as OUT/<id>.<ending>; a file appears whole or not
/// at all, and one of that name is replaced; a folder of OME-Zarr is kept where it is the same
/// export. The same result and options give the same bytes. Returns the files in the order of
/// `formats`.
/// errors  usage (a format of the other kind of image; DICOM of a prediction that was not made from
///         a DICOM series), those of the writers
std::vector<std::filesystem::path> export_result(const result::ImageResult& result,
                                                 const ExportOptions& options);

/// What an output folder of predictions has besides its results: cases.csv as cases.parquet, where
/// that is among the formats. Returns the files.
std::vector<std::filesystem::path> export_cases(const std::filesystem::path& folder,
                                                const ExportOptions& options);

}  // namespace headrace::handover
