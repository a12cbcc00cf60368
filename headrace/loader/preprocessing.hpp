#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/image_colour.hpp"
#include "headrace/core/intensity_stats.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"

namespace headrace::loader {

/// Mean and population standard deviation of tissue's optical density (core/image_colour.hpp), by
/// channel.
struct OdStats {
  std::uint64_t pixels = 0;  ///< 0: nothing is known
  std::array<double, 3> mean{}, std{};
  bool operator==(const OdStats&) const = default;
};

/// What stain_normalize brings slides to.
struct StainReference {
  std::string name;  ///< "builtin", or the image of the training store that it was taken from
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

/// Everything that a run takes from its training split before the first step, as values: the
/// model's input is a function of this, the config and the image alone, whatever store the image
/// lies in and whatever its splits. preprocessing.json of a run folder (docs/formats.md).
///
/// Fitted is only what the config's transforms ask for. Of a slide its own stain estimate, of a
/// volume the statistics of its own body stay the image's.
struct Preprocessing {
  std::vector<std::string> classes;  ///< the network's outputs, in order
  std::vector<ClassSet> class_sets;  ///< label values after those: which of the classes may be true
  /// Of volumes: intensities under the labels of the training split. voxels 0: not asked for.
  IntensityStats foreground;
  /// Of volumes with named channels: those that the model's input has, in order; each with its own
  /// foreground instead of that. Empty: one channel without a name.
  std::vector<ChannelPreprocessing> channels;
  std::optional<StainReference> stain_reference;
  OdStats od;                               ///< scanner_color: of the training slides together
  std::map<std::string, OdStats> scanners;  ///< scanner_color: of those of each scanner
  std::string orientation;                  ///< of volumes' axes: "LPS"; of slides empty

  /// From the training split of an open store. Errors: usage (no image in the split, nothing under
  /// labels, a reference image that is not there or has no stain estimate, no tissue, a channel
  /// that the store does not have).
  static Preprocessing fit(const source::Cohort& cohort, const RunConfig& config);
  /// Strict: every key must be there and no other. `origin` names the file in errors.
  /// Errors: malformed, unsupported (format).
  static Preprocessing parse(const Json& json, const std::string& origin);
  /// parse(to_json()) is the same to the last bit.
  Json to_json() const;

  /// What the transforms of a slide are told: its own stain estimate, and what scanner_color brings
  /// where. A scanner of the training split has the statistics fitted there. Of a scanner that the
  /// run does not know each slide has its own: so a slide's pixels are seen alike whatever other
  /// slides lie in its store, and in whatever split (the rule of Reinhard et al., Color transfer
  /// between images, IEEE CG&A 21, 2001, in optical density).
  ImageColour colour_of(const source::ImageRecord& image) const;
  /// Of stain_normalize's reference. Errors: internal (another name than the fitted one's).
  ImageColour reference_colour(const std::string& name) const;
};

/// Channels of the model's input: 3 of slides, of volumes as many as the run reads.
std::int64_t channel_count(const Preprocessing& preprocessing, const RunConfig& config);

/// Of each channel of a run on volumes its number in the store: matched by name. Errors: usage (the
/// store lacks one, or has it in another unit; one channel of several, and which is not said).
std::vector<std::size_t> stored_channels(const Preprocessing& preprocessing,
                                         const source::Cohort& cohort);

/// Names of scanners of a split that the preprocessing has no statistics of, where it has any.
std::vector<std::string> unknown_scanners(const Preprocessing& preprocessing,
                                          const source::Cohort& cohort, const std::string& split);

}  // namespace headrace::loader
