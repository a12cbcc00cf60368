#include "headrace/ingest/labels/ingest_labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/url_hint.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/ingest/inputs/similar_cases.hpp"
#include "headrace/ingest/labels/label_plan.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/ingest/slide/object_kinds.hpp"
#include "headrace/ingest/store/counting_store.hpp"
#include "headrace/ingest/store/pixels_of_splits.hpp"
#include "headrace/ingest/versions/version_log.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/store_lock.hpp"

namespace headrace::ingest {
namespace {

using cohort::StoreVersion;
using cohort::VersionLabel;

constexpr std::uint64_t kLabelBytes = std::uint64_t{1} << 30;  // of all label images at work

void check_options(const LabelIngestOptions& options) {
  storage::open_existing_store(storage::Place::parse(options.store));
  if (const auto why = why_no_name(options.set, false))
    fail(ErrorCode::usage, "{} '{}': {}", Option{"set"}, options.set, *why);
  if (is_reserved_name(options.set)) {
    fail(ErrorCode::usage, "{} '{}': is a name that Zarr keeps for its own files", Option{"set"},
         options.set);
  }
  check_message(options.message);
  check_objects(options.objects);
  if (!options.annotations.empty() && !std::filesystem::is_directory(options.annotations))
    fail(ErrorCode::not_found, "{}: there is no such folder{}", options.annotations,
         url_hint(options.annotations));
  if (options.table.empty() && options.annotations.empty() && options.withdraw.empty() &&
      options.classes.empty()) {
    fail(ErrorCode::usage, "nothing to change: give a {}, a folder of labels, {} or {}",
         Option{"table"}, Option{"classes"}, Option{"withdraw"});
  }
}

/// All images of a case must be in one split.
void check_splits(const StoreVersion& version) {
  std::map<std::string, std::pair<std::string, std::string>> splits;  // case → split, image
  for (const auto& [id, image] : version.images) {
    const std::string of_case = image.columns.value("case", id),
                      split = image.columns.value("split", "");
    const auto [found, fresh] = splits.try_emplace(of_case, split, id);
    if (fresh || found->second.first == split) continue;
    fail(ErrorCode::usage,
         "case '{}' would be in split '{}' with image '{}' and in '{}' with '{}'; all images of a "
         "case must be in one split, so change all of them",
         of_case, found->second.first, found->second.second, split, id);
  }
}

/// Where a table names cases or moves images.
void check_similar_cases(const StoreVersion& version, const std::vector<LabelUpdate>& updates,
                         const Accepted& accept) {
  const bool changed = std::any_of(updates.begin(), updates.end(), [](const LabelUpdate& update) {
    return update.columns.contains("case") || update.columns.contains("split");
  });
  if (!changed) return;
  std::vector<StatedCase> cases;
  for (const auto& [id, image] : version.images) {
    const std::string of_case = image.columns.value("case", id);
    if (of_case != id)
      cases.push_back({of_case, image.columns.value("split", ""), fmt::format("image '{}'", id)});
  }
  refuse_similar_cases(cases, accept);
}

class LabelCommit {
 public:
  explicit LabelCommit(const LabelIngestOptions& options)
      : options_(options),
        lock_(options.store),
        pool_(options.jobs),
        counting_(std::make_shared<CountingStore>(
            storage::open_store(storage::Place::parse(options.store)))),
        current_(version_of(*counting_)),
        version_(current_.version),
        store_{counting_, current_.version, settings(), pool_} {}

  LabelIngestResult run() {
    try {
      return commit();
    } catch (...) {
      clean_staged();
      throw;
    }
  }

 private:
  LabelIngestResult commit() {
    result_.before = current_.hash;
    clean_staged();
    plan_ = version_.kind == "volume" ? plan_volume_labels(options_, store_)
                                      : plan_slide_labels(options_, store_);
    if (!store_.version.class_sets().empty() && plan_.classes != version_.classes) {
      fail(ErrorCode::usage,
           "{}: {} has class sets, whose label values follow those of its classes ({}); no "
           "class can be added",
           Option{"classes"}, options_.store, fmt::join(version_.classes, ", "));
    }
    result_.notes = plan_.notes;
    result_.classes_added = plan_.classes.size() - version_.classes.size();
    version_.classes = plan_.classes;
    for (const LabelUpdate& update : plan_.updates) change_columns(update);
    withdraw();
    check_splits(version_);
    check_similar_cases(version_, plan_.updates, options_.accept);
    if (moves_images()) check_pixels_of_splits(*counting_, version_, options_.accept);
    update_facts();
    const std::vector<std::size_t> fresh = find_fresh();
    std::vector<std::uint64_t> takes(fresh.size());
    pool_.parallel_for(fresh.size(), [&](std::size_t i) { takes[i] = plan_.look(fresh[i]); });
    if (plan_.settle) plan_.settle();
    if (plan_.counts) result_.annotations = plan_.counts();
    write(fresh, at_once(takes));
    const std::uint64_t before = counting_->bytes_put();
    for (const auto& [i, group] : remembered_)
      remember_group(*counting_, plan_.updates[i].image, plan_.updates[i].fingerprint, group);
    result_.after = commit_version(*counting_, version_, options_.message);
    result_.version_bytes = counting_->bytes_put() - before;
    clean_staged();
    result_.unused = sorted(std::move(plan_.unused));
    result_.report = report_store(options_.store, labelled(), options_.set);
    return std::move(result_);
  }

  bool moves_images() const {
    return std::any_of(plan_.updates.begin(), plan_.updates.end(),
                       [](const auto& u) { return u.columns.contains("split"); });
  }

  std::set<std::string> labelled() const {
    std::set<std::string> images;
    for (const LabelUpdate& update : plan_.updates) {
      if (!update.fingerprint.empty()) images.insert(update.image);
    }
    return images;
  }

  /// Images at work at the same time: as many as threads, less where they take much memory.
  std::size_t at_once(const std::vector<std::uint64_t>& takes) const {
    std::uint64_t largest = 1;
    for (const std::uint64_t bytes : takes) largest = std::max(largest, bytes);
    return std::clamp<std::uint64_t>(kLabelBytes / largest, 1,
                                     static_cast<std::uint64_t>(pool_.size()));
  }

  /// Removes staged files of this run or a stopped one; the journal of an ingest stays.
  void clean_staged() const {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const auto store = storage::Place::parse(options_.store);
    fs::remove_all(store.join(kStagedLabels).path(), ignored);
    fs::remove(store.join(".ingest").path(), ignored);
  }

  static CurrentVersion version_of(const storage::Store& store) {
    cohort::StoreHead::load(store);  // refuses a store without versions
    return current_version(store);
  }

  Json settings() const {
    const Json root =
        parse_json(counting_->get_text("zarr.json"), counting_->describe("zarr.json"));
    return root.at("attributes").at("headrace").value("ingest", Json::object());
  }

  void change_columns(const LabelUpdate& update) {
    Json& columns = version_.images.at(update.image).columns;
    for (const auto& [column, value] : update.columns.items()) {
      if (columns.value(column, Json()) == value) continue;
      columns[column] = value;
      ++result_.columns;
    }
  }

  void withdraw_one(const std::string& image) {
    result_.withdrawn += version_.images.at(image).labels.erase(options_.set);
  }

  void withdraw() {
    const std::uint64_t before = result_.withdrawn;
    for (const LabelUpdate& update : plan_.updates) {
      if (update.withdraw) withdraw_one(update.image);
    }
    for (const auto& name : options_.withdraw) {
      if (name == "all") {
        for (const auto& [id, image] : current_.version.images) withdraw_one(id);
        continue;
      }
      const std::string image = image_of_row(name, "", to_string(Option{"withdraw"}), version_);
      if (!version_.images.at(image).labels.contains(options_.set)) {
        fail(ErrorCode::usage, "{} {}: the image has no labels '{}'", Option{"withdraw"}, name,
             options_.set);
      }
      withdraw_one(image);
    }
    if (!options_.withdraw.empty() && result_.withdrawn == before)
      fail(ErrorCode::usage, "{}: no image has labels '{}'", Option{"withdraw"}, options_.set);
  }

  void update_facts() {
    for (const auto& [key, value] : plan_.facts.items()) version_.facts[key] = value;
    if (version_.kind != "slide") return;
    const bool moved = std::any_of(plan_.updates.begin(), plan_.updates.end(),
                                   [](const auto& u) { return u.columns.contains("scanner"); });
    if (!moved) return;
    const auto sets = store_.version.class_sets();
    version_.facts = slide_facts_of(store_, version_);
    if (!sets.empty()) version_.facts["class_sets"] = to_json(sets, version_.classes);
  }

  /// Updates whose labels are not stored yet, as far as files can tell.
  std::vector<std::size_t> find_fresh() {
    std::vector<std::size_t> fresh;
    for (std::size_t i = 0; i < plan_.updates.size(); ++i) {
      const LabelUpdate& update = plan_.updates[i];
      if (update.fingerprint.empty()) continue;
      const auto group = remembered_group(*counting_, update.image, update.fingerprint);
      const auto part = group ? find_part(*counting_, update.image, *group) : std::nullopt;
      if (part && !follows_other_masks(*counting_, update.image, *group)) {
        take(i, {*group, *part});
      } else {
        fresh.push_back(i);
      }
    }
    return fresh;
  }

  void take(std::size_t i, const VersionLabel& label) {
    auto& labels = version_.images.at(plan_.updates[i].image).labels;
    const auto found = labels.find(options_.set);
    if (found == labels.end()) {
      ++result_.added;
    } else if (found->second == label) {
      ++result_.unchanged;
    } else {
      ++result_.replaced;
    }
    labels[options_.set] = label;
  }

  void write(const std::vector<std::size_t>& fresh, std::size_t at_once) {
    std::vector<VersionLabel> labels(fresh.size());
    std::atomic<std::uint64_t> bytes{0};
    Progress progress("ingest labels", fresh.size(), "images");
    run_in_order(pool_, fresh.size(), at_once, [&](std::size_t f) {
      const LabelUpdate& update = plan_.updates[fresh[f]];
      StagedLabels staged(counting_, update.image, options_.set);
      with_context(update.where, [&] { plan_.write(fresh[f], staged); });
      labels[f] = staged.finish();
      bytes += staged.bytes_added();
      progress.advance();
    });
    result_.label_bytes = bytes;
    for (std::size_t f = 0; f < fresh.size(); ++f) {
      take(fresh[f], labels[f]);
      remembered_.emplace_back(fresh[f], labels[f].group);
    }
  }

  const LabelIngestOptions& options_;
  storage::StoreLock lock_;
  ThreadPool pool_;
  std::shared_ptr<CountingStore> counting_;
  const CurrentVersion current_;
  StoreVersion version_;
  LabelStore store_;
  LabelPlan plan_;
  LabelIngestResult result_;
  std::vector<std::pair<std::size_t, std::string>> remembered_;
};

}  // namespace

Json LabelStore::image_info(const std::string& image) const {
  const std::string key = fmt::format("images/{}/zarr.json", image);
  const Json group = parse_json(store->get_text(key), store->describe(key));
  return group.value("attributes", Json::object()).value("headrace", Json::object());
}

std::vector<std::string> extended_classes(const std::vector<std::string>& stored,
                                          const std::vector<std::string>& given) {
  if (given.empty()) return stored;
  const bool begins =
      given.size() >= stored.size() && std::equal(stored.begin(), stored.end(), given.begin());
  if (!begins) {
    fail(ErrorCode::usage,
         "{} {}: must begin with the store's classes ({}), since its label images hold their "
         "values; new ones come after them",
         Option{"classes"}, fmt::join(given, ","), fmt::join(stored, ","));
  }
  const std::set<std::string> distinct(given.begin(), given.end());
  if (given.size() > 255 || distinct.size() != given.size() || distinct.contains("")) {
    fail(ErrorCode::usage, "{}: names must be distinct and not empty, at most 255 (255 is ignore)",
         Option{"classes"});
  }
  return given;
}

std::vector<std::string> take_cleared(TableRow& row, const std::vector<std::string>& clearable) {
  std::vector<std::string> cleared;
  for (auto field = row.fields.begin(); field != row.fields.end();) {
    if (field->second != "-") {
      ++field;
      continue;
    }
    if (std::find(clearable.begin(), clearable.end(), field->first) == clearable.end()) {
      fail(ErrorCode::usage, "{}: column '{}' can't be empty; '-' is for {}", row.where,
           field->first, fmt::join(clearable, ", "));
    }
    cleared.push_back(field->first);
    field = row.fields.erase(field);
  }
  return cleared;
}

std::string image_of_row(const std::string& image, const std::string& file,
                         const std::string& where, const StoreVersion& version) {
  const std::string id = image.empty() ? id_of_file(file) : image;
  if (version.images.contains(id)) return id;
  std::vector<std::string> ids;
  for (const auto& [known, ignored] : version.images) ids.push_back(known);
  const auto nearest = nearest_name(id, ids);
  fail(ErrorCode::usage, "{}: the store has no image '{}'{}", where, id,
       nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
}

LabelIngestResult ingest_labels(const LabelIngestOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_options(options);
  LabelIngestResult result = LabelCommit(options).run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace headrace::ingest
