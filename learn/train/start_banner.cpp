#include "learn/train/start_banner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "headrace/cohort/supervision.hpp"
#include "headrace/device/cuda_device.hpp"
#include "learn/config/network_plan.hpp"

namespace headrace::train {
namespace {

constexpr double kGiB = 1 << 30;

std::string device_line(const config::RunConfig& config, const inference::Network& network) {
  const Json runtime = network.runtime();
  const bool gpu = runtime.at("device") == "cuda";
  std::string why = gpu ? "one is there" : device::cuda::describe();
  if (config.loader.device != device::DeviceChoice::automatic) why = "loader.device says so";
  return fmt::format("on {}, {}: {}", gpu ? "a GPU" : "the CPU",
                     gpu ? fmt::format("LibTorch {}", runtime.at("torch").get<std::string>())
                         : fmt::format("{} threads", runtime.at("threads").get<int>()),
                     why);
}

/// Including what `model: auto` and the plan of strides have chosen.
std::string network_line(const config::RunConfig& config, const inference::Network& network) {
  const config::RunConfig::Model& model = config.model;
  std::string line =
      !model.own.given()
          ? fmt::format("{} of widths {}, patches halved to 1/{} at the deepest level",
                        name_of(model.name), fmt::join(model.widths, ", "),
                        fmt::join(config::edge_divisors(model.strides), ", 1/"))
          : model.own.module;
  line += fmt::format("; {} parameters", network.parameter_count());
  if (!config.train.freeze.empty()) {
    line += fmt::format(", not trained: {}", fmt::join(config.train.freeze, ", "));
  }
  return line;
}

/// With patch.spacing_mm null the network is planned for cubes; warns where voxels are not cubes.
std::optional<std::string> spacing_warning(const config::RunConfig& config,
                                           const cohort::Cohort& cohort) {
  if (!config.volumes || !config.patch_in_level0_pixels || config.model.own.given()) return {};
  std::array<std::vector<double>, 3> of_images;
  for (const cohort::ImageRecord& image : cohort.images()) {
    if (image.split != config.data.train) continue;
    const auto& spacing = image.volume->levels.front().spacing_mm_zyx;
    for (std::size_t axis = 0; axis < 3; ++axis) of_images[axis].push_back(spacing[axis]);
  }
  std::array<double, 3> median{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto& values = of_images[axis];
    if (values.empty()) return {};
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    median[axis] = *middle;
  }
  const auto planned = [&](const std::array<double, 3>& spacing) {
    return config::plan_network(spacing, config.volume_patch.size_zyx, config.model.strides.size());
  };
  const config::NetworkPlan cubes = planned({1, 1, 1}), own = planned(median);
  const bool for_cubes =
      config.model.strides == cubes.strides && config.model.kernels == cubes.kernels;
  if (!for_cubes || (own.strides == cubes.strides && own.kernels == cubes.kernels)) return {};
  return fmt::format(
      "patch.spacing_mm is null, so the network was planned for cubes, but voxels of split '{}' "
      "are {:.3g} mm (z, y, x; median): give patch.spacing_mm, or model.strides and .kernels",
      config.data.train, fmt::join(median, " × "));
}

/// 1234567 as "1.2 M".
std::string short_count(std::uint64_t count) {
  if (count < 10'000) return std::to_string(count);
  const auto n = static_cast<double>(count);
  if (count < 1'000'000) return fmt::format("{:.0f} k", n / 1e3);
  return count < 1'000'000'000 ? fmt::format("{:.1f} M", n / 1e6)
                               : fmt::format("{:.1f} G", n / 1e9);
}

std::string split_line(const std::string& use, const std::string& name,
                       const cohort::SplitSupervision& split, const cohort::Cohort& cohort) {
  std::vector<std::string> classes;
  const auto names = label_names(cohort.classes(), cohort.class_sets());
  for (std::size_t v = 0; v < split.pixels.size(); ++v)
    classes.push_back(fmt::format("{} {}", names[v], short_count(split.pixels[v])));
  return fmt::format("{} on split '{}': {} images, {} with labels; supervised {}: {}", use, name,
                     split.images.images, split.labelled,
                     cohort.kind() == "volume" ? "voxels" : "pixels", fmt::join(classes, ", "));
}

/// A set with the class that the split shows; empty where there is none.
std::string shown_within(const cohort::Cohort& cohort, const cohort::SplitSupervision& split,
                         std::size_t c) {
  for (std::size_t k = 0; k < cohort.class_sets().size(); ++k) {
    const ClassSet& set = cohort.class_sets()[k];
    const bool holds = std::find(set.classes.begin(), set.classes.end(), c) != set.classes.end();
    if (holds && split.pixels[cohort.classes().size() + k] > 0) return set.name;
  }
  return "";
}

/// The channels that the run reads, and how many images lack one.
void say_channels(const config::RunConfig& config, const cohort::Cohort& cohort, StartBanner& out) {
  const auto& names = config.data.channels.empty() ? cohort.channels() : config.data.channels;
  if (names.empty()) return;
  out.lines.push_back(fmt::format("reads the channels {}", fmt::join(names, ", ")));
  for (const std::string& split : std::set<std::string>{config.data.train, config.data.val}) {
    for (std::string& warning : lacking_channels(names, cohort, split))
      out.warnings.push_back(std::move(warning));
  }
}

/// Cohorts that are counted above, but never drawn.
void say_cohorts_left_out(const config::RunConfig& config, const cohort::Cohort& cohort,
                          StartBanner& out) {
  for (const auto& [name, weight] : config.sampling.cohort_weights) {
    if (weight > 0) continue;
    const auto images = std::count_if(
        cohort.images().begin(), cohort.images().end(), [&](const cohort::ImageRecord& image) {
          return image.split == config.data.train && image.cohort == name;
        });
    out.lines.push_back(fmt::format(
        "of these, {} images of cohort '{}' are not drawn: sampling.cohort_weights has 0", images,
        name));
  }
}

std::string memory_line(const MemoryNeed& need, const char* where) {
  return fmt::format("about {:.1f} of {:.1f} GiB of {} memory", need.needed_bytes / kGiB,
                     need.present_bytes / kGiB, where);
}

}  // namespace

StartBanner start_banner(const config::RunConfig& config, const cohort::Cohort& cohort,
                         const inference::Network& network) {
  StartBanner out;
  out.lines.push_back(device_line(config, network));
  if (config.data.folds > 0) {
    out.lines.push_back(
        fmt::format("judges by fold {} of {}, dealt by patient, and trains on the others",
                    config.data.fold, config.data.folds));
  }
  const auto train = cohort::supervision_of(cohort, config.data.labels, config.data.train);
  const auto val = cohort::supervision_of(cohort, config.data.labels, config.data.val);
  out.lines.push_back(split_line("trains", config.data.train, train, cohort));
  say_cohorts_left_out(config, cohort, out);
  out.lines.push_back(split_line("judges", config.data.val, val, cohort));
  say_channels(config, cohort, out);
  const std::int64_t steps = config.train.epochs * config.sampling.batches_per_epoch;
  out.lines.push_back(network_line(config, network));
  out.lines.push_back(fmt::format("{} steps of {} patches in {} epochs", steps,
                                  config.sampling.batch, config.train.epochs));
  if (const std::string text = train.images.describe(config.data.train); !text.empty())
    (train.images.without > 0 ? out.warnings : out.lines).push_back(text);
  for (std::size_t c = 1; c < cohort.classes().size(); ++c) {
    if (c < train.pixels.size() && train.pixels[c] > 0) continue;
    const std::string set = shown_within(cohort, train, c);
    out.warnings.push_back(
        set.empty() ? fmt::format("no image of split '{}' shows class '{}': it can't be learnt",
                                  config.data.train, cohort.classes()[c])
                    : fmt::format("images of split '{}' show class '{}' only as one of '{}': it "
                                  "can't be told from the others of these",
                                  config.data.train, cohort.classes()[c], set));
  }
  if (const auto warning = spacing_warning(config, cohort)) out.warnings.push_back(*warning);
  if (config.data.train == config.data.val) {
    out.warnings.push_back(fmt::format(
        "data.train and data.val are both '{}': the figures say nothing of other images",
        config.data.val));
  }
  return out;
}

std::vector<std::string> lacking_channels(const std::vector<std::string>& names,
                                          const cohort::Cohort& cohort, const std::string& split) {
  std::vector<std::string> warnings;
  for (const std::string& name : names) {
    std::size_t lacking = 0, images = 0;
    for (const auto& image : cohort.images()) {
      if (image.split != split || !image.volume) continue;
      ++images;
      for (const auto& channel : image.volume->channels)
        lacking += channel.name == name && !channel.stored ? 1 : 0;
    }
    if (lacking == 0) continue;
    warnings.push_back(
        fmt::format("{} of the {} images of split '{}' lack channel '{}': it is 0 "
                    "there",
                    lacking, images, split, name));
  }
  return warnings;
}

std::string rough_time(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return seconds < 48 * 3600 ? fmt::format("{:.1f} h", seconds / 3600)
                             : fmt::format("{:.1f} days", seconds / 86400);
}

std::vector<std::string> cost_lines(const config::RunConfig& config, const Rehearsed& rehearsed,
                                    std::int64_t steps) {
  const std::int64_t per_epoch = config.sampling.batches_per_epoch;
  const std::int64_t every = config.train.validate_every;
  const std::int64_t epochs = (steps + per_epoch - 1) / per_epoch;
  const std::int64_t validations = every > 0 ? (epochs + every - 1) / every : 1;  // one at the end
  const bool subset = config.eval.subset > 0;  // judges the last step, too, before all images do
  const std::uint64_t batches =
      rehearsed.validation_batches * static_cast<std::uint64_t>(validations - (subset ? 0 : 1)) +
      rehearsed.final_batches;
  const double validation_s = rehearsed.tiles_s * static_cast<double>(batches);
  const double training_s = rehearsed.step_s * static_cast<double>(steps);
  std::vector<std::string> lines{memory_line(rehearsed.host, "host")};
  if (rehearsed.on_gpu) lines.push_back(memory_line(rehearsed.gpu, "GPU"));
  lines.push_back(fmt::format("about {} for {} steps ({:.2g} s each) and {} for {} validations",
                              rough_time(training_s), steps, rehearsed.step_s,
                              rough_time(validation_s), validations));
  return lines;
}

}  // namespace headrace::train
