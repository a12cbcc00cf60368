#include "learn/handover/export_result.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/pixels/palette.hpp"
#include "headrace/storage/place.hpp"
#include "learn/handover/dicom/series_files.hpp"
#include "learn/handover/export_dicom.hpp"
#include "learn/handover/findings_parquet.hpp"
#include "learn/handover/findings_table.hpp"
#include "learn/handover/ome_zarr/export_ome_zarr.hpp"
#include "learn/handover/slide/class_map_tiff.hpp"
#include "learn/handover/slide/qupath_geojson.hpp"
#include "learn/handover/volume/volume_export.hpp"

namespace headrace::handover {
namespace {

using Files = std::vector<std::filesystem::path>;

/// The kinds of images that a format is for.
struct Kinds {
  bool slides = false, volumes = false;
};

Kinds kinds_of(ExportFormat format) {
  switch (format) {
    case ExportFormat::geojson:
    case ExportFormat::ome_tiff:
      return {true, false};
    case ExportFormat::ome_zarr:
    case ExportFormat::csv:
    case ExportFormat::parquet:
    case ExportFormat::dicom_seg:
      return {true, true};
    default:
      return {false, true};
  }
}

bool is_dicom(ExportFormat format) { return format >= ExportFormat::dicom_seg; }

std::string file_name_of(const std::string& class_name) {
  std::string out = class_name;
  for (char& c : out) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return out;
}

/// By value. Of classes whose names would make the same file, each has its value after the name.
std::vector<std::string> file_names_of(const std::vector<std::string>& classes) {
  std::vector<std::string> names;
  for (const std::string& name : classes) names.push_back(file_name_of(name));
  const std::vector<std::string> plain = names;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (std::count(plain.begin(), plain.end(), plain[c]) > 1) names[c] += "-" + std::to_string(c);
  }
  return names;
}

/// What the formats of one result share.
struct Target {
  std::string stem;    ///< of the files: OUT/<id>
  std::string source;  ///< what was predicted
};

/// Says what the table of a slide's regions leaves out.
void tell_unlisted(const result::ImageResult& result, const std::string& stem) {
  const Json* regions = find_at(result.findings(), {"slide", "regions"});
  if (regions == nullptr) return;
  const auto smaller = regions->at("smaller").at("count").get<std::uint64_t>();
  if (smaller == 0) return;
  log::warning(
      "{}: {} regions are listed; {} of less than {} pixels are only counted, in "
      "findings.json (headrace predict {} 0 lists all)",
      stem, regions->at("count").get<std::uint64_t>(), smaller,
      regions->at("least_pixels").get<std::uint64_t>(), Option{"min_region_mm2"});
}

/// The formats that are for both kinds; nothing for others.
Files export_either(const result::ImageResult& result, ExportFormat format, PlainCodec codec,
                    const Target& target, ThreadPool& pool) {
  const std::string table = result.facts().slide ? "regions" : "lesions";
  const std::string stem = target.stem + "." + table;
  if (format == ExportFormat::csv || format == ExportFormat::parquet) tell_unlisted(result, stem);
  switch (format) {
    case ExportFormat::csv:
      write_findings_table(result, table + ".csv", stem + ".csv");
      return {stem + ".csv"};
    case ExportFormat::parquet:
      write_findings_parquet(result, table + ".csv", stem + ".parquet");
      return {stem + ".parquet"};
    case ExportFormat::ome_zarr:
      export_predicted_image(result, target.source, target.stem + ".ome.zarr", codec, pool);
      return {target.stem + ".ome.zarr"};
    default:
      return {};
  }
}

Files export_slide(const result::ImageResult& result, ExportFormat format,
                   const ExportOptions& options, const Target& target, ThreadPool& pool) {
  if (format == ExportFormat::dicom_seg)
    return export_slide_dicom(result, target.source, target.stem);
  if (format == ExportFormat::ome_tiff) {
    write_class_map_tiff(result, target.stem + ".ome.tif", pool);
    return {target.stem + ".ome.tif"};
  }
  const std::uint64_t ignored = write_qupath_geojson(
      result, target.stem + ".geojson", {options.tolerance_um, options.min_area_mm2, {}});
  if (ignored > 0) {
    log::warning("{}.geojson: {} regions below {:g} mm2 are of the class Ignore*, not of their own",
                 target.stem, ignored, options.min_area_mm2);
  }
  return {target.stem + ".geojson"};
}

Files export_volume(const result::ImageResult& result, ExportFormat format, const std::string& stem,
                    ThreadPool& pool) {
  const result::ImageFacts& facts = result.facts();
  if (format == ExportFormat::nifti_probability) {
    Files out;
    const auto names = file_names_of(facts.classes);
    for (std::size_t c = 1; c < facts.classes.size(); ++c) {
      out.emplace_back(stem + "." + names[c] + ".nii.gz");
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

void make_folder(const std::string& folder) {
  if (posix::make_folders(folder) != 0)
    fail(ErrorCode::io, "{}: can't be made; name another folder ({})", folder, Option{"out"});
}

Files export_one(const result::ImageResult& result, ExportFormat format,
                 const ExportOptions& options, const Target& target, ThreadPool& pool,
                 std::vector<std::string>& series) {
  Files files = export_either(result, format, options.codec, target, pool);
  if (!files.empty()) return files;
  if (result.facts().slide) return export_slide(result, format, options, target, pool);
  if (!is_dicom(format)) return export_volume(result, format, target.stem, pool);
  if (series.empty()) series = series_files(target.source, *result.facts().volume);
  return export_dicom(result, format, series, target.stem);
}

}  // namespace

void check_formats(const std::vector<ExportFormat>& formats, bool slides,
                   const std::string& origin) {
  for (const ExportFormat format : formats) {
    const Kinds kinds = kinds_of(format);
    if (slides ? kinds.slides : kinds.volumes) continue;
    fail(ErrorCode::usage, "{}: {} is for {}s, and this is of {}s", origin, name_of(format),
         slides ? "volume" : "slide", slides ? "slide" : "volume");
  }
}

Files export_result(const result::ImageResult& result, const ExportOptions& options) {
  check_formats(options.formats, result.facts().slide.has_value(), result.folder().string());
  const std::string folder = options.out.empty()
                                 ? result.folder().string()
                                 : storage::Place::parse(options.out).path().string();
  make_folder(folder);
  const Target target{folder + "/" + result.facts().id,
                      options.source.empty() ? result.facts().source : options.source};
  ThreadPool pool(options.jobs);
  std::vector<std::string> series;  // read once for all formats
  Files out;
  for (const ExportFormat format : options.formats) {
    const Files files = export_one(result, format, options, target, pool, series);
    out.insert(out.end(), files.begin(), files.end());
  }
  return out;
}

Files export_cases(const std::filesystem::path& folder, const ExportOptions& options) {
  const std::filesystem::path table = folder / "cases.csv";
  const auto& formats = options.formats;
  if (std::find(formats.begin(), formats.end(), ExportFormat::parquet) == formats.end() ||
      !std::filesystem::exists(table)) {
    return {};
  }
  const std::filesystem::path to =
      options.out.empty() ? folder : storage::Place::parse(options.out).path();
  make_folder(to.string());
  write_cases_parquet(table, to / "cases.parquet");
  return {to / "cases.parquet"};
}

}  // namespace headrace::handover
