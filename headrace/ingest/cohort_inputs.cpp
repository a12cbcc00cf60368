#include "headrace/ingest/cohort_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/ingest/cohort_table.hpp"
#include "headrace/ingest/input_files.hpp"
#include "headrace/ingest/label_source.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestId = 128;

void take_from_table(const SlideIngestOptions& options, const CohortTable& table,
                     std::vector<SlideCase>& slides) {
  const FileFinder finder(options.inputs, table.file);
  std::size_t missing_masks = 0;
  for (const auto& row : table.rows) {
    SlideCase slide = case_of_row(row, table.panda);
    if (table.panda) {
      slide.file = finder.find_panda("train_images", slide.id, "", row.where);
      slide.annotation = finder.find_panda("train_label_masks", slide.id, "_mask", "");
      missing_masks += slide.annotation.empty() ? 1 : 0;
    } else {
      slide.file = finder.find(row.get("file"), "file", row.where);
      if (const std::string name = row.get("annotation"); !name.empty()) {
        slide.annotation = finder.find_annotation(name, options.annotations, row.where);
      }
    }
    slides.push_back(std::move(slide));
  }
  if (missing_masks > 0)
    log::warning("{}: {} of {} images have no mask", table.file, missing_masks, slides.size());
}

void fill_in(const SlideIngestOptions& options, SlideCase& slide) {
  if (slide.id.empty()) slide.id = id_of_file(slide.file);
  if (id_of_file(slide.id + ".x") != slide.id || slide.id.size() > kLongestId) {
    fail(ErrorCode::usage,
         "{}: image '{}' may hold letters, digits, '.', '_' and '-' only (up to {}), no '.' in "
         "front",
         describe(slide), slide.id, kLongestId);
  }
  if (slide.case_id.empty()) slide.case_id = slide.id;
  if (slide.cohort.empty()) slide.cohort = "default";
  if (slide.coding.empty()) slide.coding = options.coding;
  if (slide.annotation.empty() && !options.annotations.empty()) {
    slide.annotation = annotation_by_stem(options.annotations, slide.file);
  }
  if (slide.annotation.empty() || is_geojson(slide.annotation)) slide.coding.clear();
}

void place_in_splits(std::vector<SlideCase>& slides, double val_fraction) {
  std::map<std::string, const SlideCase*> stated;
  for (const auto& slide : slides) {
    if (slide.split.empty()) continue;
    const auto [found, made] = stated.try_emplace(slide.case_id, &slide);
    if (!made && found->second->split != slide.split) {
      fail(ErrorCode::usage,
           "{}: case '{}' is in split '{}' here and in '{}' at {}; all images of a case must be in "
           "one split",
           slide.where, slide.case_id, slide.split, found->second->split, found->second->where);
    }
  }
  std::map<std::string, std::string> splits;
  for (const auto& [case_id, slide] : stated) splits[case_id] = slide->split;
  for (auto& slide : slides) {
    if (!slide.split.empty()) continue;
    const auto found = splits.find(slide.case_id);
    slide.split =
        found != splits.end() ? found->second : split_of_case(slide.case_id, val_fraction);
  }
}

void check_ids(const std::vector<SlideCase>& slides) {
  for (std::size_t i = 1; i < slides.size(); ++i) {
    if (slides[i].id == slides[i - 1].id) {
      fail(ErrorCode::usage,
           "two images would be named '{}': {} and {}; name them apart in a table's column 'image'",
           slides[i].id, describe(slides[i - 1]), describe(slides[i]));
    }
  }
}

std::vector<std::string> classes_of(const SlideIngestOptions& options,
                                    const std::vector<SlideCase>& slides) {
  std::set<std::string> codings;
  bool annotated = false, graded = false;
  for (const auto& slide : slides) {
    annotated |= !slide.annotation.empty();
    graded |= slide.primary || slide.grade_group;
    if (!slide.coding.empty()) codings.insert(slide.coding);
  }
  const bool panda = codings.contains("panda-radboud") || codings.contains("panda-karolinska");
  if (!options.classes.empty()) {
    if (panda && options.classes != gleason_classes()) {
      fail(ErrorCode::usage, "--classes: PANDA's masks need the classes {}",
           fmt::join(gleason_classes(), ","));
    }
    const std::set<std::string> distinct(options.classes.begin(), options.classes.end());
    if (options.classes.size() > 255 || distinct.size() != options.classes.size() ||
        distinct.contains("")) {
      fail(ErrorCode::usage,
           "--classes: names must be distinct and not empty, at most 255 (255 is ignore)");
    }
    return options.classes;
  }
  if (!annotated) return {};
  if (panda || graded) return gleason_classes();
  if (codings == std::set<std::string>{"instances"}) return {"background", "object"};
  if (codings.empty()) return gleason_classes();
  fail(ErrorCode::usage,
       "masks of coding 'classes' need the names of their values: give --classes "
       "background,benign,…");
}

}  // namespace

std::string split_of_case(const std::string& case_id, double val_fraction) {
  const std::string hash = sha256_hex(std::string_view(case_id)).substr(0, 13);
  std::uint64_t drawn = 0;  // 52 bits
  std::from_chars(hash.data(), hash.data() + hash.size(), drawn, 16);
  return std::ldexp(static_cast<double>(drawn), -52) < val_fraction ? "val" : "train";
}

std::string id_of_file(const std::string& file) {
  std::string id = fs::path(file).filename().stem().string();
  for (auto& c : id) {
    const bool allowed = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!allowed) c = '_';
  }
  if (!id.empty() && id[0] == '.') id[0] = '_';
  return id;
}

CohortInputs find_inputs(const SlideIngestOptions& options) {
  if (options.inputs.empty() && options.table.empty()) {
    fail(ErrorCode::usage, "nothing to ingest: name slides, folders, or a --table");
  }
  if (!options.annotations.empty() && !fs::is_directory(options.annotations)) {
    fail(ErrorCode::not_found, "--annotations {}: there is no such folder", options.annotations);
  }
  CohortInputs cohort;
  const std::string table = options.table.empty() ? panda_table_in(options.inputs) : options.table;
  if (!table.empty()) {
    take_from_table(options, read_cohort_table(table), cohort.slides);
  } else {
    for (const auto& file : image_files(options.inputs, options.annotations)) {
      SlideCase slide;
      slide.file = file;
      cohort.slides.push_back(std::move(slide));
    }
  }
  for (auto& slide : cohort.slides) fill_in(options, slide);
  std::sort(cohort.slides.begin(), cohort.slides.end(), [](const SlideCase& a, const SlideCase& b) {
    return a.id != b.id ? a.id < b.id : a.file < b.file;
  });
  check_ids(cohort.slides);
  place_in_splits(cohort.slides, options.val_fraction);
  cohort.classes = classes_of(options, cohort.slides);
  for (const auto& slide : cohort.slides) {
    if (!slide.coding.empty()) coding_table(slide.coding, cohort.classes.size());
  }
  return cohort;
}

}  // namespace headrace::ingest
