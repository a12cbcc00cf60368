#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "learn/suggest/feature_table.hpp"

namespace headrace::suggest {

/// How images of one case (patient) are treated.
enum class CaseOrder {
  each_first,  ///< a second image of a case only when every case has one, labelled or chosen
  any          ///< as if every image were a case
};

/// What is chosen from. Images are those of a FeatureTable, sorted by id.
struct ChoiceInput {
  std::vector<double> uncertainty;  ///< of each image; of labelled ones it does not matter
  std::vector<bool> labelled;
  std::vector<std::string> cases;
};

struct Chosen {
  std::size_t image = 0;
  /// To the nearest image that was labelled or chosen before it; none for the first where nothing
  /// is labelled.
  std::optional<double> distance;
  std::optional<std::size_t> nearest;
};

/// Chooses up to `count` images, one after the other: always that with the greatest uncertainty ·
/// distance to the nearest image that is labelled or chosen. Without such an image the uncertainty
/// alone counts; of equal products the greater uncertainty, then the first image. This is k-centre
/// greedy (Gonzalez 1985; Sener & Savarese, Active Learning for Convolutional Neural Networks: A
/// Core-Set Approach, ICLR 2018, algorithm 1) with distances weighted by uncertainty.
///
/// time  images · (labelled + count) distances
std::vector<Chosen> choose_greedily(const FeatureTable& features, const ChoiceInput& input,
                                    std::size_t count, CaseOrder order);

}  // namespace headrace::suggest

namespace headrace {

template <>
inline constexpr auto kNamesOf<suggest::CaseOrder> = names<suggest::CaseOrder>(
    {{suggest::CaseOrder::each_first, "each-first"}, {suggest::CaseOrder::any, "any"}});

}  // namespace headrace
