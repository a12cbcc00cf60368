#include "learn/runs/promote.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Copies what is needed to use the run's weights into a registry: models/ID (whole, never\n"
    "changed), NAME (a link to it, which `headrace predict --run REGISTRY/NAME` takes like any run)\n"
    "and a line of log.jsonl. Only if every gate holds: those of the run's config, and of --gate.\n"
    "And only if no figure that a gate names, now or when the model that has the name was promoted,\n"
    "got worse than with that model, over all images, in each cohort and where a gate holds it, by\n"
    "paired bootstrap over the cases of the same evaluation: the\n"
    "end of the difference's 95 % interval that is worse may reach the margin (the gate's\n"
    "worse_than_promoted, or --worse; else 0.02, of distances 1 mm). Of fewer than ten cases there\n"
    "is no interval: the figures alone are compared, and the line says so; a gate of an interval's\n"
    "end (bound) can't be decided then, which is a miss. Otherwise nothing is changed.\n"
    "Cases that the weights were trained on are no proof: an evaluation with some is refused.\n"
    "An older model is promoted again by its folder: REGISTRY/models/ID. Everything that was\n"
    "promoted is checked by --list.\n"
    "\n"
    "Examples:\n"
    "  headrace promote runs/a --as gleason --registry models --message \"second round of labels\"\n"
    "  headrace promote runs/b --as gleason --registry models --gate gate.yaml --worse mean_dice=0.01\n"
    "  headrace promote models/models/3f2a91bc04d5e6f7 --as gleason --registry models \\\n"
    "    --without-comparison \"back to the model of May\"\n"
    "  headrace promote --list --registry models\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 a gate missed or something got worse, 4 damaged.";

struct Arguments {
  runs::PromoteRequest request;
  std::string gate, without, with_trained;
  std::vector<std::string> worse;
  bool list = false, json = false;
};

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string user_name() {
  const passwd* user = getpwuid(geteuid());
  return user != nullptr ? user->pw_name : fmt::format("user {}", geteuid());
}

std::map<std::string, double> margins_of(const std::vector<std::string>& worse) {
  std::map<std::string, double> out;
  for (const std::string& text : worse) {
    const std::size_t equals = text.rfind('=');
    std::size_t read = 0;
    double margin = -1;
    try {
      if (equals != std::string::npos) margin = std::stod(text.substr(equals + 1), &read);
    } catch (const std::exception&) {
      read = 0;
    }
    if (equals == std::string::npos || equals == 0 || read == 0 ||
        read != text.size() - equals - 1 || !(margin >= 0 && margin <= 1e9)) {
      fail(ErrorCode::usage,
           "--worse '{}': expected FIGURE=MARGIN, such as dice.tumour=0.02, with a margin from 0",
           text);
    }
    out[text.substr(0, equals)] = margin;
  }
  return out;
}

/// Refuses a run whose config or preprocessing is not that which its weights were trained with.
void check_recorded(const runs::RunFolder& folder) {
  loader::read_run_preprocessing(folder.files());
  const std::string file = folder.describe("config.json");
  const std::string found =
      config::RunConfig::parse(folder.read_json("config.json").dump(), file).hash();
  const std::string recorded = folder.read_json(loader::kRunFile).at("config_hash");
  if (found == recorded) return;
  fail(ErrorCode::corrupt,
       "{}: not the config that the run was trained with (run.json: config_hash {}, now {}). Put "
       "the file back",
       file, recorded.substr(0, 16), found.substr(0, 16));
}

void promote(Arguments& a) {
  runs::PromoteRequest& request = a.request;
  if (request.run.empty() || request.name.empty())
    fail(ErrorCode::usage, "Name a run and, by --as, what the registry is to call it; or --list.");
  if (!a.gate.empty()) request.gates = measure::Gate::load(a.gate);
  if (!a.without.empty()) request.without_comparison = a.without;
  if (!a.with_trained.empty()) request.with_trained_cases = a.with_trained;
  request.margins = margins_of(a.worse);
  request.time = now_utc();
  if (request.by.empty()) request.by = user_name();
  const runs::RunFolder folder = runs::RunFolder::open(request.run);
  check_recorded(folder);
  request.run = folder.path().string();  // a name in a registry may mean another model by then
  const runs::Promotion outcome = runs::promote(request);
  if (a.json) {
    fmt::print("{}", dump_json(outcome.to_json()));
  } else {
    fmt::print("{}", outcome.gates.text());
    if (outcome.comparison) fmt::print("{}", outcome.comparison->text());
    if (outcome.promoted) {
      fmt::print("{} {} model {}, weights {}\n", request.name,
                 outcome.was_already ? "is already" : "is now", outcome.model,
                 outcome.weights_sha256.substr(0, 16));
    } else {
      fmt::print("not promoted; {} is as it was\n", request.registry);
    }
  }
  if (!outcome.promoted) throw ExitCode{3};
}

void list(const Arguments& a) {
  const runs::Registry registry(a.request.registry);
  if (!std::filesystem::is_directory(registry.path()))
    fail(ErrorCode::not_found, "{}: there is no such registry", registry.path().string());
  const runs::RegistryState state = registry.state();
  if (a.json) {
    Json out = {{"promotions", state.promotions}, {"head", state.head}, {"damage", state.damage}};
    out["names"] = Json::array();
    for (const auto& one : state.names) {
      out["names"].push_back({{"name", one.name},
                              {"model", one.model},
                              {"time", one.time},
                              {"by", one.by},
                              {"lags", one.lags}});
    }
    fmt::print("{}", dump_json(out));
  } else {
    for (const auto& one : state.names) {
      fmt::print("{:<20} {}  {}  {}{}\n", one.name, one.model, one.time, one.by,
                 one.lags ? "  (its link lags behind the log; the next promotion mends it)" : "");
    }
    fmt::print("{} promotions; the last line of the log has SHA-256 {}\n", state.promotions,
               state.head.is_string() ? state.head.get<std::string>() : "-");
    for (const std::string& sentence : state.damage) fmt::print("DAMAGED: {}\n", sentence);
  }
  if (!state.damage.empty()) throw ExitCode{4};
}

void run(Arguments& a) { a.list ? list(a) : promote(a); }

}  // namespace

void add_promote(Command app) {
  Command promote =
      app.subcommand("promote", "Puts a run that passes its gates into a registry of models.");
  promote.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  runs::PromoteRequest& request = arguments->request;
  promote.option("RUN", request.run, "run folder, or a model of a registry");
  promote.option("--as", request.name, "the model's name in the registry");
  promote.option("--registry", request.registry, "the registry's folder").required();
  promote.option("--gate", arguments->gate, "file of further gates (YAML)");
  promote.option("--weights", request.weights, "final, or best by validation")
      .one_of({"final", "best"})
      .shows_default();
  promote.option("--evaluation", request.evaluation,
                 "eval.json to judge by (default: the run's own, of these weights)");
  promote.option("--message", request.message, "for the log");
  promote.option("--by", request.by, "who promotes (default: the user of the system)");
  promote
      .option("--worse", arguments->worse,
              "FIGURE=MARGIN: how much worse than the promoted model it may be; repeatable")
      .one_word();
  promote.option("--without-comparison", arguments->without,
                 "compare nothing with the promoted model; says why, for the log");
  promote.option("--with-trained-cases", arguments->with_trained,
                 "judge by cases that the weights were trained on, or may have been; says "
                 "why, for the log");
  promote.flag("--list", arguments->list, "show names, models and dates; check every file");
  promote.flag("--json", arguments->json, "print one JSON object");
  promote.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
