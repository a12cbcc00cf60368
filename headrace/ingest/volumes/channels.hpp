#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headrace/ingest/bad_inputs.hpp"
#include "headrace/ingest/volume_case.hpp"
#include "headrace/ingest/volumes/channel_list.hpp"

namespace headrace::ingest {

/// How the channels of an image are put together.
struct ChannelRules {
  ChannelList channels;          ///< of the store
  bool missing_is_zero = false;  ///< images may lack channels other than the first
};

/// Channels that are there but can't be taken, which is said already: they are no missing ones.
struct BrokenChannels {
  std::set<std::string> images;  ///< ids: left out without another word
  /// A file that may be a channel of any image of DICOM: none of them may lack one. Empty: none.
  std::string unplaced;
};

/// Images, and the parts of those that were left out.
struct JoinedChannels {
  std::vector<VolumeCase> images, left_out;
};

/// A file's name in nnU-Net's way: <image>_0000, <image>_0001, …
struct NumberedName {
  std::string image;
  std::size_t channel = 0;
};
/// Of a stem; nothing where it is not named so, or with a number that is not below `channels`.
std::optional<NumberedName> numbered_name(const std::string& stem, std::size_t channels);

/// Gives files that are named so their image and channel: the number counts `names`. Files that are
/// not stay as they are.
void name_numbered_channels(const std::vector<std::string>& names, std::vector<VolumeCase>& cases);

/// Gives DICOM series their study as image and a channel in the unit of their modality: that of the
/// name of their contrast phase, else the only one in that unit, unless a phase is its name. Series
/// that have none so are taken out. Returns how many.
std::size_t name_series_channels(const ChannelList& channels, std::vector<VolumeCase>& cases);

/// Makes one case of those that are channels of one image (VolumeCase::id): the first channel's,
/// with the others as `further`. What the parts say of the image must agree; labels are those of
/// all parts, in the order of channels, and masks of organs count where none states any.
///
/// out     bad  images that lack a channel, have one twice or contradict themselves; cases without
///              a channel in a store that has several, or with one that it does not have
JoinedChannels join_channels(std::vector<VolumeCase> cases, const ChannelRules& rules,
                             BrokenChannels broken, BadInputs& bad);

}  // namespace headrace::ingest
