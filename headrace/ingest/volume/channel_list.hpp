#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "headrace/core/intensity_unit.hpp"

namespace headrace::ingest {

/// The channels of a store's volumes, in order; empty: one without a name, in HU.
struct ChannelList {
  std::vector<std::string> names;
  std::vector<IntensityUnit> units;  ///< of each

  bool empty() const { return names.empty(); }
  std::size_t size() const { return names.size(); }
  bool has(IntensityUnit unit) const;
  /// Names of the channels in a unit.
  std::vector<std::string> names_in(IntensityUnit unit) const;
  bool operator==(const ChannelList&) const = default;
};

/// What a name says of its unit: SUV where one of its words is PET, PT or SUV in any case ("PET",
/// "fdg-pet"), else HU. Errors: usage, where another is CT.
IntensityUnit unit_of_name(const std::string& name);

/// Whether it is the name of a contrast phase.
bool is_phase_name(const std::string& name);

/// Channels of these names, each in the unit that its name implies.
ChannelList channels_named(const std::vector<std::string>& names);

/// The channels of --channels: names, or name=HU and name=SUV where the name does not imply it.
/// Errors: usage.
ChannelList parse_channels(const std::vector<std::string>& given);

/// Checks that names are allowed in a store, each once, and that the first of several channels is
/// in HU, since it gives the grid and the body. `where`: words in front of the error. Errors:
/// usage.
void check_channels(const ChannelList& channels, const std::string& where);

}  // namespace headrace::ingest
