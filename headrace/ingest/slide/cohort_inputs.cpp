#include "headrace/ingest/slide/cohort_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_choice.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/url_hint.hpp"
#include "headrace/ingest/inputs/annotation_files.hpp"
#include "headrace/ingest/inputs/image_search.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/inputs/similar_cases.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/slide/cohort_table.hpp"
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

/// Slides of the inputs that no row names. A row names one file of a DICOM slide, so those count as
/// named.
void name_unlisted(const SlideIngestOptions& options, const std::vector<SlideCase>& slides,
                   UnusedFiles& unused) {
  std::vector<std::string> taken, files;
  for (const SlideCase& slide : slides) {
    taken.push_back(slide.file);
    if (!slide.annotation.empty()) taken.push_back(slide.annotation);
  }
  BadInputs ignored(OnError::skip);  // the rows say what is missing
  for (const auto& input : options.inputs) {
    if (input_kind(input) == InputKind::neither) continue;
    ignored.look(input, [&] {
      for (const auto& file : image_files({input}, options.annotations, ignored)) {
        if (!is_named_or_seen_dicom(file)) files.push_back(file);
      }
    });
  }
  for (UnusedFile& file : not_among(files, taken, "no row of the table names it"))
    unused.push_back(std::move(file));
}

void take_from_table(const SlideIngestOptions& options, const CohortTable& table,
                     std::vector<SlideCase>& slides, UnusedFiles& unused, BadInputs& bad) {
  const FileFinder finder(options.inputs, table.file);
  std::size_t missing_masks = 0;
  for (const auto& row : table.rows) {
    SlideCase slide = case_of_row(row, table.panda, options.columns, options.accept);
    const bool found =
        bad.look(row.where, [&] { find_files_of_row(options, finder, row, table.panda, slide); });
    if (!found) continue;
    missing_masks += table.panda && slide.annotation.empty() ? 1 : 0;
    slides.push_back(std::move(slide));
  }
  if (!table.panda) name_unlisted(options, slides, unused);
  if (missing_masks > 0)
    log::warning("{}: {} of {} images have no mask", table.file, missing_masks, slides.size());
}

void fill_in(const SlideIngestOptions& options, SlideCase& slide) {
  if (slide.id.empty()) slide.id = id_of_file(slide.file);
  check_id(slide);
  slide.stated_case = slide.case_id;
  slide.stated_cohort = slide.cohort;
  if (slide.case_id.empty()) slide.case_id = slide.id;
  if (slide.cohort.empty()) slide.cohort = "default";
  slide.objects = options.objects;
}

/// Gives the slides without annotation the folder's files that are named as they are. Slides with
/// several are taken out. Errors: usage (none fits, unless that is accepted).
void take_folder(const SlideIngestOptions& options, CohortInputs& cohort, BadInputs& bad) {
  if (options.annotations.empty()) return;
  std::vector<ImageNames> names;
  for (const auto& slide : cohort.slides) names.push_back({slide.file, slide.id});
  const AnnotationFiles files(options.annotations, names);
  std::vector<std::string> used;
  std::vector<SlideCase> kept;
  for (std::size_t i = 0; i < cohort.slides.size(); ++i) {
    SlideCase& slide = cohort.slides[i];
    if (slide.annotation.empty() &&
        !bad.look(describe(slide), [&] { slide.annotation = files.of(i); }))
      continue;
    if (!slide.annotation.empty()) used.push_back(slide.annotation);
    kept.push_back(std::move(slide));
  }
  const bool refused = kept.size() < cohort.slides.size();
  cohort.slides = std::move(kept);
  if (used.empty() && !refused && !cohort.slides.empty())
    refuse_unless(options.accept, Doubt::unmatched, ErrorCode::usage, files.nothing_fits());
  const UnusedFiles unused = files.unused(used);
  cohort.unused.insert(cohort.unused.end(), unused.begin(), unused.end());
}

}  // namespace

void settle_coding(SlideCase& slide, MaskCoding otherwise) {
  if (slide.annotation.empty() || is_polygon_file(slide.annotation)) {
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
    fail(ErrorCode::not_found, "{} {}: there is no such folder{}", Option{"annotations"},
         options.annotations, url_hint(options.annotations));
  }
  CohortInputs cohort;
  const std::string table = options.table.empty() ? panda_table_in(options.inputs) : options.table;
  if (!table.empty()) {
    take_from_table(options, read_cohort_table(table, options.columns), cohort.slides,
                    cohort.unused, bad);
  } else {
    for (const auto& file : image_files(options.inputs, options.annotations, bad, &cohort.unused)) {
      SlideCase slide;
      slide.file = file;
      cohort.slides.push_back(std::move(slide));
    }
  }
  cohort.associated = join_dicom_slides(cohort.slides, bad);
  if (cohort.slides.empty() && cohort.associated > 0) {
    bad.first([&] {
      fail(ErrorCode::usage,
           "no slide among the inputs: all {} of them are labels, overviews or thumbnails of DICOM "
           "slides, without a level",
           cohort.associated);
    });
  }
  for (auto& slide : cohort.slides) fill_in(options, slide);
  take_folder(options, cohort, bad);
  const auto given = std::make_shared<const GivenClasses>(
      given_classes(options.classes, to_string(Option{"classes"})));
  for (auto& slide : cohort.slides) {
    slide.given = given;
    settle_coding(slide, options.coding);
  }
  sort_by_id(cohort.slides);
  place_in_splits(cohort.slides, options.val_fraction);
  refuse_similar_cases_of(cohort.slides, options.accept);
  cohort.classes = classes_of(given->names, cohort.slides);
  cohort.class_sets = stated_sets(options, cohort.slides, cohort.classes);
  const auto names = label_names(cohort.classes, cohort.class_sets);
  for (const auto& slide : cohort.slides) {
    if (slide.coding) coding_table(*slide.coding, names);
  }
  return cohort;
}

}  // namespace headrace::ingest
