#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/volume/channel_list.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// How the channels of an image are joined.
struct ChannelRules {
  ChannelList channels;          ///< of the store
  bool missing_is_zero = false;  ///< images may lack channels other than the first
};

/// Channels that exist but can't be used, which is reported already: they do not count as missing.
struct BrokenChannels {
  std::set<std::string> images;  ///< ids: left out without a further report
  /// A file that may be a channel of any DICOM image, so that none of these counts as lacking one.
  /// Empty: no such file.
  std::string unplaced;
};

/// Images, and the parts of those that were left out.
struct JoinedChannels {
  std::vector<VolumeCase> images, left_out;
};

/// A file's name by nnU-Net's rule: <image>_0000, <image>_0001, …
struct NumberedName {
  std::string image;
  std::size_t channel = 0;
};
/// Reads a stem; nothing where it has another form, or a number that is not below `channels`.
std::optional<NumberedName> numbered_name(const std::string& stem, std::size_t channels);

/// Gives files with such names their image and channel; the number is an index into `names`. Other
/// files do not change.
void name_numbered_channels(const std::vector<std::string>& names, std::vector<VolumeCase>& cases);

/// Gives DICOM series their study as image and a channel in the unit of their modality: the channel
/// named as their contrast phase, else the only one in that unit, unless its name is a phase.
/// Series without a channel are removed. Returns how many.
std::size_t name_series_channels(const ChannelList& channels, std::vector<VolumeCase>& cases);

/// Joins the cases that are channels of one image (VolumeCase::id) to one case: the first
/// channel's, with the others as `further`. What the parts state about the image must agree; labels
/// are those of all parts, in the order of channels; masks of organs count only where no part
/// states labels.
///
/// out     bad  images that lack a channel, have one twice or contradict themselves; cases without
///              a channel in a store that has several, or with one that it does not have
JoinedChannels join_channels(std::vector<VolumeCase> cases, const ChannelRules& rules,
                             BrokenChannels broken, BadInputs& bad);

}  // namespace headrace::ingest
