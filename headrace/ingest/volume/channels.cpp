#include "headrace/ingest/volume/channels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "headrace/ingest/volume/volume_table.hpp"

namespace headrace::ingest {
namespace {

/// What a part states about its image, apart from channel, file and labels.
void take_fact(std::string& fact, const std::string& of_part, const char* what,
               const VolumeCase& image, const VolumeCase& part) {
  if (of_part.empty() || of_part == fact) return;
  if (!fact.empty()) {
    fail(ErrorCode::usage, "{}: {} '{}', but channel '{}' of the same image ({}) has '{}'",
         describe(part), what, of_part, image.channel, describe(image), fact);
  }
  fact = of_part;
}

/// One part for each channel, in their order; null where there is none.
std::vector<VolumeCase*> in_order(std::vector<VolumeCase*> parts, const ChannelRules& rules) {
  std::vector<VolumeCase*> ordered(rules.channels.names.size(), nullptr);
  for (VolumeCase* part : parts) {
    const auto at =
        std::find(rules.channels.names.begin(), rules.channels.names.end(), part->channel);
    VolumeCase*& place = ordered[static_cast<std::size_t>(at - rules.channels.names.begin())];
    if (place != nullptr) {
      fail(ErrorCode::usage, "{}: a second channel '{}' of image '{}', the first is {}; {}",
           describe(*part), part->channel, part->id, describe(*place),
           part->where.empty() ? "say by a table's columns 'image' and 'channel' which is which"
                               : "keep one, or give it another image or channel");
    }
    place = part;
  }
  return ordered;
}

void check_missing(const std::vector<VolumeCase*>& ordered, const ChannelRules& rules,
                   const BrokenChannels& broken) {
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < ordered.size(); ++c) {
    if (ordered[c] == nullptr) missing.push_back(rules.channels.names[c]);
  }
  if (missing.empty()) return;
  const VolumeCase& there =
      **std::find_if(ordered.begin(), ordered.end(), [](const auto* part) { return part; });
  const bool unknown = there.series && !broken.unplaced.empty();
  std::string rule;
  if (ordered[0] == nullptr) {
    rule = "; add it, since the first channel gives the grid";
  } else if (!rules.missing_is_zero) {
    rule = fmt::format("; add it, leave such images out ({} skip), or let it read as 0 ({} zero)",
                       Option{"on_error"}, Option{"missing_channels"});
  } else if (unknown) {
    rule = fmt::format("; {} can't be read and may be of it: mend or remove that file",
                       broken.unplaced);
  } else {
    return;
  }
  fail(ErrorCode::not_found, "image '{}' has no channel {} (its channel '{}' is {}){}", there.id,
       fmt::join(missing, ", "), there.channel, describe(there), rule);
}

/// Columns of the image: a statement of any part holds for all.
void take_columns(VolumeCase& image, const std::vector<const VolumeCase*>& parts) {
  for (const VolumeCase* part : parts) {
    take_fact(image.stated_case, part->stated_case, "case", image, *part);
    take_fact(image.cohort, part->cohort, "cohort", image, *part);
    take_fact(image.scanner, part->scanner, "scanner", image, *part);
    take_fact(image.split, part->split, "split", image, *part);
    take_fact(image.stated_cohort, part->stated_cohort, "cohort", image, *part);
    if (part->negative && image.negative && *part->negative != *image.negative) {
      fail(ErrorCode::usage, "{}: negative {}, but channel '{}' of the same image ({}) has {}",
           describe(*part), *part->negative, image.channel, describe(image), *image.negative);
    }
    if (part->negative) image.negative = part->negative;
    for (const auto& [column, value] : part->free.items()) {
      const Json& of_image = image.free.emplace(column, value).first.value();
      if (of_image == value) continue;
      fail(ErrorCode::usage, "{}: {} {}, but channel '{}' of the same image ({}) has {}",
           describe(*part), column, value.dump(), image.channel, describe(image), of_image.dump());
    }
  }
  if (!image.stated_case.empty()) {
    image.case_id = image.stated_case;
    return;
  }
  for (const VolumeCase* part : parts)
    take_fact(image.case_id, part->case_id, "case", image, *part);
}

void take_labels(VolumeCase& image, const std::vector<const VolumeCase*>& parts) {
  for (const VolumeCase* part : parts) {
    for (const auto& label : part->labels) {
      const auto& known = image.labels;
      if (std::find(known.begin(), known.end(), label) == known.end())
        image.labels.push_back(label);
    }
  }
  if (!image.labels.empty()) {
    image.organs.clear();  // stated labels count
    return;
  }
  const VolumeCase* of_organs = &image;
  for (const VolumeCase* part : parts) {
    if (part->organs.empty() || part->organs == image.organs) continue;
    if (!image.organs.empty()) {
      fail(ErrorCode::usage,
           "{}: masks of organs beside it, and others beside {}, a channel of the same image; keep "
           "those of one, or name what counts in a table's column 'labels'",
           describe(*part), describe(*of_organs));
    }
    image.organs = part->organs;
    of_organs = part;
  }
}

VolumeCase joined(const std::vector<VolumeCase*>& parts, const ChannelRules& rules,
                  const BrokenChannels& broken) {
  const auto ordered = in_order(parts, rules);
  check_missing(ordered, rules, broken);
  VolumeCase image = *ordered[0];
  std::vector<const VolumeCase*> others;
  for (std::size_t c = 1; c < ordered.size(); ++c) {
    ChannelSource& channel = image.further.emplace_back();
    channel.name = rules.channels.names[c];
    channel.unit = rules.channels.units[c];
    if (ordered[c] == nullptr) continue;
    channel.file = ordered[c]->file;
    channel.series = ordered[c]->series;
    channel.where = ordered[c]->where;
    others.push_back(ordered[c]);
  }
  take_columns(image, others);
  take_labels(image, others);
  return image;
}

/// By its headers; empty: none, or which of several they do not say.
std::string channel_of_series(const ChannelList& channels, const VolumeCase& volume) {
  const auto unit = imaging::unit_of(volume.series->modality);
  if (!unit) return "";
  const auto names = channels.names_in(*unit);
  const std::string phase(name_of(volume.phase));
  if (std::find(names.begin(), names.end(), phase) != names.end()) return phase;
  return names.size() == 1 && !is_phase_name(names.front()) ? names.front() : "";
}

void check_channel(const VolumeCase& volume, const ChannelRules& rules) {
  const auto& names = rules.channels.names;
  if (volume.channel.empty()) {
    fail(ErrorCode::usage, "{}: which of the channels {} it is, nothing says; {}", describe(volume),
         fmt::join(names, ", "),
         volume.where.empty()
             ? fmt::format("name it in a table's column 'channel', or end files in _0000, "
                           "_0001, … ({})",
                           Option{"channels"})
             : "name it in the column 'channel'");
  }
  if (std::find(names.begin(), names.end(), volume.channel) == names.end()) {
    fail(ErrorCode::usage, "{}: channel '{}' is none of {}", describe(volume), volume.channel,
         fmt::join(names, ", "));
  }
}

}  // namespace

std::optional<NumberedName> numbered_name(const std::string& stem, std::size_t channels) {
  for (std::size_t c = 0; c < channels; ++c) {
    const std::string number = fmt::format("_{:04}", c);
    if (stem.size() > number.size() && stem.ends_with(number))
      return NumberedName{stem.substr(0, stem.size() - number.size()), c};
  }
  return std::nullopt;
}

void name_numbered_channels(const std::vector<std::string>& names, std::vector<VolumeCase>& cases) {
  for (VolumeCase& volume : cases) {
    if (volume.series || !volume.channel.empty()) continue;
    const auto name = numbered_name(volume_stem(volume.file), names.size());
    if (!name) continue;
    volume.channel = names[name->channel];
    volume.id = plain_id(name->image);
  }
}

std::size_t name_series_channels(const ChannelList& channels, std::vector<VolumeCase>& cases) {
  std::size_t others = 0;
  for (VolumeCase& volume : cases) {
    if (!volume.series || !volume.channel.empty()) continue;
    volume.channel = channel_of_series(channels, volume);
    volume.id = pseudonym_id(volume.series->patient, volume.series->study);
    others += volume.channel.empty() ? 1 : 0;
  }
  std::erase_if(cases, [](const VolumeCase& v) { return v.series && v.channel.empty(); });
  return others;
}

JoinedChannels join_channels(std::vector<VolumeCase> cases, const ChannelRules& rules,
                             BrokenChannels broken, BadInputs& bad) {
  if (rules.channels.size() < 2) return {std::move(cases), {}};
  std::map<std::string, std::vector<VolumeCase*>> images;
  for (VolumeCase& volume : cases) {
    images[volume.id].push_back(&volume);
    if (!bad.look(describe(volume), [&] { check_channel(volume, rules); }))
      broken.images.insert(volume.id);
  }
  JoinedChannels out;
  for (auto& [id, parts] : images) {
    std::sort(parts.begin(), parts.end(),
              [](const VolumeCase* a, const VolumeCase* b) { return describe(*a) < describe(*b); });
    const bool whole = !broken.images.contains(id) && bad.look("image " + id, [&, &parts = parts] {
      out.images.push_back(joined(parts, rules, broken));
    });
    if (whole) continue;
    for (const VolumeCase* part : parts) out.left_out.push_back(*part);
  }
  return out;
}

}  // namespace headrace::ingest
