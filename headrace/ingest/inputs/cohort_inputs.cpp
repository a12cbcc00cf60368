#include "headrace/ingest/inputs/cohort_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_choice.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/inputs/case_rules.hpp"
#include "headrace/ingest/inputs/cohort_table.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/slide/dicom_slides.hpp"
#include "headrace/ingest/slide/label_source.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

/// Errors: not_found (the image or its annotation, with the table's line).
void find_files_of_row(const SlideIngestOptions& options, const FileFinder& finder,
                       const TableRow& row, bool panda, SlideCase& slide) {
  if (panda) {
    slide.file = finder.find_panda("train_images", slide.id, "", row.where);
    slide.annotation = finder.find_panda("train_label_masks", slide.id, "_mask", "");
    return;
  }
  slide.file = finder.find(row.get("file"), "file", row.where);
  if (const std::string name = row.get("annotation"); !name.empty()) {
    slide.annotation = finder.find_annotation(name, options.annotations, row.where);
  }
}

void take_from_table(const SlideIngestOptions& options, const CohortTable& table,
                     std::vector<SlideCase>& slides, BadInputs& bad) {
  const FileFinder finder(options.inputs, table.file);
  std::size_t missing_masks = 0;
  for (const auto& row : table.rows) {
    SlideCase slide = case_of_row(row, table.panda);
    const bool found =
        bad.look(row.where, [&] { find_files_of_row(options, finder, row, table.panda, slide); });
    if (!found) continue;
    missing_masks += table.panda && slide.annotation.empty() ? 1 : 0;
    slides.push_back(std::move(slide));
  }
  if (missing_masks > 0)
    log::warning("{}: {} of {} images have no mask", table.file, missing_masks, slides.size());
}

/// False where the image has more than one annotation.
bool fill_in(const SlideIngestOptions& options, SlideCase& slide, BadInputs& bad) {
  if (slide.id.empty()) slide.id = id_of_file(slide.file);
  check_id(slide);
  slide.stated_case = slide.case_id;
  slide.stated_cohort = slide.cohort;
  if (slide.case_id.empty()) slide.case_id = slide.id;
  if (slide.cohort.empty()) slide.cohort = "default";
  slide.objects = options.objects;
  if (slide.annotation.empty() && !options.annotations.empty()) {
    const bool found = bad.look(describe(slide), [&] {
      slide.annotation = annotation_by_stem(options.annotations, slide.file);
    });
    if (!found) return false;
  }
  settle_coding(slide, options.coding);
  return true;
}

}  // namespace

void settle_coding(SlideCase& slide, MaskCoding otherwise) {
  if (slide.annotation.empty() || is_geojson(slide.annotation)) {
    slide.coding.reset();
  } else if (!slide.coding && slide.provider && slide.provider->empty()) {
    fail(ErrorCode::usage,
         "{}: mask {} needs a data_provider (radboud or karolinska); add the column, or use a "
         "table with columns file, image and coding",
         slide.where, slide.annotation);
  } else if (!slide.coding && slide.provider) {
    fail(ErrorCode::usage, "{}: data_provider '{}' {}", slide.where, *slide.provider,
         none_of(*slide.provider, {"radboud", "karolinska"}));
  } else if (!slide.coding) {
    slide.coding = otherwise;
  }
}

std::vector<std::string> classes_of(const std::vector<std::string>& given,
                                    const std::vector<SlideCase>& slides) {
  std::set<MaskCoding> codings;
  bool annotated = false, graded = false;
  for (const auto& slide : slides) {
    annotated |= !slide.annotation.empty();
    graded |= slide.primary || slide.grade_group;
    if (slide.coding) codings.insert(*slide.coding);
  }
  const bool panda =
      codings.contains(MaskCoding::panda_radboud) || codings.contains(MaskCoding::panda_karolinska);
  if (!given.empty()) {
    if (panda && given != gleason_classes()) {
      fail(ErrorCode::usage, "{}: PANDA's masks need the classes {}", Option{"classes"},
           fmt::join(gleason_classes(), ","));
    }
    const std::set<std::string> distinct(given.begin(), given.end());
    if (given.size() > 255 || distinct.size() != given.size() || distinct.contains("")) {
      fail(ErrorCode::usage,
           "{}: names must be distinct and not empty, at most 255 (255 is ignore)",
           Option{"classes"});
    }
    return given;
  }
  if (!annotated) return {};
  if (panda || graded) return gleason_classes();
  if (codings == std::set{MaskCoding::instances}) return {"background", "object"};
  if (codings.empty()) return gleason_classes();
  fail(ErrorCode::usage,
       "masks of coding 'classes' need the names of their values: give {} "
       "background,benign,…",
       Option{"classes"});
}

namespace {

/// The sets of --class-sets, and PANDA's where its masks are among the inputs.
std::vector<ClassSet> stated_sets(const SlideIngestOptions& options,
                                  const std::vector<SlideCase>& slides,
                                  const std::vector<std::string>& classes) {
  std::vector<std::string> texts = options.class_sets;
  const bool panda = std::any_of(slides.begin(), slides.end(), [](const SlideCase& slide) {
    return slide.coding == MaskCoding::panda_radboud ||
           slide.coding == MaskCoding::panda_karolinska;
  });
  if (panda) {
    for (const std::string& text : panda_class_sets()) {
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
  }
  return parse_class_sets(texts, classes, to_string(Option{"class_sets"}));
}

}  // namespace

CohortInputs find_inputs(const SlideIngestOptions& options, BadInputs& bad) {
  if (options.inputs.empty() && options.table.empty()) {
    fail(ErrorCode::usage, "nothing to ingest: name slides, folders, or a {}", Option{"table"});
  }
  if (!options.annotations.empty() && !fs::is_directory(options.annotations)) {
    fail(ErrorCode::not_found, "{} {}: there is no such folder", Option{"annotations"},
         options.annotations);
  }
  CohortInputs cohort;
  const std::string table = options.table.empty() ? panda_table_in(options.inputs) : options.table;
  if (!table.empty()) {
    take_from_table(options, read_cohort_table(table), cohort.slides, bad);
  } else {
    for (const auto& file : image_files(options.inputs, options.annotations, bad)) {
      SlideCase slide;
      slide.file = file;
      cohort.slides.push_back(std::move(slide));
    }
  }
  cohort.associated = join_dicom_slides(cohort.slides, bad);
  std::vector<SlideCase> filled;
  for (auto& slide : cohort.slides) {
    if (fill_in(options, slide, bad)) filled.push_back(std::move(slide));
  }
  cohort.slides = std::move(filled);
  sort_by_id(cohort.slides);
  place_in_splits(cohort.slides, options.val_fraction);
  cohort.classes = classes_of(options.classes, cohort.slides);
  cohort.class_sets = stated_sets(options, cohort.slides, cohort.classes);
  const auto names = label_names(cohort.classes, cohort.class_sets);
  for (const auto& slide : cohort.slides) {
    if (slide.coding) coding_table(*slide.coding, names);
  }
  return cohort;
}

}  // namespace headrace::ingest
