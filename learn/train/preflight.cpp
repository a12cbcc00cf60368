#include "learn/train/preflight.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "headrace/cohort/same_pixels.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "learn/train/run/run_identity.hpp"

namespace headrace::train {
namespace {

using Lacks = std::function<bool(const cohort::ImageRecord&)>;

/// Refuses images of some splits that lack something; names the first few.
void refuse(const cohort::Cohort& cohort, const std::set<std::string>& splits, const Lacks& lacks,
            const std::string& what, const std::string& advice) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const cohort::ImageRecord& image : cohort.images()) {
    if (!splits.contains(image.split) || !lacks(image)) continue;
    if (++count <= kNamed) names.push_back(image.id);
  }
  if (count == 0) return;
  fail(ErrorCode::usage, "{}: of the images to train or judge on {} {} ({}{}). {}", cohort.path(),
       count, what, fmt::join(names, ", "), count > kNamed ? ", …" : "", advice);
}

void check_slides(const cohort::Cohort& cohort, const config::RunConfig& config,
                  const loader::Preprocessing& preprocessing) {
  if (preprocessing.stain_reference) {
    refuse(
        cohort, {config.data.train, config.data.val},
        [](const auto& image) { return !image.colour.has_stain; },
        "have no stain estimate, which stain_normalize needs",
        "Leave stain_normalize out, or take them out of the split: they show less than 1,000 "
        "stained pixels or only one stain");
  }
  if (preprocessing.od.pixels == 0) return;
  const auto no_spread = [&](const cohort::ImageRecord& image) {
    const ImageColour colour = preprocessing.colour_of(image);
    const auto& spread = colour.scanner_od_std;
    return !colour.has_scanner ||
           std::any_of(spread.begin(), spread.end(), [](double s) { return !(s > 0); });
  };
  refuse(cohort, {config.data.train, config.data.val}, no_spread,
         "have no spread of tissue colours, which scanner_color needs",
         "Leave scanner_color out, or take them out of the split");
}

/// Whether a transform needs the body's intensities of a channel that has none.
bool lacks_body(const cohort::VolumeRecord& volume, const config::RunConfig& config,
                const std::string& name, std::size_t channel) {
  if (!transform::VolumeGraph::needs_patient(config.volume_transforms, name)) return false;
  if (volume.channels.empty()) return volume.body.voxels == 0;
  return volume.channels[channel].stored && volume.channels[channel].body.voxels == 0;
}

void check_volumes(const cohort::Cohort& cohort, const config::RunConfig& config,
                   const loader::Preprocessing& preprocessing) {
  const auto stored = loader::stored_channels(preprocessing, cohort);
  const auto no_body = [&](const cohort::ImageRecord& image) {
    for (std::size_t c = 0; c < stored.size(); ++c) {
      const auto& channels = preprocessing.channels;
      if (lacks_body(*image.volume, config, channels.empty() ? "" : channels[c].name, stored[c]))
        return true;
    }
    return false;
  };
  refuse(cohort, {config.data.train, config.data.val}, no_body,
         "have no body, whose intensities a transform needs",
         "Normalise by fixed values or by the foreground, or take them out of the split");
}

}  // namespace

void check_channels(const cohort::Cohort& cohort, const loader::Preprocessing& preprocessing,
                    const std::set<std::string>& splits) {
  if (preprocessing.channels.empty()) return;
  const auto stored = loader::stored_channels(preprocessing, cohort);
  const auto lacks_all = [&](const cohort::ImageRecord& image) {
    const auto& channels = image.volume->channels;
    return std::none_of(stored.begin(), stored.end(),
                        [&](std::size_t c) { return channels[c].stored; });
  };
  refuse(cohort, splits, lacks_all, "lack every channel that the run reads",
         "Take them out of the split, or read other channels (data.channels)");
}

void check_images(const cohort::Cohort& cohort, const config::RunConfig& config,
                  const loader::Preprocessing& preprocessing) {
  with_context("data.val", [&] { loader::make_tile_plan(cohort, config, config.data.val); });
  if (config.volumes) {
    check_volumes(cohort, config, preprocessing);
    check_channels(cohort, preprocessing, {config.data.train, config.data.val});
  } else {
    check_slides(cohort, config, preprocessing);
  }
  with_context("data.val", [&] { check_judged_split(cohort, config, config.data.val); });
}

void check_same_pixels(const cohort::Cohort& cohort, const config::RunConfig& config) {
  std::map<std::string, std::string> splits;
  for (const cohort::ImageRecord& image : cohort.images()) splits[image.id] = image.split;
  const auto version = cohort::StoreVersion::load(*cohort.store(), cohort.dataset_hash());
  std::vector<std::vector<cohort::ImageOfSplit>> groups;
  for (const auto& ids : cohort::same_pixels(*cohort.store(), version)) {
    auto& group = groups.emplace_back();
    for (const std::string& id : ids) group.push_back({id, splits[id]});
  }
  const cohort::SamePixels found = cohort::judge_same_pixels(groups);
  for (const std::string& sentence : found.within) log::warning("{}: {}", cohort.path(), sentence);
  if (found.between.empty()) return;
  const std::string sentence = fmt::format("{}: {}", cohort.path(), found.between);
  if (config.data.same_pixels == loader::SamePixels::take) return log::warning("{}", sentence);
  fail(
      ErrorCode::usage,
      "{}. The run would be judged by what it was trained on. Give them one split (headrace ingest "
      "labels STORE {}), or say that it is meant: data: {{same_pixels: take}}",
      sentence, Option{"table"});
}

void check_disk(const std::filesystem::path& out, std::uint64_t checkpoint_bytes,
                std::uint64_t weights_bytes, std::int64_t checkpoints) {
  std::filesystem::path present = std::filesystem::absolute(out);
  while (!std::filesystem::exists(present)) present = present.parent_path();
  std::error_code unknown;
  const auto space = std::filesystem::space(present, unknown);
  if (unknown) return;  // a file system that does not report it
  const auto written = static_cast<std::uint64_t>(checkpoints) + 1;  // a new one before an old goes
  const std::uint64_t needed = written * checkpoint_bytes + 2 * weights_bytes;
  if (space.available >= needed) return;
  fail(
      ErrorCode::io,
      "{}: its disk is too full: checkpoints and weights take {} MB, but {} MB are free. Make room, "
      "or give {} on another disk.",
      out.string(), needed / 1'000'000 + 1, space.available / 1'000'000, Option{"out"});
}

}  // namespace headrace::train
