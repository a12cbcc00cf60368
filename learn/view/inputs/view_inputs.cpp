#include "learn/view/inputs/view_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/read_file.hpp"
#include "learn/view/inputs/image_files.hpp"

namespace headrace::view {
namespace {

namespace fs = std::filesystem;

using CohortPointer = std::shared_ptr<const cohort::Cohort>;

bool is_run(const fs::path& path) {
  return fs::exists(path / "run.json") && fs::exists(path / "config.json");
}
bool is_prediction(const fs::path& path) {
  return fs::exists(path / "predict.json") || fs::exists(path / "findings.json");
}

/// Collects items by kind and id.
class Collector {
 public:
  void add_store(const std::string& path) {
    const CohortPointer cohort = open(path);
    for (std::size_t i = 0; i < cohort->images().size(); ++i) add_stored(cohort, i);
    stores_.insert(path);
  }

  void add_run(const fs::path& folder) {
    const Json run = parse_json(read_file(folder / "run.json"), (folder / "run.json").string());
    const Json config =
        parse_json(read_file(folder / "config.json"), (folder / "config.json").string());
    const std::string store = run.value("store", "");
    const Json* split = find_at(config, {"data", "val"});
    const std::string wanted =
        split != nullptr && split->is_string() ? split->get<std::string>() : "";
    const CohortPointer cohort = with_context(folder.string(), [&] { return open(store); });
    for (std::size_t i = 0; i < cohort->images().size(); ++i)
      if (cohort->images()[i].split == wanted) add_stored(cohort, i);
    stores_.insert(store);
  }

  void add_results(const std::string& path) {
    for (const fs::path& folder : result::ImageResult::find(path)) {
      auto result = std::make_shared<const result::ImageResult>(result::ImageResult::open(folder));
      const result::ImageFacts& facts = result->facts();
      ViewItem& item = item_of(facts.slide ? ItemKind::slide : ItemKind::volume, facts.id);
      if (item.result) {
        fail(ErrorCode::usage,
             "two predictions of '{}': {} and {}; show one folder of predictions at a time",
             facts.id, item.result->folder().string(), folder.string());
      }
      if (item.case_id.empty()) item.case_id = facts.case_id;
      item.result = std::move(result);
    }
  }

  void add_files(const std::string& path) {
    for (ViewItem& found : items_of_path(path)) {
      ViewItem& item = item_of(found.kind, found.id);
      if (item.file) {
        log::warning("{}: left out, since {} has the same name", found.file->path, item.file->path);
        continue;
      }
      item.file = std::move(found.file);
      if (item.case_id.empty()) item.case_id = std::move(found.case_id);
    }
  }

  /// Gives predictions their images: from the store that was named, else from where they were made.
  void complete(const std::string& store) {
    for (auto& [key, item] : items_) {
      if (item.stored || (!store.empty() && take_from_store(store, item))) continue;
      if (!item.file && item.result) take_from_source(item);
    }
  }

  ViewInputs finish(const std::string& store) {
    ViewInputs out;
    for (auto& [key, item] : items_) out.items.push_back(std::move(item));
    std::sort(out.items.begin(), out.items.end(),
              [](const ViewItem& a, const ViewItem& b) { return a.id < b.id; });
    out.store = !store.empty() ? store : stores_.size() == 1 ? *stores_.begin() : "";
    return out;
  }

 private:
  CohortPointer open(const std::string& path) {
    CohortPointer& cohort = cohorts_[path];
    if (!cohort) cohort = cohort::Cohort::open(path);
    return cohort;
  }

  ViewItem& item_of(ItemKind kind, const std::string& id) {
    ViewItem& item = items_[{kind, id}];
    item.kind = kind;
    item.id = id;
    return item;
  }

  void add_stored(const CohortPointer& cohort, std::size_t image) {
    const cohort::ImageRecord& record = cohort->images()[image];
    ViewItem& item = item_of(record.volume ? ItemKind::volume : ItemKind::slide, record.id);
    if (item.stored && item.stored->cohort != cohort) {
      fail(ErrorCode::usage, "'{}' is an image of {} and of {}; show one of them at a time",
           record.id, item.stored->cohort->path(), cohort->path());
    }
    item.stored = StoredImage{cohort, image};
    item.case_id = record.case_id;
  }

  /// A source that is gone or can't be read leaves the prediction without its image.
  void take_from_source(ViewItem& item) {
    const std::string& source = item.result->facts().source;
    try {
      if (cohort::is_store(source)) {
        if (take_from_store(source, item)) return;
      } else {
        item.file = image_of_result(*item.result);
      }
    } catch (const Error& error) {
      log::warning("{}", error.what());
    }
    if (item.file) return;
    log::warning("{}: its image is not at {} any more; only the prediction is shown", item.id,
                 source);
  }

  bool take_from_store(const std::string& path, ViewItem& item) {
    item.stored = stored_image(open(path), item);
    if (item.stored) item.case_id = item.stored->record().case_id;
    return item.stored.has_value();
  }

  std::map<std::pair<ItemKind, std::string>, ViewItem> items_;
  std::map<std::string, CohortPointer> cohorts_;
  std::set<std::string> stores_;
};

}  // namespace

ViewInputs find_view_inputs(const std::vector<std::string>& inputs, const std::string& store) {
  Collector collector;
  for (const std::string& input : inputs) {
    if (cohort::is_store(input)) {
      collector.add_store(input);
    } else if (is_run(input)) {
      collector.add_run(input);
    } else if (is_prediction(input)) {
      collector.add_results(input);
    } else {
      collector.add_files(input);
    }
  }
  collector.complete(store);
  return collector.finish(store);
}

}  // namespace headrace::view
