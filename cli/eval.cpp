#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/figure_text.hpp"
#include "cli/torch_program.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#ifdef HR_TORCH
#include "cli/process_settings.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "learn/config/figure_rules.hpp"
#include "learn/measure/figure_table.hpp"
#include "learn/measure/gate.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/evaluate_run.hpp"
#endif

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Writes eval.json, eval-slides.csv and eval-cases.csv (of volumes eval-volumes.csv and\n"
    "eval-lesions.csv) into the run folder; on another store, split or weights "
    "eval-WEIGHTS-SPLIT-DATASET.json beside them. "
    "The\n"
    "report is made again. With --out all but the report is written there, always by the longer\n"
    "name, which `headrace promote --evaluation` takes.\n"
    "Gates are those of the run's config, or of a file instead: a list of entries, such as\n"
    "  - {figure: dice.tumour, least: 0.7, scope: each cohort}\n"
    "  - {figure: hd95_penalised.liver, most: 10, bound: upper}      # the end of its 95 % interval\n"
    "or a mapping, {mean_dice: 0.7, hd95.lesion: {most: 10}, cohorts.a.dice.liver: 0.8}. An\n"
    "undefined figure or interval, or an absent group, is a miss; each is named. Of fewer than ten\n"
    "cases there is no interval.\n"
    "HD95 and surface Dice are those of DeepMind's surface-distance: of surface elements weighted by\n"
    "their area, the larger of the two directions' 95th percentiles. Other tools define HD95\n"
    "otherwise.\n"
    "\n"
    "Examples:\n"
    "  headrace eval --run runs/gleason\n"
    "  headrace eval --run runs/gleason --store other-hospital.zarr --split test --gate gate.yaml\n"
    "  headrace eval --run /archive/gleason --split test --out judged\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 gate missed.";

struct Arguments {
  std::string run, split, store, weights = "final", gate, out;
  bool json = false;
};

#ifdef HR_TORCH
/// "HD95 4.2000 mm", or "found 3"; after it " (baseline 0.1234)" where the table says so and a
/// baseline was evaluated beside the network. Empty where the group has no such figure.
std::string figure_text(const measure::Figure& row, const JsonPath& path, const Json& group,
                        const Json& baseline) {
  const Json* value = find_at(group, path);
  if (value == nullptr) return "";
  std::string out =
      fmt::format("  {} {}", row.console,
                  row.count ? std::to_string(value->get<std::uint64_t>()) : figure(*value));
  if (!row.unit.empty()) out += fmt::format(" {}", row.unit);
  const Json* beside = row.console_baseline ? find_at(baseline, path) : nullptr;
  return beside != nullptr ? out + fmt::format(" (baseline {})", figure(*beside)) : out;
}

void print_group(const std::string& kind, const std::string& name, const Json& group,
                 const Json& baseline) {
  fmt::print("{:<8} {:<20} {:>4} images", kind, name, group.at("images").get<std::int64_t>());
  for (const measure::Figure& row : measure::figure_table()) {
    if (!row.console.empty() && !row.by_class())
      fmt::print("{}", figure_text(row, row.path(), group, baseline));
  }
  if (group.contains("no_interval")) fmt::print("  {}", group.at("no_interval").get<std::string>());
  fmt::print("\n");
}

/// The differences between the run and the store.
void print_mismatch(const Json& result) {
  const auto names = [&](const char* key) {
    return fmt::format("{}", fmt::join(result.at(key).get<std::vector<std::string>>(), ", "));
  };
  if (!result.at("unknown_classes").empty()) {
    fmt::print("classes that the run does not know, ignored: {}\n", names("unknown_classes"));
  }
  if (!result.at("missing_classes").empty()) {
    fmt::print("classes of the run that the store does not have: {}\n", names("missing_classes"));
  }
  if (!result.at("unknown_scanners").empty()) {
    fmt::print("scanners that the run does not know, each slide by its own colours: {}\n",
               names("unknown_scanners"));
  }
}

void print_result(const Json& result) {
  const Json nothing = Json::object();
  const Json& baseline = result.contains("baseline") ? result.at("baseline") : nothing;
  const auto baseline_of = [&](const char* groups, const std::string& name) {
    return baseline.contains(groups) ? baseline.at(groups).at(name) : nothing;
  };
  const Json everywhere = baseline.value("overall", nothing);
  print_group("split", result.at("split").get<std::string>(), result.at("overall"), everywhere);
  for (const auto& [name, group] : result.at("cohorts").items())
    print_group("cohort", name, group, baseline_of("cohorts", name));
  const bool volumes = result.contains("phases");
  for (const auto& [groups, word] :
       {std::pair{"scanners", "scanner"}, std::pair{"phases", "phase"}}) {
    const Json named = result.value(groups, nothing);
    for (const auto& [name, group] : named.items())
      print_group(word, name, group, baseline_of(groups, name));
  }
  const Json& overall = result.at("overall");
  for (const auto& entry : result.at("classes")) {
    const std::string name = entry.get<std::string>();
    std::string line;
    for (const measure::Figure& row : measure::figure_table()) {
      if (!row.console.empty() && row.by_class())
        line += figure_text(row, row.path(name), overall, everywhere);
    }
    fmt::print("  {:<24} {}\n", name, line.empty() ? line : line.substr(2));
  }
  if (volumes) {
    fmt::print(
        "  (HD95 by DeepMind's surface-distance, where surfaces count by their area; other tools "
        "define it otherwise)\n");
  }
}

/// Those of the file, or of the run's own config. Their names are checked before the evaluation,
/// which may take long.
measure::Gate gates_of(const Arguments& arguments) {
  const runs::RunFolder folder = runs::RunFolder::open(arguments.run);
  const auto config = config::RunConfig::parse(folder.read_json("config.json").dump(),
                                               folder.describe("config.json"));
  const measure::Gate gate =
      arguments.gate.empty() ? config.gates : measure::Gate::load(arguments.gate);
  config::check_gates(gate, loader::read_run_preprocessing(folder.files()).classes, config);
  return gate;
}
#endif

void run([[maybe_unused]] const Arguments& arguments) {
#ifdef HR_TORCH
  set_process_for_torch();
  const measure::Gate gate = gates_of(arguments);
  const std::string file = std::filesystem::path(arguments.gate).filename().string();
  const Json result = train::evaluate_run({arguments.run, arguments.split, arguments.store,
                                           arguments.weights, gate, file, arguments.out})
                          .json;
  const measure::GateResult verdict = gate.check(result);
  if (arguments.json) {
    fmt::print("{}", dump_json(result));
  } else {
    print_result(result);
    print_mismatch(result);
    fmt::print("{}", verdict.text());
  }
  if (!verdict.passed()) throw ExitCode{3};
#else
  run_with_torch("eval");
#endif
}

}  // namespace

void add_eval(Command app) {
  Command eval = app.subcommand("eval", "Evaluates a trained run on a split of a store.");
  eval.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  eval.option("--run", arguments->run, "run folder of headrace train").required();
  eval.option("--split", arguments->split, "split to evaluate (default: data.val of the run)");
  eval.option("--store", arguments->store, "another store; its classes are matched by name");
  eval.option("--weights", arguments->weights, "final, or best by validation Dice")
      .one_of({"final", "best"})
      .shows_default();
  eval.option("--gate", arguments->gate, "file of gates, in place of the run's own (YAML)");
  eval.option("--out", arguments->out,
              "folder to write into, in place of the run folder, which stays as it is");
  eval.flag("--json", arguments->json, "print one JSON object");
  eval.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
