#include "cli/train_folds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/figure_text.hpp"
#include "cli/launch.hpp"
#include "cli/torch_program.hpp"
#include "cli/trackers.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json_changes.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/loader/plan/folds.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/report/folds_report.hpp"
#include "learn/runs/folds_folder.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::cli {
namespace {

namespace fs = std::filesystem;

/// Refuses what a fold was begun with another config than is given now.
void check_begun(const fs::path& run, const config::RunConfig& config) {
  if (!runs::RunFolder::holds_run(run)) return;
  const runs::RunFolder folder = runs::RunFolder::open(run);
  const auto hash = folder.read_json("run.json").at("dataset_hash").get<std::string>();
  if (!hash.starts_with(config.data.version)) {
    fail(
        ErrorCode::usage,
        "{} was trained on dataset {}, expected {} (data.version, or that of the first fold begun): "
        "other versions are dealt otherwise. Put it back, or train all folds in another {}.",
        run.string(), hash, config.data.version, Option{"out"});
  }
  const Json stored = folder.read_json("config.json");
  std::vector<std::string> changes;
  for (const JsonChange& change : changes_between(stored, config.to_json())) {
    if (!config::RunConfig::decides_nothing(change.key)) changes.push_back(change.text("now"));
  }
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "{} was trained with another config: {}. Put it back, or train all folds in another {}.",
       run.string(), fmt::join(changes, "; "), Option{"out"});
}

void check_request(const FoldsRequest& request, const config::RunConfig& config) {
  if (std::getenv("RANK") != nullptr) {
    fail(ErrorCode::usage,
         "{} starts the processes of each fold itself, but RANK is set. Unset RANK and WORLD_SIZE, "
         "or train each fold by {} and {}.",
         Option{"folds"}, Option{"folds"}, Option{"fold"});
  }
  if (!request.resume && runs::holds_folds(request.out)) {
    fail(ErrorCode::usage, "{} already holds folds. Go on with them by {}, or give another {}.",
         request.out, Option{"resume"}, Option{"out"});
  }
  if (request.resume && !runs::holds_folds(request.out)) {
    fail(ErrorCode::not_found, "{} holds no folds to go on with. Leave {} out.", request.out,
         Option{"resume"});
  }
  for (int fold = 0; fold < request.folds; ++fold)
    check_begun(runs::fold_folder(request.out, fold), config_of_fold(config, request, fold));
}

/// How the cases are dealt, for the user.
void say_deal(const config::RunConfig& config) {
  const auto cohort = cohort::Cohort::open(config.data.store, config.data.version);
  loader::split_for(cohort, config);  // refuses what can't be trained, as each fold would
  const auto fold_of = loader::deal_folds(*cohort, config);
  std::vector<std::size_t> cases(static_cast<std::size_t>(config.data.folds));
  for (const auto& [id, fold] : fold_of) ++cases[static_cast<std::size_t>(fold)];
  log::info("{} cases in {} folds of {}", fold_of.size(), config.data.folds,
            fmt::join(cases, ", "));
}

/// The command line of one fold: this one's, with the fold and whether it goes on.
std::vector<std::string> arguments_of(int fold, bool resume) {
  std::vector<std::string> out;
  for (char** argument = command_line; *argument != nullptr; ++argument) {
    const std::string_view text(*argument);
    if (text != "--resume" && text != "--json") out.emplace_back(text);
  }
  out.insert(out.end(), {"--fold", std::to_string(fold)});
  if (resume) out.emplace_back("--resume");
  return out;
}

/// Trains a fold in processes of its own; their exit code, 1 where a signal ended one. Throws where
/// the user stopped it, or nothing was begun: then the others would fail as well.
int train_one(const FoldsRequest& request, int fold) {
  const fs::path run = runs::fold_folder(request.out, fold);
  std::vector<std::string> arguments = arguments_of(fold, runs::RunFolder::holds_run(run));
  if (request.json) arguments.emplace_back("--json");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  log::info("fold {} of {}: {}", fold, request.folds, run.string());
  bool asked = false;
  int code = 1;
  try {
    code = run_processes(request.processes, torch_program(), pointers.data(), &asked);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled) throw;
    log::warning("fold {}: {}", fold, error.what());  // killed, such as for memory
  }
  if (code == 0 && !asked) return 0;
  if (!runs::holds_folds(request.out)) throw ExitCode{code == 0 ? 1 : code};  // nothing was begun
  if (!asked) {
    log::warning("fold {} has not come to its end (exit code {})", fold, code);
    return code;
  }
  log::warning("fold {} {}; the same command with {} goes on", fold,
               code == 0 ? "has come to its end, others have not" : "has not come to its end",
               Option{"resume"});
  throw ExitCode{code == 0 ? 1 : code};
}

/// One failed fold costs no other its training: it is named at the end.
void train_all(const FoldsRequest& request) {
  std::vector<int> failed;
  std::set<int> codes;
  for (int fold = 0; fold < request.folds; ++fold) {
    if (runs::is_finished(runs::fold_folder(request.out, fold))) {
      log::info("fold {} of {} is finished", fold, request.folds);
    } else if (const int code = train_one(request, fold); code != 0) {
      failed.push_back(fold);
      codes.insert(code);
    }
  }
  if (failed.empty()) return;
  log::warning(
      "{} of {} folds failed ({}), for the reasons above; the others are finished and kept. When "
      "that is mended, the same command with {} trains what is left and makes {}",
      failed.size(), request.folds, fmt::join(failed, ", "), Option{"resume"}, runs::kFoldsFile);
  throw ExitCode{codes.size() == 1 ? *codes.begin() : 1};
}

/// "0.8123 ± 0.0214", and of how many folds where the others have none: "(3 of 5)"
std::string spread_text(const Json& spread) {
  std::string out = fmt::format("{:>9}", figure(spread.at("mean")));
  if (!spread.at("sd").is_null()) out += fmt::format(" ± {}", figure(spread.at("sd")));
  const Json& values = spread.at("values");
  const auto undefined = std::count(values.begin(), values.end(), Json());
  if (undefined > 0)
    out += fmt::format(" ({} of {})", values.size() - static_cast<std::size_t>(undefined),
                       values.size());
  return out;
}

std::string pooled_text(const Json& pooled, const JsonPath& path) {
  const Json* value = find_at(pooled, path);
  if (value == nullptr) return "";
  std::string out = figure(*value);
  JsonPath ends{"interval_95"};
  ends.insert(ends.end(), path.begin(), path.end());
  if (const Json* interval = find_at(pooled, ends); interval != nullptr && interval->is_array())
    out += fmt::format(" ({} to {})", figure(interval->at(0)), figure(interval->at(1)));
  if (const Json* none = find_at(pooled, {"no_interval"}); none != nullptr)
    out += fmt::format(" ({})", none->get<std::string>());
  return out;
}

void collect(const Json& value, const JsonPath& path, std::vector<JsonPath>& out) {
  if (!value.is_object()) return;
  if (value.contains("t_95")) return out.push_back(path);
  for (const auto& [key, child] : value.items()) {
    JsonPath deeper = path;
    deeper.push_back(key);
    collect(child, deeper, out);
  }
}

void print_group(const std::string& title, const Json& spreads, const Json& pooled) {
  fmt::print("{}\n", title);
  std::vector<JsonPath> paths;
  collect(spreads, {}, paths);
  for (const JsonPath& path : paths) {
    if (find_at(spreads, path)->at("mean").is_null()) continue;  // undefined in every fold
    fmt::print("  {:<44} {:<29} {}\n", fmt::format("{}", fmt::join(path, ".")),
               spread_text(*find_at(spreads, path)), pooled_text(pooled, path));
  }
}

void print_folds(const std::string& out, const Json& json) {
  fmt::print("{:<46} {:<29} {}\n", "figure", "mean ± sd of folds",
             "all cases, each by the network that never saw it (95 % interval)");
  const Json& over = json.at("over_folds");
  const Json& pooled = json.at("pooled");
  print_group("overall", over.at("overall"), pooled.at("overall"));
  for (const auto& [name, group] : over.at("cohorts").items())
    print_group("cohort " + name, group, pooled.at("cohorts").value(name, Json::object()));
  fmt::print("{}\nwritten {}\n", json.at("note").get<std::string>(),
             (fs::path(out) / runs::kFoldsFile).string());
}

/// One page over all folds. That it can't be made costs no fold.
void put_page(const std::string& out) {
  try {
    storage::open_store(storage::Place::parse(out))
        ->put_text("report.html", report::render_folds(out));
  } catch (const Error& error) {
    log::warning("no page of the folds was made: {}", error.what());
  }
}

}  // namespace

config::RunConfig config_of_fold(config::RunConfig config, const FoldsRequest& request, int fold) {
  if (fold < 0 || fold >= request.folds) {
    fail(ErrorCode::usage, "{} is {}, expected 0 to {}: there are {} folds.", Option{"fold"}, fold,
         request.folds - 1, request.folds);
  }
  if (runs::RunFolder::holds_run(request.out)) {
    fail(ErrorCode::usage, "{} is a run folder. Give the folds another {}.", request.out,
         Option{"out"});
  }
  config.data.folds = request.folds;
  config.data.fold = fold;
  for (int other = 0; other < request.folds && config.data.version.empty(); ++other) {
    const fs::path run = runs::fold_folder(request.out, other);
    if (!runs::RunFolder::holds_run(run)) continue;  // nor what was killed at its very start
    config.data.version =
        runs::RunFolder::open(run).read_json("run.json").at("dataset_hash").get<std::string>();
  }
  return config;
}

void train_folds(const FoldsRequest& request) {
  const auto config = config::RunConfig::load(request.config);
  check_request(request, config);
  say_deal(config_of_fold(config, request, 0));
  train_all(request);
  const Json json = runs::summarise_folds(request.out);
  put_page(request.out);
  Trackers trackers(config, request.out);
  trackers.start_group();
  if (request.json) {
    fmt::print("{}", dump_json(json));
  } else {
    print_folds(request.out, json);
  }
}

}  // namespace headrace::cli
