#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/ingest/inputs/case_rules.hpp"
#include "headrace/ingest/inputs/cohort_inputs.hpp"
#include "headrace/ingest/inputs/cohort_table.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/labels/label_plan.hpp"
#include "headrace/ingest/slide/grade.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/slide_job.hpp"
#include "headrace/ingest/slide/slide_labels.hpp"
#include "headrace/ingest/store/cohort_metadata.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeepBytes = std::size_t{256} << 20;

class SlideLabelPlanner {
 public:
  SlideLabelPlanner(const LabelIngestOptions& options, const LabelStore& store)
      : options_(options), store_(store) {}

  LabelPlan run() {
    if (!options_.table.empty()) take_table();
    if (!options_.annotations.empty()) take_folder();
    settle_classes();
    const int clevel = store_.settings.value("clevel", 0);
    auto slides = std::make_shared<std::vector<SlideCase>>();
    for (auto& [id, slide] : slides_) {
      LabelUpdate& update = updates_[id];
      update.image = id;
      update.where = slide.where.empty() ? slide.annotation : slide.where;
      update.fingerprint = label_fingerprint(slide, plan_.classes);
      plan_.updates.push_back(std::move(update));
      slides->push_back(slide);
    }
    const auto classes = std::make_shared<std::vector<std::string>>(
        label_names(plan_.classes, store_.version.class_sets()));
    const auto buffers = std::make_shared<device::BufferPool>(kKeepBytes);
    const LabelStore store = store_;
    const auto plan_of = [=](std::size_t i) {
      const std::string& id = (*slides)[i].id;
      return plan_of_stored(store.image_info(id), clevel, "image " + id);
    };
    const auto open = [=](std::size_t i, const SlidePlan& plan) {
      const SlideCase& slide = (*slides)[i];
      return with_context(slide.where.empty() ? "image " + slide.id : slide.where, [&] {
        return LabelSource::open(slide.annotation, slide.coding, *classes, plan.levels[0].size,
                                 slide.objects);
      });
    };
    plan_.look = [=](std::size_t i) {
      const SlidePlan plan = plan_of(i);
      open(i, plan);
      return unfinished_label_bytes(plan);
    };
    plan_.write = [=, set = options_.set](std::size_t i, StagedLabels& staged) {
      const SlidePlan plan = plan_of(i);
      SlideLabels labels(staged.store(), set, staged.folder(), plan, *classes, open(i, plan),
                         store.pool, *buffers);
      run_in_order(store.pool, labels.tasks(), static_cast<std::size_t>(store.pool.size()),
                   [&](std::size_t task) { labels.run(task); });
      labels.finish();
    };
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
    CohortTable table = read_cohort_table(options_.table, true);
    const FileFinder finder({}, options_.table);
    for (TableRow& row : table.rows) {
      const auto cleared = take_cleared(row, {"primary", "secondary", "grade_group", "isup_grade",
                                              "gleason", "negative", "annotation"});
      const SlideCase said = case_of_row(row, table.panda);
      const std::string id = image_of_row(said.id, row.get("file"), row.where, store_.version);
      if (slides_.contains(id)) {
        fail(ErrorCode::usage, "{}: image '{}' has a row already, at {}", row.where, id,
             slides_.at(id).where);
      }
      SlideCase& slide = slide_of(id, row.where);
      slide.coding = said.coding;
      slide.provider = said.provider;
      take_columns(said, table.panda, updates_[id].columns);
      for (const auto& column : cleared) clear(column, updates_[id]);
      merge_grades(row, said, store_.version.images.at(id).columns, updates_[id].columns);
      if (const std::string name = row.get("annotation"); !name.empty()) {
        slide.annotation = finder.find_annotation(name, options_.annotations, row.where);
        named_by_table_.insert(id);
      }
    }
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

  /// Files that are named as an image, or with _mask after it.
  void take_folder() {
    std::vector<std::string> files, unused;
    for (const auto& entry : fs::directory_iterator(options_.annotations)) {
      if (entry.is_regular_file() && annotation_stem(entry.path().string()))
        files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      std::string id = plain_id(*annotation_stem(file));
      if (!store_.version.images.contains(id) && id.ends_with("_mask")) id.resize(id.size() - 5);
      if (!store_.version.images.contains(id)) {
        unused.push_back(file);
        continue;
      }
      if (named_by_table_.contains(id)) continue;
      SlideCase& slide = slide_of(id, "");
      if (!slide.annotation.empty()) {
        fail(ErrorCode::usage,
             "image '{}' has more than one annotation, {} and {}; keep one, or name it in a table",
             id, slide.annotation, file);
      }
      slide.annotation = file;
    }
    if (unused.size() == files.size()) {
      fail(ErrorCode::usage,
           "{}: holds no annotation that is named as an image of the store, or with _mask after "
           "it{}",
           options_.annotations, unused.empty() ? "" : fmt::format(" ({} is not)", unused.front()));
    }
    if (!unused.empty()) {
      plan_.notes.push_back(fmt::format("{} files of {} fit no image, {} for one.", unused.size(),
                                        options_.annotations, unused.front()));
    }
  }

  void settle_classes() {
    std::vector<SlideCase> labelled;
    for (auto& [id, slide] : slides_) {
      settle_coding(slide, options_.coding);
      if (!slide.annotation.empty()) labelled.push_back(slide);
      if (updates_[id].withdraw && !slide.annotation.empty()) updates_[id].withdraw = false;
    }
    const auto& stored = store_.version.classes;
    plan_.classes = stored.empty() && (!labelled.empty() || !options_.classes.empty())
                        ? classes_of(options_.classes, labelled)
                        : extended_classes(stored, options_.classes);
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
