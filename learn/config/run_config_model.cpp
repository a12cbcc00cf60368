#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "learn/config/network_plan.hpp"
#include "learn/config/run_config_parts.hpp"

namespace headrace::config::detail {
namespace {

constexpr const char* kAuto = "auto";

/// The inputs of the plan.
struct PatchGrid {
  std::vector<std::int32_t> size;
  std::vector<double> spacing;  ///< for voxels of level 0, whatever their size, 1 along each axis

  explicit PatchGrid(const RunConfig& config) {
    if (config.volumes) {
      const auto& patch = config.volume_patch;
      size.assign(patch.size_zyx.begin(), patch.size_zyx.end());
      spacing.assign(patch.spacing_mm_zyx.begin(), patch.spacing_mm_zyx.end());
    } else {
      size = {config.patch.height, config.patch.width};
      spacing = {1, 1};
    }
  }
};

std::vector<int> read_widths(const YamlValue& value) {
  std::vector<int> widths;
  for (const YamlValue& entry : value.as_list()) {
    widths.push_back(static_cast<int>(entry.as_int(8, 4096)));
    if (widths.back() % 8 != 0) {
      entry.reject(
          fmt::format("expected a multiple of 8 (channels are normalised in groups of 8), found {}",
                      widths.back()));
    }
  }
  if (widths.size() < 2 || widths.size() > kMaxNetworkLevels) {
    value.reject(
        fmt::format("expected 2 to {} widths, found {}", kMaxNetworkLevels, widths.size()));
  }
  return widths;
}

/// Strides or kernels: for each level, a list of one number for each axis.
std::vector<std::vector<int>> read_levels(const YamlValue& value, std::size_t levels,
                                          std::size_t axes, const std::vector<int>& accepted) {
  std::vector<std::vector<int>> out;
  for (const YamlValue& level : value.as_list(levels)) {
    out.emplace_back();
    for (const YamlValue& entry : level.as_list(axes)) {
      out.back().push_back(static_cast<int>(entry.as_int(accepted.front(), accepted.back())));
      if (std::find(accepted.begin(), accepted.end(), out.back().back()) == accepted.end()) {
        entry.reject(
            fmt::format("expected {}, found {}", fmt::join(accepted, " or "), out.back().back()));
      }
    }
  }
  return out;
}

/// The place of a problem of the network: its key, if the config has it.
[[noreturn]] void reject(const std::optional<YamlValue>& value, const std::string& file,
                         const std::string& problem) {
  if (value) value->reject(problem);
  fail(ErrorCode::usage, "{}: model (default): {}", file, problem);
}

void check_patch(const RunConfig::Model& model, const PatchGrid& grid,
                 const std::optional<YamlValue>& value, const std::string& file) {
  const auto divisors = edge_divisors(model.strides);
  std::vector<std::int64_t> fitting;
  bool fits = true;
  for (std::size_t a = 0; a < divisors.size(); ++a) {
    fitting.push_back((grid.size[a] + divisors[a] - 1) / divisors[a] * divisors[a]);
    fits = fits && fitting.back() == grid.size[a];
  }
  if (fits) return;
  reject(value, file,
         fmt::format("{} levels halve the patch to 1/[{}], so patch.size must be divisible by "
                     "that, found [{}]. Take [{}]",
                     model.strides.size(), fmt::join(divisors, ", "), fmt::join(grid.size, ", "),
                     fmt::join(fitting, ", ")));
}

std::vector<std::string> names_for(NetworkName fitting) {
  return {std::string(name_of(fitting)), kAuto};
}

/// The keys of `model` in the config; none where it is `auto` or absent.
struct ModelKeys {
  std::optional<YamlValue> section, widths, strides, kernels, module, arguments;
  bool automatic = false;

  ModelKeys(YamlMap& top, const RunConfig& config) : section(top.find("model")) {
    if (section && !section->is_map()) {
      automatic = section->as_choice({kAuto}) == kAuto;
      return;
    }
    YamlMap map = top.map("model");
    const auto name = map.find("name");
    if (name) automatic = name->as_choice(names_for(config.model.name)) == kAuto;
    widths = map.find("widths");
    strides = map.find("strides");
    kernels = map.find("kernels");
    module = map.find("module");
    arguments = map.find("arguments");
    map.finish();
    if (module) {
      for (const auto& given : {name, widths, strides, kernels}) {
        if (given) given->reject("model.module is the network. Leave one of them out");
      }
    } else if (arguments) {
      arguments->reject("are those of model.module, which is not there");
    }
    if (!automatic) return;
    for (const auto& given : {widths, strides, kernels}) {
      if (given) given->reject("model.name is auto, which chooses this. Leave one of them out");
    }
  }
};

/// `levels`: how many the patch allows.
std::vector<int> choose_widths(const ModelKeys& keys, std::size_t levels, bool volumes) {
  if (keys.automatic) return planned_widths(levels, volumes);
  if (keys.widths) return read_widths(*keys.widths);
  std::vector<int> widths = RunConfig::Model().widths;
  if (!keys.strides) widths.resize(std::min(widths.size(), levels));
  return widths;
}

/// Strides and kernels in the config replace planned ones.
void read_strides(const ModelKeys& keys, std::size_t axes, bool volumes, RunConfig::Model& model) {
  const std::size_t levels = model.widths.size();
  if (keys.strides) {
    model.strides = read_levels(*keys.strides, levels, axes, {1, 2});
    const std::vector<int>& first = model.strides.front();
    if (std::any_of(first.begin(), first.end(), [](int stride) { return stride != 1; })) {
      keys.strides->reject("the first level is the patch itself: its strides must be 1");
    }
    model.kernels.assign(levels, std::vector<int>(axes, 3));
  }
  if (!keys.kernels) return;
  if (!volumes) {
    keys.kernels->reject("belongs to runs on volumes: kernels of slides are 3. Leave it out");
  }
  model.kernels = read_levels(*keys.kernels, levels, axes, {1, 3});
}

/// Whether every axis is halved from level to level, and every kernel is 3.
bool is_uniform(const RunConfig::Model& model) {
  const auto all = [](const std::vector<int>& axes, int value) {
    return std::all_of(axes.begin(), axes.end(), [&](int v) { return v == value; });
  };
  return std::all_of(model.strides.begin() + (model.strides.empty() ? 0 : 1), model.strides.end(),
                     [&](const auto& axes) { return all(axes, 2); }) &&
         std::all_of(model.kernels.begin(), model.kernels.end(),
                     [&](const auto& axes) { return all(axes, 3); });
}

void read_module(const ModelKeys& keys, RunConfig::Model& model) {
  model = {};
  model.widths.clear();
  module_form(model.own.module).read(*keys.module);
  if (keys.arguments) arguments_form(model.own.arguments).read(*keys.arguments);
}

// Without `read`: what a key may hold depends on the plan, so read_model reads all four together.

Form name_form(const NetworkName& name) {
  const auto names = names_for(name);
  return {{},
          [&name] { return Json(std::string(name_of(name))); },
          fmt::format("{}", fmt::join(names, ", ")),
          names};
}

template <typename Values>
Form written_form(const Values& values, std::string accepts) {
  return {{}, [&values] { return Json(values); }, std::move(accepts), {}};
}

}  // namespace

Fields model_fields(RunConfig& config) {
  RunConfig::Model& model = config.model;
  const bool built_in = !model.own.given();
  const bool counts = built_in && !is_uniform(model);
  Fields fields = {
      Field{"name", name_form(model.name), "auto: chooses levels and widths, too"}.written_if(
          built_in),
      Field{"widths",
            written_form(model.widths,
                         fmt::format("2 to {} multiples of 8, each 8 to 4096", kMaxNetworkLevels)),
            "channels of each level"}
          .written_if(built_in),
      Field{"strides", written_form(model.strides, "1 or 2, by level and axis"),
            "from each level to the next", "planned"}
          .hashed_if(counts)
          .written_if(built_in),
      Field{"kernels", written_form(model.kernels, "1 or 3, by level and axis"),
            "volumes: of each level", "planned"}
          .hashed_if(counts)
          .written_if(built_in && config.volumes),
  };
  for (Field& field : python_function_fields(model.own, "a network"))
    fields.push_back(std::move(field).written_if(!built_in));
  return fields;
}

void read_model(YamlMap& top, const std::string& file, RunConfig& config) {
  const PatchGrid grid(config);
  const ModelKeys keys(top, config);
  if (keys.module) return read_module(keys, config.model);
  const std::size_t most = plan_network(grid.spacing, grid.size).strides.size();
  if (most < 2 && !keys.strides) {
    reject(keys.section, file,
           fmt::format("a patch of [{}] can't be halved: an edge must have at least 8, the only "
                       "one 12. Take a larger patch",
                       fmt::join(grid.size, ", ")));
  }
  RunConfig::Model& model = config.model;
  model.widths = choose_widths(keys, most, config.volumes);
  const std::size_t levels = model.widths.size();
  if (levels > most && !keys.strides) {
    keys.widths->reject(fmt::format(
        "{} widths halve the patch {} times, but one of [{}] at this spacing is halved {} times "
        "(4 and more must be left of an edge). Take at most {} widths, or a larger patch",
        levels, levels - 1, fmt::join(grid.size, ", "), most - 1, most));
  }
  NetworkPlan plan = plan_network(grid.spacing, grid.size, levels);
  model.strides = std::move(plan.strides);
  model.kernels = std::move(plan.kernels);
  read_strides(keys, grid.size.size(), config.volumes, model);
  check_patch(model, grid, keys.widths ? keys.widths : keys.section, file);
}

}  // namespace headrace::config::detail
