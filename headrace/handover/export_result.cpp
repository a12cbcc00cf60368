#include "headrace/handover/export_result.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/handover/dicom/export_dicom.hpp"
#include "headrace/handover/findings_table.hpp"
#include "headrace/handover/slide/class_map_tiff.hpp"
#include "headrace/handover/slide/qupath_geojson.hpp"
#include "headrace/handover/volume/volume_export.hpp"
#include "headrace/pixels/palette.hpp"
#include "headrace/storage/posix.hpp"

namespace headrace::handover {
namespace {

using Files = std::vector<std::filesystem::path>;

bool is_of_slides(ExportFormat format) {
  return format == ExportFormat::geojson || format == ExportFormat::ome_tiff;
}

bool is_dicom(ExportFormat format) { return format >= ExportFormat::dicom_seg; }

void check_kind(const result::ImageResult& result, ExportFormat format) {
  const bool slide = result.facts().slide.has_value();
  if (format == ExportFormat::csv || slide == is_of_slides(format)) return;
  fail(ErrorCode::usage, "{}: {} is for {}s, and this is the prediction of a {}",
       result.folder().string(), name_of(format), slide ? "volume" : "slide",
       slide ? "slide" : "volume");
}

std::string file_name_of(const std::string& class_name) {
  std::string out = class_name;
  for (char& c : out) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return out;
}

Files export_slide(const result::ImageResult& result, ExportFormat format,
                   const ExportOptions& options, const std::string& stem, ThreadPool& pool) {
  switch (format) {
    case ExportFormat::geojson:
      write_qupath_geojson(result, stem + ".geojson",
                           {options.tolerance_um, options.min_area_mm2, {}});
      return {stem + ".geojson"};
    case ExportFormat::ome_tiff:
      write_class_map_tiff(result, stem + ".ome.tif", pool);
      return {stem + ".ome.tif"};
    default:
      write_findings_table(result, "regions.csv", stem + ".regions.csv");
      return {stem + ".regions.csv"};
  }
}

Files export_volume(const result::ImageResult& result, ExportFormat format, const std::string& stem,
                    ThreadPool& pool) {
  const result::ImageFacts& facts = result.facts();
  if (format == ExportFormat::csv) {
    write_findings_table(result, "lesions.csv", stem + ".lesions.csv");
    return {stem + ".lesions.csv"};
  }
  if (format == ExportFormat::nifti_probability) {
    Files out;
    for (std::size_t c = 1; c < facts.classes.size(); ++c) {
      out.emplace_back(stem + "." + file_name_of(facts.classes[c]) + ".nii.gz");
      write_probability_nifti(out.back().string(), *facts.volume,
                              probability_voxels(*result.probability(), c), pool);
    }
    return out;
  }
  const auto voxels = class_voxels(*result.classes());
  if (format == ExportFormat::nifti) {
    write_class_nifti(stem + ".nii.gz", *facts.volume, voxels, pool);
    return {stem + ".nii.gz"};
  }
  std::vector<ClassLook> looks;
  for (std::size_t c = 0; c < facts.classes.size(); ++c)
    looks.push_back({facts.classes[c], pixels::class_colour(c)});
  write_segmentation(stem + ".seg.nrrd", *facts.volume, voxels, looks, pool);
  return {stem + ".seg.nrrd"};
}

}  // namespace

Files export_result(const result::ImageResult& result, const ExportOptions& options) {
  for (const ExportFormat format : options.formats) check_kind(result, format);
  const std::string folder = options.out.empty() ? result.folder().string() : options.out;
  if (storage::posix::make_folders(folder) != 0)
    fail(ErrorCode::io, "{}: can't be made; name another folder ({})", folder, Option{"out"});
  const std::string stem = folder + "/" + result.facts().id;
  const std::string source = options.source.empty() ? result.facts().source : options.source;
  ThreadPool pool(options.jobs);
  Files out;
  for (const ExportFormat format : options.formats) {
    const Files files = is_dicom(format)       ? export_dicom(result, format, source, stem)
                        : result.facts().slide ? export_slide(result, format, options, stem, pool)
                                               : export_volume(result, format, stem, pool);
    out.insert(out.end(), files.begin(), files.end());
  }
  return out;
}

}  // namespace headrace::handover
