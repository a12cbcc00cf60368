#include "learn/suggest/image_pool.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "headrace/cohort/annotation.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::suggest {
namespace {

/// What must be the same in all predictions that are compared.
Json made_by(const result::ImageFacts& facts) {
  Json weights = Json::array();
  for (const auto& network : facts.networks) weights.push_back(network.weights_sha256);
  return {{"weights", weights}, {"flips", facts.flips}, {"volume", facts.volume.has_value()}};
}

std::string weights_text(const result::ImageFacts& facts) {
  std::vector<std::string> words;
  for (const auto& network : facts.networks)
    words.push_back(fmt::format("{} ({})", network.name, network.weights_sha256.substr(0, 12)));
  return fmt::format("{} of {}{}", facts.volume ? "a volume" : "a slide", fmt::join(words, ", "),
                     facts.flips ? " with flips" : "");
}

std::vector<result::ImageResult> open_results(const std::vector<std::string>& folders) {
  std::map<std::string, result::ImageResult> by_id;
  for (const std::string& folder : folders) {
    for (const auto& path : result::ImageResult::find(folder)) {
      auto image = result::ImageResult::open(path);
      const std::string id = image.facts().id;
      const auto [at, added] = by_id.emplace(id, std::move(image));
      if (!added) {
        fail(ErrorCode::usage,
             "two predictions of image '{}': {} and {}; images are told apart by their ids, so "
             "name one of them",
             id, at->second.folder().string(), path.string());
      }
    }
  }
  std::vector<result::ImageResult> all;
  for (auto& [id, image] : by_id) all.push_back(std::move(image));
  const result::ImageResult& first = all.front();
  for (const auto& image : all) {
    if (made_by(image.facts()) == made_by(first.facts())) continue;
    fail(ErrorCode::usage,
         "{} is the prediction of {}, {} that of {}; uncertainties of different networks can't be "
         "compared. Name the output folders of one network, or ensemble, alone",
         first.folder().string(), weights_text(first.facts()), image.folder().string(),
         weights_text(image.facts()));
  }
  return all;
}

/// An open store and which of its images have labels.
class LabelStore {
 public:
  LabelStore(const std::string& path, const std::vector<std::string>& labels, bool of_volumes,
             Option option)
      : cohort_(cohort::Cohort::open(path)) {
    const bool volumes = !cohort_->images().empty() && cohort_->images().front().volume;
    if (volumes != of_volumes) {
      fail(ErrorCode::usage, "{} {} is a store of {}s, the predictions are of {}", option, path,
           cohort_->kind(), of_volumes ? "volumes" : "slides");
    }
    check_sets(labels);
    for (std::size_t i = 0; i < cohort_->images().size(); ++i) {
      const bool known = std::any_of(labels.begin(), labels.end(), [&](const std::string& set) {
        return annotation_of(*cohort_, i, set) != cohort::Annotation::none;
      });
      images_[cohort_->images()[i].id] = {&cohort_->images()[i], known};
    }
  }

  struct Image {
    const cohort::ImageRecord* record = nullptr;
    bool labelled = false;
  };
  const Image* find(const std::string& id) const {
    const auto found = images_.find(id);
    return found == images_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Image>& images() const { return images_; }
  const std::shared_ptr<const cohort::Cohort>& cohort() const { return cohort_; }

 private:
  /// A store without any labels is one that is begun; a misspelt set would make all of it new.
  void check_sets(const std::vector<std::string>& labels) const {
    std::set<std::string> there;
    for (const auto& record : cohort_->images())
      there.insert(record.labels.begin(), record.labels.end());
    for (const std::string& set : labels) {
      if (there.empty() || there.contains(set)) continue;
      fail(ErrorCode::usage, "{} has no labels of the set '{}'; it has: {}", cohort_->path(), set,
           fmt::join(there, ", "));
    }
  }

  std::shared_ptr<const cohort::Cohort> cohort_;
  std::map<std::string, Image> images_;
};

/// Puts results and stores together.
class Pooling {
 public:
  explicit Pooling(const PoolRequest& request)
      : request_(request), results_(open_results(request.results)) {
    const bool volumes = results_.front().facts().volume.has_value();
    if (!request.store.empty())
      store_.emplace(request.store, request.labels, volumes, Option{"store"});
    if (!request.labelled.empty())
      others_.emplace(request.labelled, request.labels, volumes, Option{"labelled"});
    check_split();
  }

  ImagePool run() {
    for (const auto* store : {&store_, &others_})
      if (*store) pool_.stores.push_back((*store)->cohort());
    std::set<std::string> predicted;
    for (result::ImageResult& result : results_) {
      predicted.insert(result.facts().id);
      take(std::move(result));
    }
    count_without_result(predicted);
    check_candidates(predicted.size());
    return std::move(pool_);
  }

 private:
  void take(result::ImageResult result) {
    const std::string id = result.facts().id;
    const auto* own = store_ ? store_->find(id) : nullptr;
    const auto* other = others_ ? others_->find(id) : nullptr;
    const bool labelled =
        (own != nullptr && own->labelled) || (other != nullptr && other->labelled);
    if (store_ && own == nullptr && !labelled) {
      pool_.not_in_store.push_back(id);
      return;
    }
    if (!labelled && own != nullptr && !of_split(*own->record)) {
      ++pool_.of_other_splits;
      return;
    }
    const auto* known = own != nullptr ? own : other;
    PooledImage image{std::move(result), {}, labelled, known != nullptr ? known->record : nullptr};
    image.case_id = image.record != nullptr ? image.record->case_id : image.result.facts().case_id;
    if (image.case_id.empty()) image.case_id = id;
    pool_.images.push_back(std::move(image));
  }

  bool of_split(const cohort::ImageRecord& record) const {
    return request_.split.empty() || record.split == request_.split;
  }

  void check_split() const {
    if (request_.split.empty()) return;
    if (!store_) {
      fail(ErrorCode::usage, "{} chooses among the images of a store; name it ({})",
           Option{"split"}, Option{"store"});
    }
    for (const auto& [id, image] : store_->images())
      if (of_split(*image.record)) return;
    fail(ErrorCode::usage, "{}: there is no image in split '{}'", request_.store, request_.split);
  }

  void count_without_result(const std::set<std::string>& predicted) {
    std::set<std::string> labelled;
    for (const auto* store : {&store_, &others_}) {
      if (!*store) continue;
      for (const auto& [id, image] : (*store)->images())
        if (image.labelled && !predicted.contains(id)) labelled.insert(id);
    }
    pool_.labelled_without_result = labelled.size();
    if (!store_) return;
    for (const auto& [id, image] : store_->images()) {
      if (image.labelled || predicted.contains(id) || labelled.contains(id)) continue;
      if (of_split(*image.record)) pool_.not_predicted.push_back(id);
    }
  }

  std::string sets_text() const {
    return fmt::format("{} {}", request_.labels.size() == 1 ? "set" : "sets",
                       fmt::join(request_.labels, ", "));
  }

  void check_candidates(std::size_t predicted) const {
    if (pool_.candidates() > 0) return;
    if (!pool_.not_predicted.empty()) {
      fail(ErrorCode::usage,
           "{}: none of its {} images without labels ({}) is among the {} predictions; "
           "predict them first",
           request_.store, pool_.not_predicted.size(), sets_text(), predicted);
    }
    if (pool_.of_other_splits > 0) {
      fail(ErrorCode::usage,
           "{}: no image of split '{}' is left without labels; {} of other splits are",
           request_.store, request_.split, pool_.of_other_splits);
    }
    if (pool_.images.empty()) {
      fail(ErrorCode::usage,
           "{}: none of the {} predictions is of an image of this store; images are matched by "
           "their ids",
           request_.store, predicted);
    }
    fail(ErrorCode::usage,
         "all {} predicted images have labels already ({}); there is nothing to suggest. Predict "
         "images without labels, or name another set ({})",
         pool_.images.size(), sets_text(), Option{"set"});
  }

  const PoolRequest& request_;
  std::vector<result::ImageResult> results_;
  std::optional<LabelStore> store_, others_;
  ImagePool pool_;
};

}  // namespace

std::size_t ImagePool::candidates() const {
  return static_cast<std::size_t>(std::count_if(images.begin(), images.end(),
                                                [](const auto& image) { return !image.labelled; }));
}

ImagePool open_pool(const PoolRequest& request) { return Pooling(request).run(); }

}  // namespace headrace::suggest
