#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/bad_inputs.hpp"
#include "headrace/ingest/volume_case.hpp"

namespace headrace::ingest {

/// How the channels of an image are put together.
struct ChannelRules {
  std::vector<std::string> names;  ///< of the store's channels, in order; one or none: one channel
  bool missing_is_zero = false;    ///< images may lack channels other than the first
};

/// Gives files named <image>_0000, <image>_0001, … (nnU-Net's way) their image and channel: the
/// number counts `names`. Files that are not named so stay as they are.
void name_numbered_channels(const std::vector<std::string>& names, std::vector<VolumeCase>& cases);

/// Gives CT series their study as image and their contrast phase as channel. Series of other phases
/// are taken out. Returns how many.
std::size_t name_phase_channels(const std::vector<std::string>& names,
                                std::vector<VolumeCase>& cases);

/// Makes one case of those that are channels of one image (VolumeCase::id): the first channel's,
/// with the others as `further`. What the parts say of the image must agree; labels are those of
/// all parts, in the order of channels.
///
/// out     bad  images that lack a channel, have one twice or contradict themselves; cases without
///              a channel in a store that has several, or with one that it does not have
std::vector<VolumeCase> join_channels(std::vector<VolumeCase> cases, const ChannelRules& rules,
                                      BadInputs& bad);

/// Checks names of channels: what may stand in a store, each once. `where`: words in front of the
/// error. Errors: usage.
void check_channel_names(const std::vector<std::string>& names, const std::string& where);

}  // namespace headrace::ingest
