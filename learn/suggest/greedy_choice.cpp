#include "learn/suggest/greedy_choice.hpp"

#include <set>
#include <tuple>

namespace headrace::suggest {
namespace {

class Greedy {
 public:
  Greedy(const FeatureTable& features, const ChoiceInput& input, CaseOrder order)
      : features_(features), input_(input), order_(order), nearest_(features.images()) {
    for (std::size_t i = 0; i < features.images(); ++i) {
      if (input.labelled[i]) {
        take(i);
      } else {
        open_.insert(i);
      }
    }
  }

  std::optional<Chosen> next() {
    if (open_.empty()) return std::nullopt;
    if (!any_of_new_case()) seen_cases_.clear();
    std::optional<std::size_t> best;
    for (const std::size_t i : open_)
      if (allowed(i) && (!best || weight(i) > weight(*best))) best = i;
    Chosen chosen{*best, {}, {}};
    if (nearest_[*best]) {
      chosen.nearest = nearest_[*best]->image;
      chosen.distance = nearest_[*best]->distance;
    }
    open_.erase(*best);
    take(*best);
    return chosen;
  }

 private:
  struct Nearest {
    std::size_t image = 0;
    double distance = 0;
  };

  bool allowed(std::size_t i) const {
    return order_ == CaseOrder::any || !seen_cases_.contains(input_.cases[i]);
  }
  bool any_of_new_case() const {
    for (const std::size_t i : open_)
      if (allowed(i)) return true;
    return false;
  }
  std::tuple<double, double> weight(std::size_t i) const {
    const double uncertainty = input_.uncertainty[i];
    return {uncertainty * (nearest_[i] ? nearest_[i]->distance : 1), uncertainty};
  }
  /// From here on the image counts as labelled.
  void take(std::size_t image) {
    seen_cases_.insert(input_.cases[image]);
    for (std::size_t i = 0; i < features_.images(); ++i) {
      if (input_.labelled[i]) continue;
      const double distance = features_.distance(i, image);
      if (!nearest_[i] || distance < nearest_[i]->distance) nearest_[i] = {image, distance};
    }
  }

  const FeatureTable& features_;
  const ChoiceInput& input_;
  const CaseOrder order_;
  std::set<std::size_t> open_;  ///< neither labelled nor chosen
  std::set<std::string> seen_cases_;
  std::vector<std::optional<Nearest>> nearest_;
};

}  // namespace

std::vector<Chosen> choose_greedily(const FeatureTable& features, const ChoiceInput& input,
                                    std::size_t count, CaseOrder order) {
  Greedy greedy(features, input, order);
  std::vector<Chosen> all;
  while (all.size() < count) {
    const auto chosen = greedy.next();
    if (!chosen) break;
    all.push_back(*chosen);
  }
  return all;
}

}  // namespace headrace::suggest
