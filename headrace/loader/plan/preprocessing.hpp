#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/image_colour.hpp"
#include "headrace/core/intensity_stats.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader {

/// Mean and population standard deviation of tissue's optical density (core/image_colour.hpp), by
/// channel.
struct OdStats {
  std::uint64_t pixels = 0;  ///< 0: nothing is known
  std::array<double, 3> mean{}, std{};
  bool operator==(const OdStats&) const = default;
};

/// The target of stain_normalize.
struct StainReference {
  std::string name;  ///< "builtin", or its image in the training store
  std::array<double, 6> stain_od_rgb_he{};
  std::array<double, 2> max_concentration{};
  bool operator==(const StainReference&) const = default;
};

/// A channel that a run reads.
struct ChannelPreprocessing {
  std::string name;
  IntensityStats foreground;  ///< as Preprocessing::foreground, in the channel's unit
  IntensityUnit unit = IntensityUnit::hu;
};

/// All values that a run takes from its training split before the first step. The model's input is
/// a function of only these, the config and the image, whatever the image's store and its splits.
/// preprocessing.json of a run folder (docs/formats.md).
///
/// Only what the config's transforms need is fitted. A slide's stain estimate and the statistics of
/// a volume's body remain those of the image.
struct Preprocessing {
  std::vector<std::string> classes;  ///< the network's outputs, in order
  std::vector<ClassSet> class_sets;  ///< label values after those: which of the classes may be true
  /// For volumes: intensities under the labels of the training split. voxels 0: not needed.
  IntensityStats foreground;
  /// For volumes with named channels: those of the model's input, in order, each with its own
  /// foreground instead of the one above. Empty: one channel without a name.
  std::vector<ChannelPreprocessing> channels;
  std::optional<StainReference> stain_reference;
  OdStats od;                               ///< scanner_color: over all training slides
  std::map<std::string, OdStats> scanners;  ///< scanner_color: for each scanner
  std::string orientation;                  ///< of volumes' axes: "LPS"; empty for slides
  /// Of volumes: classes that the training labels have outside the body's region
  /// (plan/outside_body.hpp), in the order of `classes`.
  std::vector<std::string> outside_body;
  /// plan/least_region.hpp; 0: the default holds.
  double least_region_mm2 = 0;
  /// plan/enlargement.hpp: what the training images had beyond kMostEnlarged; 0: none had.
  double enlarged = 0;

  /// From the training split of an open store. Errors: usage (no image in the split, nothing under
  /// labels, a reference image that does not exist or has no stain estimate, no tissue, a channel
  /// that the store does not have).
  static Preprocessing fit(const cohort::Cohort& cohort, const LoaderConfig& config);
  /// Strict: all keys are required and no others allowed. `origin` names the file in errors.
  /// Errors: malformed, unsupported (format).
  static Preprocessing parse(const Json& json, const std::string& origin);
  /// parse(to_json()) gives the same to the last bit.
  Json to_json() const;

  /// The colour facts for the transforms of a slide: its own stain estimate, and the source and
  /// target of scanner_color. A scanner of the training split has the statistics fitted there. For
  /// a scanner that the run does not know, each slide uses its own, so the treatment of a slide's
  /// pixels does not depend on other slides in its store or on its split (the rule of Reinhard et
  /// al., Color transfer between images, IEEE CG&A 21, 2001, in optical density).
  ImageColour colour_of(const cohort::ImageRecord& image) const;
  /// The reference of stain_normalize. Errors: internal (a name other than the fitted one's).
  ImageColour reference_colour(const std::string& name) const;
};

/// Channels of the model's input: 3 for slides; for volumes, as many as the run reads.
std::int64_t channel_count(const Preprocessing& preprocessing, const LoaderConfig& config);

/// The number in the store of each channel of a run on volumes, matched by name. Errors: usage (the
/// store lacks one, or has it in another unit; it has several channels, and the run does not name
/// its one).
std::vector<std::size_t> stored_channels(const Preprocessing& preprocessing,
                                         const cohort::Cohort& cohort);

/// Names of scanners of a split for which the preprocessing has no statistics, where it has any.
std::vector<std::string> unknown_scanners(const Preprocessing& preprocessing,
                                          const cohort::Cohort& cohort, const std::string& split);

}  // namespace headrace::loader
