#include "learn/suggest/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/core/progress.hpp"
#include "learn/suggest/image_features.hpp"
#include "learn/suggest/map_summary.hpp"
#include "learn/suggest/open_doubt.hpp"

namespace headrace::suggest {
namespace {

std::vector<MapSummary> summaries_of(const std::vector<PooledImage>& images, int threads) {
  std::vector<MapSummary> all(images.size());
  Progress progress("reading predictions", images.size(), "images");
  ThreadPool pool(threads);
  run_in_order(pool, images.size(), static_cast<std::size_t>(pool.size()), [&](std::size_t i) {
    all[i] = summarise_maps(images[i].result);
    progress.advance();
  });
  return all;
}

/// Images in which nothing was predicted say nothing of the network: they leave the pool.
std::vector<std::string> drop_empty(std::vector<PooledImage>& images,
                                    std::vector<MapSummary>& summaries) {
  std::vector<std::string> dropped;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (summaries[i].predicted == 0) {
      dropped.push_back(images[i].result.facts().id);
      continue;
    }
    if (kept != i) {
      images[kept] = std::move(images[i]);
      summaries[kept] = std::move(summaries[i]);
    }
    ++kept;
  }
  images.erase(images.begin() + static_cast<std::ptrdiff_t>(kept), images.end());
  summaries.resize(kept);
  return dropped;
}

/// The place of the most uncertain cell, as the user's viewer counts: pixels of the slide's level
/// 0, or LPS millimetres.
std::string place_text(const result::ImageFacts& facts, const std::array<double, 3>& at_zyx) {
  if (facts.volume) {
    const auto lps = facts.volume->grid.to_lps_mm(at_zyx[2], at_zyx[1], at_zyx[0]);
    return fmt::format("around x {:.0f}, y {:.0f}, z {:.0f} mm (LPS)", lps[0], lps[1], lps[2]);
  }
  const auto [scale_y, scale_x] = facts.slide->level0_px_yx;
  return fmt::format("around x {:.0f}, y {:.0f}", (at_zyx[2] + 0.5) * scale_x,
                     (at_zyx[1] + 0.5) * scale_y);
}

std::string look_first_text(const result::ImageFacts& facts, const OpenDoubt& open,
                            const MapSummary& summary) {
  if (!open.places.empty()) {
    return fmt::format("{}{} {}", facts.volume ? "lesion" : "region",
                       open.places.size() == 1 ? "" : "s", fmt::join(open.places, ", "));
  }
  return summary.uncertain_zyx ? place_text(facts, *summary.uncertain_zyx) : std::string();
}

/// What its findings leave open comes first, since it can be looked at; another doubt where it is
/// the greater one; and whether the image is the first of its scanner.
std::string why_text(const Uncertainty& uncertainty, const OpenDoubt& open,
                     const std::string& new_scanner) {
  std::vector<std::string> parts;
  if (!open.why.empty()) parts.push_back(open.why);
  const double disputed = uncertainty.disputed_share.value_or(0);
  const double other = std::max(disputed, uncertainty.entropy);
  if (parts.empty() || other > open.value) {
    parts.push_back(disputed > uncertainty.entropy
                        ? fmt::format("the networks disagree about {:.0f} % of it", 100 * disputed)
                        : fmt::format("the mean entropy of its most uncertain tenth is {:.2f}",
                                      uncertainty.entropy));
  }
  if (!new_scanner.empty()) parts.push_back(fmt::format("the first of scanner {}", new_scanner));
  return fmt::format("{}", fmt::join(parts, "; "));
}

class Suggesting {
 public:
  explicit Suggesting(const SuggestRequest& request)
      : request_(request), pool_(open_pool(request.pool)) {}

  Worklist run() {
    list_.labelled_without_result = pool_.labelled_without_result;
    list_.of_other_splits = pool_.of_other_splits;
    list_.not_predicted = pool_.not_predicted;
    list_.not_in_store = pool_.not_in_store;
    summaries_ = summaries_of(pool_.images, request_.threads);
    list_.empty = drop_empty(pool_.images, summaries_);
    list_.candidates = pool_.candidates();
    list_.labelled = pool_.images.size() - list_.candidates;
    if (list_.candidates == 0) {
      fail(ErrorCode::usage,
           "in none of the images without labels was anything predicted (no tissue, no body): {}",
           fmt::join(list_.empty, ", "));
    }
    choose();
    return std::move(list_);
  }

 private:
  void choose() {
    ChoiceInput input;
    for (std::size_t i = 0; i < pool_.images.size(); ++i) {
      const PooledImage& image = pool_.images[i];
      open_.push_back(open_doubt(image.result));
      uncertainty_.push_back(
          {summaries_[i].tail_entropy, disputed_share(image.result), open_.back().value});
      input.uncertainty.push_back(uncertainty_.back().total());
      input.labelled.push_back(image.labelled);
      input.cases.push_back(image.case_id);
      if (image.labelled) scanners_.insert(scanner_of(image));
    }
    const FeatureTable features = image_features(pool_.images, summaries_);
    for (const Chosen& chosen : choose_greedily(features, input, request_.count, request_.cases))
      list_.suggestions.push_back(describe(chosen));
  }

  static std::string scanner_of(const PooledImage& image) {
    return image.record != nullptr ? image.record->scanner : std::string();
  }

  Suggestion describe(const Chosen& chosen) {
    const PooledImage& image = pool_.images[chosen.image];
    const result::ImageFacts& facts = image.result.facts();
    const OpenDoubt& open = open_[chosen.image];
    const std::string scanner = scanner_of(image);
    const bool others = !scanners_.empty();
    const bool is_new = scanners_.insert(scanner).second && others;
    Suggestion out;
    out.rank = list_.suggestions.size() + 1;
    out.id = facts.id;
    out.case_id = image.case_id;
    out.scanner = scanner;
    out.source = facts.source;
    out.uncertainty = uncertainty_[chosen.image];
    out.places = open.places;
    out.distance = chosen.distance;
    if (chosen.nearest) out.nearest = pool_.images[*chosen.nearest].result.facts().id;
    out.why = why_text(out.uncertainty, open, is_new ? scanner : std::string());
    out.look_first = look_first_text(facts, open, summaries_[chosen.image]);
    out.warnings = warnings_of(image.result);
    return out;
  }

  const SuggestRequest& request_;
  ImagePool pool_;
  Worklist list_;
  std::vector<MapSummary> summaries_;
  std::vector<Uncertainty> uncertainty_;
  std::vector<OpenDoubt> open_;
  std::set<std::string> scanners_;  ///< of what is labelled or chosen
};

}  // namespace

double Uncertainty::total() const {
  return 1 - (1 - entropy) * (1 - disputed_share.value_or(0)) * (1 - open);
}

Worklist suggest(const SuggestRequest& request) {
  if (request.count == 0) fail(ErrorCode::usage, "a worklist of 0 images; ask for 1 or more");
  return Suggesting(request).run();
}

}  // namespace headrace::suggest
