#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::train {

/// The main figures of a group of images; nothing where one is undefined, or belongs to another
/// task. docs/formats.md ("Evaluation of slides", "Evaluation of volumes") defines each.
struct GroupFigures {
  std::int64_t images = 0;
  std::map<std::string, std::optional<double>> dice;  ///< by class, background included
  std::optional<double> mean_dice;                    ///< over the classes but background
  std::optional<double> detection_auc;                ///< slides: of cancer, by slide
  std::optional<double> kappa;                        ///< gleason: quadratic, over grade groups
  std::optional<double> froc;                         ///< colorectal
  std::optional<double> sensitivity_at_1;             ///< colorectal: at 1 false positive a scan
};

/// A run's weights evaluated on a split of a store.
struct EvaluationFigures {
  /// From eval.json. Errors: malformed (a key is missing or of another type).
  explicit EvaluationFigures(Json evaluation);

  std::string split, dataset_hash;
  std::vector<std::string> classes;
  GroupFigures overall;
  std::map<std::string, GroupFigures> cohorts, scanners;
  std::map<std::string, GroupFigures> phases;  ///< of volumes
  /// Differences between the run and the store: classes that the run does not know (ignored), that
  /// the store does not have, and scanners whose slides are taken by their own colours.
  std::vector<std::string> unknown_classes, missing_classes, unknown_scanners;
  Json json;  ///< eval.json with every figure, its intervals, cases and images
};

}  // namespace headrace::train
