#include "headrace/ingest/volumes/channels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/ingest/case_rules.hpp"
#include "headrace/ingest/volumes/volume_files.hpp"
#include "headrace/ingest/volumes/volume_table.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kPatientDigits = 12, kStudyDigits = 8;
constexpr std::size_t kNumberSize = 5;  // _0000

/// What a part says of its image, beside channel, file and labels.
void take_fact(std::string& fact, const std::string& of_part, const char* what,
               const VolumeCase& image, const VolumeCase& part) {
  if (of_part.empty() || of_part == fact) return;
  if (!fact.empty()) {
    fail(ErrorCode::usage, "{}: {} '{}', but channel '{}' of the same image ({}) has '{}'",
         describe(part), what, of_part, image.channel, describe(image), fact);
  }
  fact = of_part;
}

/// Parts in the order of channels, one each, null where there is none.
std::vector<VolumeCase*> in_order(std::vector<VolumeCase*> parts, const ChannelRules& rules) {
  std::vector<VolumeCase*> ordered(rules.names.size(), nullptr);
  for (VolumeCase* part : parts) {
    const auto at = std::find(rules.names.begin(), rules.names.end(), part->channel);
    VolumeCase*& place = ordered[static_cast<std::size_t>(at - rules.names.begin())];
    if (place != nullptr) {
      fail(ErrorCode::usage,
           "{}: a second channel '{}' of image '{}', the first is {}; say by a table's columns "
           "'image' and 'channel' which is which",
           describe(*part), part->channel, part->id, describe(*place));
    }
    place = part;
  }
  return ordered;
}

void check_missing(const std::vector<VolumeCase*>& ordered, const ChannelRules& rules) {
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < ordered.size(); ++c) {
    if (ordered[c] == nullptr) missing.push_back(rules.names[c]);
  }
  if (missing.empty() || (rules.missing_is_zero && ordered[0] != nullptr)) return;
  const VolumeCase& there =
      **std::find_if(ordered.begin(), ordered.end(), [](const auto* part) { return part; });
  const std::string rule =
      ordered[0] != nullptr
          ? "; add it, leave such images out (--on-error skip), or let it read as 0 "
            "(--missing-channels zero)"
          : "; add it, since the first channel gives the grid";
  fail(ErrorCode::not_found, "image '{}' has no channel {} (its channel '{}' is {}){}", there.id,
       fmt::join(missing, ", "), there.channel, describe(there), rule);
}

VolumeCase joined(const std::vector<VolumeCase*>& parts, const ChannelRules& rules) {
  const auto ordered = in_order(parts, rules);
  check_missing(ordered, rules);
  VolumeCase image = *ordered[0];
  for (std::size_t c = 1; c < ordered.size(); ++c) {
    ChannelSource& channel = image.further.emplace_back();
    channel.name = rules.names[c];
    if (ordered[c] == nullptr) continue;
    const VolumeCase& part = *ordered[c];
    channel.file = part.file;
    channel.series = part.series;
    take_fact(image.case_id, part.case_id, "case", image, part);
    take_fact(image.cohort, part.cohort, "cohort", image, part);
    take_fact(image.split, part.split, "split", image, part);
    take_fact(image.stated_case, part.stated_case, "case", image, part);
    take_fact(image.stated_cohort, part.stated_cohort, "cohort", image, part);
    if (part.negative && image.negative && *part.negative != *image.negative) {
      fail(ErrorCode::usage, "{}: negative {}, but channel '{}' of the same image ({}) has {}",
           describe(part), *part.negative, image.channel, describe(image), *image.negative);
    }
    if (part.negative) image.negative = part.negative;
    for (const auto& label : part.labels) {
      const auto& known = image.labels;
      if (std::find(known.begin(), known.end(), label) == known.end())
        image.labels.push_back(label);
    }
  }
  return image;
}

void check_channel(const VolumeCase& volume, const ChannelRules& rules) {
  const auto& names = rules.names;
  if (volume.channel.empty()) {
    fail(ErrorCode::usage,
         "{}: which of the channels {} it is, nothing says; name it in a table's column 'channel', "
         "or end files in _0000, _0001, … (--channels)",
         describe(volume), fmt::join(names, ", "));
  }
  if (std::find(names.begin(), names.end(), volume.channel) == names.end()) {
    fail(ErrorCode::usage, "{}: channel '{}' is none of {}", describe(volume), volume.channel,
         fmt::join(names, ", "));
  }
}

}  // namespace

void check_channel_names(const std::vector<std::string>& names, const std::string& where) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    check_name(name, "channel", where);
    if (!seen.insert(name).second)
      fail(ErrorCode::usage, "{}: channel '{}' stands there twice", where, name);
  }
}

void name_numbered_channels(const std::vector<std::string>& names, std::vector<VolumeCase>& cases) {
  for (VolumeCase& volume : cases) {
    if (volume.series || !volume.channel.empty()) continue;
    const std::string stem = volume_stem(volume.file);
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (stem.size() <= kNumberSize || !stem.ends_with(fmt::format("_{:04}", c))) continue;
      volume.channel = names[c];
      volume.id = plain_id(stem.substr(0, stem.size() - kNumberSize));
    }
  }
}

std::size_t name_phase_channels(const std::vector<std::string>& names,
                                std::vector<VolumeCase>& cases) {
  const auto other = [&](const VolumeCase& volume) {
    return volume.series && volume.channel.empty() &&
           std::find(names.begin(), names.end(), volume.phase) == names.end();
  };
  const std::size_t others = std::erase_if(cases, other);
  for (VolumeCase& volume : cases) {
    if (!volume.series || !volume.channel.empty()) continue;
    volume.channel = volume.phase;
    volume.id = volume.series->patient.substr(0, kPatientDigits) + "-" +
                volume.series->study.substr(0, kStudyDigits);
  }
  return others;
}

std::vector<VolumeCase> join_channels(std::vector<VolumeCase> cases, const ChannelRules& rules,
                                      BadInputs& bad) {
  if (rules.names.size() < 2) return cases;
  std::map<std::string, std::vector<VolumeCase*>> images;
  std::set<std::string> broken;  // images of which a part was refused: not to say that it lacks it
  for (VolumeCase& volume : cases) {
    if (bad.look(describe(volume), [&] { check_channel(volume, rules); }))
      images[volume.id].push_back(&volume);
    else
      broken.insert(volume.id);
  }
  std::vector<VolumeCase> out;
  for (auto& [id, parts] : images) {
    if (broken.contains(id)) continue;
    std::sort(parts.begin(), parts.end(),
              [](const VolumeCase* a, const VolumeCase* b) { return describe(*a) < describe(*b); });
    bad.look("image " + id, [&, &parts = parts] { out.push_back(joined(parts, rules)); });
  }
  return out;
}

}  // namespace headrace::ingest
