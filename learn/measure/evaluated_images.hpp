#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::measure {

/// A figure and its path in a group of eval.json.
using PathFigure = std::pair<JsonPath, std::optional<double>>;

/// The cases of one group of an evaluation, of which figures are made for any drawing.
class EvaluatedCases {
 public:
  struct Case {
    std::string id;
    std::vector<std::string> images;  ///< of the group; ascending
    bool operator==(const Case&) const = default;
  };
  virtual ~EvaluatedCases() = default;
  /// Ascending by id.
  const std::vector<Case>& cases() const noexcept { return cases_; }
  /// The figures of these cases, some of which may be drawn more than once; always the same figures
  /// in the same order. Those that images of eval.json do not determine are left out: scores and
  /// calibration of pixels and voxels; for slides whose class sets decide about tumour, the
  /// tumour's; and those of cases, where the group has only some of a case's slides.
  virtual std::vector<PathFigure> figures(std::span<const std::size_t> drawn) const = 0;

 protected:
  std::vector<Case> cases_;
};

/// The images of an eval.json, from which figures of any part of them are made again, by the same
/// code as when they were evaluated. Immutable; safe from any thread.
class EvaluatedImages {
 public:
  /// Errors: unsupported (a version made it whose images have no matrix), malformed.
  static std::shared_ptr<const EvaluatedImages> read(const Json& evaluation,
                                                     const std::string& origin);
  virtual ~EvaluatedImages() = default;
  /// Of a group (figure_names.hpp): kind "overall", "cohorts", "scanners" or "phases", and its name
  /// there. It must not outlive this object.
  virtual std::unique_ptr<const EvaluatedCases> group(const std::string& kind,
                                                      const std::string& name) const = 0;
};

}  // namespace headrace::measure
