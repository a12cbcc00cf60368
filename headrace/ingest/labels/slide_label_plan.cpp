#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/inputs/annotation_files.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/labels/label_plan.hpp"
#include "headrace/ingest/labels/slide_label_work.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/slide/cohort_inputs.hpp"
#include "headrace/ingest/slide/cohort_metadata.hpp"
#include "headrace/ingest/slide/cohort_table.hpp"
#include "headrace/ingest/slide/grade.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/slide_job.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

class SlideLabelPlanner {
 public:
  SlideLabelPlanner(const LabelIngestOptions& options, const LabelStore& store)
      : options_(options), store_(store) {}

  LabelPlan run() {
    if (!options_.table.empty()) take_table();
    if (!options_.annotations.empty()) take_folder();
    settle_classes();
    const auto work = std::make_shared<SlideLabelWork>(store_, options_, plan_.classes);
    for (auto& [id, slide] : slides_) work->add(slide);
    work->look_at_undecided();
    for (std::size_t i = 0; i < work->slides().size(); ++i) {
      const SlideCase& slide = work->slides()[i];
      LabelUpdate& update = updates_[slide.id];
      update.image = slide.id;
      update.where = slide.where.empty() ? slide.annotation : slide.where;
      update.fingerprint = label_fingerprint(slide, plan_.classes, work->mask(i));
      plan_.updates.push_back(std::move(update));
    }
    plan_.look = [work](std::size_t i) { return work->look(i); };
    plan_.settle = [work] { work->settle(); };
    plan_.counts = [work] { return work->counts(); };
    plan_.write = [work](std::size_t i, StagedLabels& staged) { work->write(i, staged); };
    return std::move(plan_);
  }

 private:
  SlideCase& slide_of(const std::string& id, const std::string& where) {
    SlideCase& slide = slides_[id];
    slide.id = id;
    slide.label_set = options_.set;
    slide.objects = options_.objects;
    if (!where.empty()) slide.where = where;
    return slide;
  }

  void take_table() {
    CohortTable table = read_cohort_table(options_.table, options_.columns, true);
    const FileFinder finder({}, options_.table);
    for (TableRow& row : table.rows) {
      std::vector<std::string> clearable{"primary", "secondary", "grade_group", "isup_grade",
                                         "gleason", "negative",  "annotation"};
      clearable.insert(clearable.end(), options_.columns.begin(), options_.columns.end());
      const auto cleared = take_cleared(row, clearable);
      const SlideCase said = case_of_row(row, table.panda, options_.columns, options_.accept);
      const std::string id = image_of_row(said.id, row.get("file"), row.where, store_.version);
      if (slides_.contains(id)) {
        fail(ErrorCode::usage, "{}: image '{}' has a row already, at {}", row.where, id,
             slides_.at(id).where);
      }
      SlideCase& slide = slide_of(id, row.where);
      slide.coding = said.coding;
      slide.provider = said.provider;
      take_columns(said, table.panda, updates_[id].columns);
      for (const auto& column : cleared) {
        if (!is_free(column)) clear(column, updates_[id]);
      }
      take_free(said, cleared, store_.version.images.at(id).columns, updates_[id].columns);
      merge_grades(row, said, store_.version.images.at(id).columns, updates_[id].columns);
      if (const std::string name = row.get("annotation"); !name.empty()) {
        slide.annotation = finder.find_annotation(name, options_.annotations, row.where);
        named_by_table_.insert(id);
      }
    }
  }

  bool is_free(const std::string& column) const {
    const auto& free = options_.columns;
    return std::find(free.begin(), free.end(), column) != free.end();
  }

  /// Free columns that the row does not state stay as they are stored.
  void take_free(const SlideCase& said, const std::vector<std::string>& cleared, const Json& stored,
                 Json& columns) const {
    if (options_.columns.empty()) return;
    const Json before = stored.value("free", Json::object());
    Json free = before;
    free.update(said.free);
    for (const auto& column : cleared) {
      if (is_free(column)) free.erase(column);
    }
    if (free != before) columns["free"] = free;
  }

  /// A row may state one grade alone: the grade group follows from both patterns, stored ones
  /// included, and must not contradict them.
  static void merge_grades(const TableRow& row, const SlideCase& said, const Json& stored,
                           Json& columns) {
    const auto pattern = [&](const char* column) -> std::optional<int> {
      const Json known = columns.contains(column) ? columns[column] : stored.value(column, Json());
      return known.is_number_integer() ? std::optional(known.get<int>()) : std::nullopt;
    };
    const auto primary = pattern("primary"), secondary = pattern("secondary");
    if (!primary || !secondary || (!said.primary && !said.secondary && !said.grade_group)) return;
    const int group = grade_group({*primary, *secondary});
    const bool stated = !row.get("grade_group").empty() || !row.get("isup_grade").empty();
    const bool both = said.primary && said.secondary;
    if (stated && !both && said.grade_group != group) {
      fail(ErrorCode::usage,
           "{}: grade group {} does not fit the patterns {}+{}, which are group {}; state primary "
           "and secondary too, or '-' for those that are not known any more",
           row.where, *said.grade_group, *primary, *secondary, group);
    }
    if (!stated) columns["grade_group"] = group;
  }

  static void take_columns(const SlideCase& said, bool panda, Json& columns) {
    const auto take = [&](const char* column, const std::string& text) {
      if (!text.empty()) columns[column] = text;
    };
    if (!panda) take("case", said.case_id);
    take("cohort", said.cohort);
    take("scanner", said.scanner);
    take("split", said.split);
    if (said.primary) columns["primary"] = *said.primary;
    if (said.secondary) columns["secondary"] = *said.secondary;
    if (said.grade_group) columns["grade_group"] = *said.grade_group;
    if (said.negative) columns["negative"] = *said.negative;
  }

  static void clear(const std::string& column, LabelUpdate& update) {
    if (column == "annotation") {
      update.withdraw = true;
    } else if (column == "gleason") {
      for (const char* grade : {"primary", "secondary", "grade_group"}) {
        if (!update.columns.contains(grade)) update.columns[grade] = nullptr;
      }
    } else {
      update.columns[column == "isup_grade" ? "grade_group" : column] = nullptr;
    }
  }

  /// Files that are named as an image.
  void take_folder() {
    std::vector<ImageNames> names;
    for (const auto& [id, image] : store_.version.images) names.push_back({"", id});
    const AnnotationFiles files(options_.annotations, names);
    std::vector<std::string> used;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string& id = names[i].id;
      if (named_by_table_.contains(id)) {
        used.push_back(slides_.at(id).annotation);
        continue;
      }
      const std::string file = files.of(i);
      if (file.empty()) continue;
      slide_of(id, "").annotation = file;
      used.push_back(file);
    }
    if (used.empty())
      refuse_unless(options_.accept, Doubt::unmatched, ErrorCode::usage, files.nothing_fits());
    plan_.unused = files.unused(used);
  }

  void settle_classes() {
    std::vector<SlideCase> labelled;
    const auto given = std::make_shared<const GivenClasses>(
        given_classes(options_.classes, to_string(Option{"classes"})));
    for (auto& [id, slide] : slides_) {
      slide.given = given;
      settle_coding(slide, options_.coding);
      if (!slide.annotation.empty()) labelled.push_back(slide);
      if (updates_[id].withdraw && !slide.annotation.empty()) updates_[id].withdraw = false;
    }
    const auto& stored = store_.version.classes;
    plan_.classes = stored.empty() && (!labelled.empty() || !options_.classes.empty())
                        ? classes_of(given->names, labelled)
                        : extended_classes(stored, given->names);
    const auto names = label_names(plan_.classes, store_.version.class_sets());
    for (const auto& slide : labelled) {
      if (slide.coding) coding_table(*slide.coding, names);
    }
  }

  const LabelIngestOptions& options_;
  const LabelStore& store_;
  LabelPlan plan_;
  std::map<std::string, SlideCase> slides_;
  std::map<std::string, LabelUpdate> updates_;
  std::set<std::string> named_by_table_;  ///< images whose row names an annotation
};

}  // namespace

LabelPlan plan_slide_labels(const LabelIngestOptions& options, const LabelStore& store) {
  return SlideLabelPlanner(options, store).run();
}

Json slide_facts_of(const LabelStore& store, const cohort::StoreVersion& version) {
  std::vector<std::string> ids;
  for (const auto& [id, image] : version.images) ids.push_back(id);
  std::vector<FinishedImage> found(ids.size());
  store.pool.parallel_for(ids.size(), [&](std::size_t i) {
    found[i].id = ids[i];
    found[i].columns = version.images.at(ids[i]).columns;
    found[i].facts = {{"od", store.image_info(ids[i]).value("od", Json())}};
  });
  std::map<std::string, FinishedImage> images;
  for (auto& image : found) images[image.id] = std::move(image);
  return slide_cohort_facts(images);
}

}  // namespace headrace::ingest
