#include "learn/view/inputs/image_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/log.hpp"
#include "headrace/imaging/dicom/slide_files.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/volume/volume_files.hpp"

namespace headrace::view {
namespace {

namespace fs = std::filesystem;

/// Only tells series apart while a folder is looked through; nothing of it is shown or stored.
constexpr const char* kPassingKey = "series of one view";

ViewItem item_of(ItemKind kind, std::string id, std::string path) {
  ViewItem item;
  item.kind = kind;
  item.case_id = id;
  item.id = std::move(id);
  item.file = FileImage{std::move(path), {}};
  return item;
}

/// A series has the name of its folder, since all else in its headers may identify a patient.
ViewItem item_of(const imaging::DicomSeries& series) {
  const std::string& first = series.slices.front().path;
  const std::string folder = fs::absolute(first).parent_path().filename().string();
  std::string id = ingest::plain_id(folder.empty() ? "series" : folder);
  if (series.series_number) id += fmt::format("-{}", *series.series_number);
  ViewItem item = item_of(ItemKind::volume, id, first);
  item.file->series = series;
  return item;
}

bool can_be_shown(const imaging::DicomSeries& series) {
  return !series.localizer && imaging::unit_of(series.modality).has_value() &&
         series.other_values.empty();
}

imaging::DicomScan scan(const std::string& path) {
  return imaging::scan_dicom({path}, imaging::Pseudonymizer(kPassingKey));
}

/// The slides in a folder; of a DICOM slide its largest level stands for all of its files.
std::vector<std::string> slides_in(const std::string& folder) {
  std::vector<std::string> files;
  try {
    ingest::BadInputs bad(ingest::OnError::skip);
    files = ingest::image_files({folder}, "", bad);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    return {};  // a folder without slides
  }
  std::set<std::string> others;
  for (const auto& slide : imaging::find_dicom_slides(files)) {
    others.insert(slide.associated.begin(), slide.associated.end());
    if (slide.levels.size() > 1) others.insert(slide.levels.begin() + 1, slide.levels.end());
  }
  std::erase_if(files, [&](const std::string& file) { return others.contains(file); });
  return files;
}

void add_series(const std::string& path, std::set<std::string>& dicom, std::vector<ViewItem>& out) {
  const imaging::DicomScan found = scan(path);
  for (const auto& problem : found.problems) log::warning("{}", problem.text);
  for (const auto& series : found.series) {
    for (const auto& slice : series.slices) dicom.insert(slice.path);
    if (can_be_shown(series)) out.push_back(item_of(series));
  }
  for (const auto& labels : found.labels) dicom.insert(labels.path);
}

std::vector<ViewItem> items_of_folder(const std::string& folder) {
  std::vector<ViewItem> out;
  std::set<std::string> dicom;
  const ingest::VolumeFiles files = ingest::volume_files(folder);
  for (const std::string& file : files.volumes)
    out.push_back(item_of(ItemKind::volume, ingest::plain_id(ingest::volume_stem(file)), file));
  for (const std::string& file : ingest::odd_volumes(files))
    log::warning("{}: can't be shown, as it is neither a file nor a folder", file);
  if (!files.others.empty()) add_series(folder, dicom, out);
  for (const std::string& file : slides_in(folder)) {
    if (dicom.contains(file)) continue;
    out.push_back(item_of(ItemKind::slide, ingest::id_of_file(file), file));
  }
  if (out.empty()) fail(ErrorCode::usage, "{}: nothing to show in this folder", folder);
  return out;
}

std::vector<ViewItem> items_of_file(const std::string& file) {
  if (imaging::is_volume_file(file))
    return {item_of(ItemKind::volume, ingest::plain_id(ingest::volume_stem(file)), file)};
  const bool dicom_slide = !imaging::find_dicom_slides({file}).empty();
  if (!dicom_slide) {
    std::vector<ViewItem> series;
    std::set<std::string> dicom;
    add_series(file, dicom, series);
    if (!series.empty()) return series;
  }
  return {item_of(ItemKind::slide, ingest::id_of_file(file), file)};
}

/// The series whose slices are those of the prediction.
std::optional<FileImage> series_of(const std::string& folder, const imaging::VolumeGrid& grid) {
  for (const auto& series : scan(folder).series) {
    if (!can_be_shown(series)) continue;
    try {
      const auto reader = imaging::open_dicom_series(series, imaging::Irregular::resample);
      const auto match = imaging::match_grids(reader->info().grid, grid);
      if (match && match->identity()) return FileImage{series.slices.front().path, series};
    } catch (const Error&) {
      continue;  // a series that can't be a volume is not the one
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<ViewItem> items_of_path(const std::string& path) {
  const InputKind kind = input_kind(path);
  if (kind == InputKind::neither) fail(ErrorCode::not_found, "{}", no_input(path));
  return kind == InputKind::folder ? items_of_folder(path) : items_of_file(path);
}

std::optional<FileImage> image_of_result(const result::ImageResult& result) {
  const result::ImageFacts& facts = result.facts();
  if (!fs::exists(facts.source)) return std::nullopt;
  const bool folder = fs::is_directory(facts.source);
  if (facts.slide) {
    if (!folder) return FileImage{facts.source, {}};
    for (const std::string& file : slides_in(facts.source))
      if (ingest::id_of_file(file) == facts.id) return FileImage{file, {}};
    return std::nullopt;
  }
  if (!folder && imaging::is_volume_file(facts.source)) return FileImage{facts.source, {}};
  if (folder) {
    for (const std::string& file : ingest::volume_files(facts.source).volumes)
      if (ingest::plain_id(ingest::volume_stem(file)) == facts.id) return FileImage{file, {}};
  }
  return series_of(facts.source, facts.volume->file_grid);
}

}  // namespace headrace::view
