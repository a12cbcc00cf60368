#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "learn/config/planned_connections.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace plan --network --config run.yaml\n"
    "\n"
    "No connection is opened for it. What a store at a URL refers to is not known before it is "
    "read: a run ends there, where that\n"
    "host was not named.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, also where the config leads to a host that it does not "
    "name.";

struct Arguments {
  std::string config;
  bool network = false, json = false;
};

void run(const Arguments& a) {
  if (!a.network) fail(ErrorCode::usage, "say what is planned: --network");
  auto config = config::RunConfig::read(a.config);
  config.network.cache = {};  // whose folder would be made
  config.use_network();
  const auto found = config::planned_connections(config);
  Json rows = Json::array();
  for (const auto& one : found)
    rows.push_back({{"host", one.host},
                    {"purpose", one.purpose},
                    {"named_by", one.named_by},
                    {"allowed", one.allowed}});
  if (a.json) {
    fmt::print("{}", dump_json({{"connections", rows}}));
  } else if (found.empty()) {
    fmt::print("no connection is opened\n");
  }
  std::size_t width = 0;
  for (const auto& one : found) width = std::max(width, one.host.size());
  for (const auto& one : found) {
    if (!a.json)
      fmt::print("{:{}}  {} ({}){}\n", one.host, width, one.purpose, one.named_by,
                 one.allowed ? "" : ": refused, since the config does not name this host");
  }
  const bool all =
      std::all_of(found.begin(), found.end(), [](const auto& one) { return one.allowed; });
  if (!all) throw ExitCode{2};
}

}  // namespace

void add_plan(Command app) {
  Command plan =
      app.subcommand("plan", "Says of a config what its runs will do, before they do it.");
  plan.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  plan.option("--config", arguments->config, "the run's YAML file").required();
  plan.flag("--network", arguments->network, "every host that is spoken to, and what for");
  plan.flag("--json", arguments->json, "print one JSON object");
  plan.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
