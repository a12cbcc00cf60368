#include "headrace/ingest/volume/channel_list.hpp"

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/volume/volume_table.hpp"

namespace headrace::ingest {

bool ChannelList::has(IntensityUnit unit) const {
  return std::find(units.begin(), units.end(), unit) != units.end();
}

std::vector<std::string> ChannelList::names_in(IntensityUnit unit) const {
  std::vector<std::string> found;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (units[c] == unit) found.push_back(names[c]);
  }
  return found;
}

IntensityUnit unit_of_name(const std::string& name) {
  std::string words = lowered(name);
  for (char& letter : words) {
    if (letter < 'a' || letter > 'z') letter = ' ';
  }
  bool pet = false, ct = false;
  for (const std::string& word : split(words, ' ')) {
    pet = pet || word == "pet" || word == "pt" || word == "suv";
    ct = ct || word == "ct";
  }
  if (pet && ct) {
    fail(ErrorCode::usage,
         "channel '{}' has both CT and PET in its name; say which it is by {} NAME=HU or "
         "NAME=SUV",
         name, Option{"channels"});
  }
  return pet ? IntensityUnit::suv : IntensityUnit::hu;
}

bool is_phase_name(const std::string& name) {
  for (const auto& [phase, own] : kNamesOf<imaging::ContrastPhase>) {
    const bool stated = phase != imaging::ContrastPhase::unknown;
    if (stated && folded_name(name) == folded_name(own)) return true;
  }
  return false;
}

ChannelList channels_named(const std::vector<std::string>& names) {
  ChannelList channels{names, {}};
  for (const std::string& name : names) channels.units.push_back(unit_of_name(name));
  return channels;
}

ChannelList parse_channels(const std::vector<std::string>& given) {
  ChannelList channels;
  for (const std::string& text : given) {
    const auto parts = split(text, '=');
    const auto unit = parts.size() == 2 ? unit_named(parts[1]) : unit_of_name(text);
    if (parts.size() > 2 || !unit) {
      fail(ErrorCode::usage, "{} {}: expected a name, name=HU (CT) or name=SUV (PET)",
           Option{"channels"}, text);
    }
    channels.names.push_back(parts[0]);
    channels.units.push_back(*unit);
  }
  if (channels.size() == 1) {
    fail(ErrorCode::usage, "{} {}: one channel has no name; name two or more, in order",
         Option{"channels"}, given.front());
  }
  check_channels(channels, to_string(Option{"channels"}));
  return channels;
}

void check_channels(const ChannelList& channels, const std::string& where) {
  std::set<std::string> seen;
  for (const std::string& name : channels.names) {
    check_name(name, "channel", where);
    if (!seen.insert(name).second)
      fail(ErrorCode::usage, "{}: channel '{}' stands there twice", where, name);
  }
  if (channels.empty() || channels.units.front() == IntensityUnit::hu) return;
  fail(ErrorCode::usage,
       "{}: the first channel gives the grid and the body, so it must be CT in HU, but '{}' is in "
       "{}; put the CT first",
       where, channels.names.front(), name_of(channels.units.front()));
}

}  // namespace headrace::ingest
