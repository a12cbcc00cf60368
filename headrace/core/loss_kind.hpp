#pragma once
#include "headrace/core/enum_names.hpp"

namespace headrace {

/// The parts of a loss: a term of single pixels and one of regions (each class's pixels together).
/// The default is cross-entropy and soft Dice. model/loss_terms.hpp has their definitions; only the
/// numbers of the chosen terms are used.
struct LossKind {
  enum class Pixel { cross_entropy, focal, top_k };
  enum class Region { dice, tversky };

  Pixel pixel = Pixel::cross_entropy;
  double gamma = 2;       ///< focal; 1 and more
  double k_percent = 10;  ///< top_k: part of the annotated pixels, above 0 and at most 100
  Region region = Region::dice;
  double alpha = 0.3, beta = 0.7;  ///< tversky: of false positives, of false negatives
};

template <>
inline constexpr auto kNamesOf<LossKind::Pixel> =
    names<LossKind::Pixel>({{LossKind::Pixel::cross_entropy, "cross_entropy"},
                            {LossKind::Pixel::focal, "focal"},
                            {LossKind::Pixel::top_k, "top_k"}});
template <>
inline constexpr auto kNamesOf<LossKind::Region> = names<LossKind::Region>(
    {{LossKind::Region::dice, "dice"}, {LossKind::Region::tversky, "tversky"}});

}  // namespace headrace
