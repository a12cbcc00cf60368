#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/torch_program.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#ifdef HR_TORCH
#include "cli/code_facts.hpp"
#include "cli/code_version.hpp"
#include "cli/process_settings.hpp"
#include "cli/scratch_work.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/versions/verify.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/runs/promoted_from.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/replay/replay.hpp"
#endif

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Compares with steps.jsonl, step by step: the batch, the loss, the gradient's norm and the\n"
    "weights. What is known to differ (config, data, preprocessing, code, libraries, LibTorch,\n"
    "hardware, first weights) is named first; then the first step that differs, what differs there\n"
    "and its likely cause. At the end the objects of the store are compared with their lists, where\n"
    "they are below 8 GB together or with --full.\n"
    "\n"
    "--full trains to the end in a folder beside RUN (or in --out), which is removed, and also\n"
    "compares final and best weights, eval.json and validations. Nothing is written into RUN or the\n"
    "store. A run that was resumed, or trained by several processes, is replayed in one.\n"
    "\n"
    "Examples:\n"
    "  headrace replay runs/gleason\n"
    "  headrace replay runs/gleason --full\n"
    "  headrace replay /archive/gleason --full --out /tmp\n"
    "  headrace replay runs/gleason --steps 100 --store /mnt/moved/cohort.zarr --json\n"
    "  headrace replay runs/gleason --config changed.yaml\n"
    "\n"
    "Exit codes: 0 the same, 1 failed, 2 usage, 4 something differs: bytes, or what decides them\n"
    "(a key of the config, the data).";

struct Arguments {
  std::string run, config, store, init, out;
  std::int64_t steps = 10;
  int threads = 0;
  bool full = false, json = false;
};

#ifdef HR_TORCH
/// Objects up to this many bytes are hashed without being asked for: some seconds.
constexpr std::uint64_t kHashedBytes = 8'000'000'000;

/// What is said about the objects of the store.
struct StoreCheck {
  std::uint64_t bytes = 0;
  std::optional<ingest::Verification> found;  ///< nothing: not hashed
  std::string failed;                         ///< the version can't be read; empty: it can

  bool damaged() const { return !failed.empty() || (found && !found->damage.empty()); }
};

StoreCheck check_store(const train::ReplayResult& result, bool full) {
  StoreCheck check;
  const auto opened = storage::open_store(storage::Place::parse(result.store));
  const storage::Store& store = *opened;
  try {
    const std::string version =
        result.dataset_hash.empty() ? cohort::StoreHead::load(store).current : result.dataset_hash;
    check.bytes = cohort::StoreVersion::load(store, version).bytes();
    if (!full && check.bytes > kHashedBytes) return check;
    ThreadPool pool(0);
    check.found = ingest::verify(store, pool, version);
  } catch (const Error& error) {
    check.failed = error.what();
  }
  return check;
}

void say_known(const std::vector<train::KnownDifference>& known) {
  if (known.empty()) {
    fmt::print(
        "nothing that the run records differs: config, data, preprocessing, code, libraries, "
        "LibTorch, hardware, first weights\n");
  } else {
    fmt::print("known to differ before the first step:\n");
  }
  for (const auto& one : known) fmt::print("  {}\n", one.text());
  std::fflush(stdout);
}

void print_compared(const train::ReplayResult& result) {
  if (result.by_means) {
    fmt::print(
        "the run has no steps.jsonl, as it was made by an earlier release: losses are compared as "
        "the means of metrics.jsonl, batches and weights not at all\n");
  }
  for (const std::string& note : result.notes) fmt::print("{}\n", note);
  if (!result.difference) {
    fmt::print("{} of {} steps are the run's: {}\n", result.steps, result.total_steps,
               result.by_means
                   ? "means of the loss, gradient norms"
                   : fmt::format("losses, gradient norms, {} batches and the weights after {}",
                                 result.batches, result.weights));
  }
  for (const std::string& file : result.files) fmt::print("{}: the same\n", file);
}

constexpr std::size_t kShown = 20;  ///< damaged objects; headrace verify prints all

std::string shown_keys(const StoreCheck& check) {
  const auto& damage = check.found->damage;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < std::min(kShown, damage.size()); ++i) keys.push_back(damage[i].key);
  if (damage.size() > kShown) keys.push_back(fmt::format("{} more", damage.size() - kShown));
  return fmt::format("{}", fmt::join(keys, ", "));
}

void print_store(const train::ReplayResult& result, const StoreCheck& check) {
  if (!check.failed.empty()) {
    fmt::print("{}\n", check.failed);
  } else if (!check.found) {
    fmt::print(
        "the store's {:.1f} GB of objects were not hashed; --full does, or headrace verify {} "
        "--version {}\n",
        static_cast<double>(check.bytes) / 1e9, result.store, result.dataset_hash);
  } else if (check.found->damage.empty()) {
    fmt::print("every object of the store's version is as it was stored\n");
  } else {
    fmt::print("objects of the store that are not as they were stored:\n");
    const auto& damage = check.found->damage;
    for (std::size_t i = 0; i < std::min(kShown, damage.size()); ++i)
      fmt::print("  {} {}: {}\n", name_of(damage[i].kind), damage[i].key, damage[i].detail);
    if (damage.size() > kShown) {
      fmt::print("  {} more: headrace verify {} --version {}\n", damage.size() - kShown,
                 result.store, result.dataset_hash);
    }
  }
}

/// The damage of the store before what the run's records tell.
std::vector<std::string> causes_of(const train::ReplayResult& result, const StoreCheck& check) {
  if (!result.difference->may_be_data() || !check.found || check.found->damage.empty())
    return train::likely_causes(result);
  std::vector<std::string> causes{
      fmt::format("data: {} of the store not as stored: {}",
                  check.found->damage.size() == 1 ? "an object" : "objects", shown_keys(check))};
  if (!result.known.empty()) {
    for (std::string& cause : train::likely_causes(result)) causes.push_back(std::move(cause));
  }
  return causes;
}

void print_verdict(const train::ReplayResult& result, const StoreCheck& check) {
  if (result.difference) {
    fmt::print("{}\n", result.difference->text());
    fmt::print("likely cause:\n");
    for (const std::string& cause : causes_of(result, check)) fmt::print("  {}\n", cause);
  } else if (check.damaged()) {
    fmt::print(
        "what was replayed is the same, but the store is not: its damage lies in what was not read\n");
  } else if (result.decided_otherwise()) {
    fmt::print(
        "what was replayed is the same, but what decides a training differs (above): it is not the "
        "same run\n");
  } else if (!result.known.empty()) {
    fmt::print("the same, in spite of what differs (above)\n");
  } else {
    fmt::print("the same\n");
  }
}

Json json_of(const train::ReplayResult& result, const StoreCheck& check, bool same) {
  Json out = result.to_json();
  out["same"] = same;
  if (result.difference) out["likely_causes"] = causes_of(result, check);
  Json damages = Json::array();
  if (check.found) {
    for (const auto& damage : check.found->damage)
      damages.push_back(
          {{"key", damage.key}, {"kind", name_of(damage.kind)}, {"detail", damage.detail}});
  }
  out["store"] = {{"bytes", check.bytes},
                  {"hashed", check.found.has_value()},
                  {"failed", check.failed.empty() ? Json() : Json(check.failed)},
                  {"damage", damages}};
  return out;
}

/// The exit code.
int replay(const Arguments& a, const std::filesystem::path& scratch) {
  set_process_for_torch();
  train::ReplayRequest request{a.run, a.steps, a.full, a.config, a.store, a.threads, a.init};
  request.scratch = scratch.string();
  request.code_version = code_version();
  request.code = code_facts();
  if (!a.json) request.say = say_known;
  const train::ReplayResult result = train::replay(request);
  if (!a.json) print_compared(result);
  const StoreCheck check = check_store(result, a.full);
  const bool same = !result.difference && !check.damaged() && !result.decided_otherwise();
  if (a.json) {
    fmt::print("{}", dump_json(json_of(result, check, same)));
  } else {
    print_store(result, check);
    print_verdict(result, check);
  }
  return same ? 0 : 4;
}
#endif

void run([[maybe_unused]] const Arguments& a) {
#ifdef HR_TORCH
  namespace fs = std::filesystem;
  runs::RunFolder::open(a.run);  // before anything is made beside it
  runs::refuse_model(a.run);
  fs::path folder = fs::absolute(a.run).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "runs/a/"
  const std::string name = "." + folder.filename().string() + ".replay";
  const fs::path within = a.out.empty() ? folder.parent_path() : fs::absolute(a.out);
  if (!fs::is_directory(within)) {
    fail(ErrorCode::usage, "{} {}: there is no such folder. Name one where the replay can write.",
         Option{"out"}, a.out);
  }
  // Steps alone write nothing, so their folder is never made.
  const int code =
      a.full ? work_in_scratch(within / name, [&] { return replay(a, within / name / "run"); })
             : replay(a, within / (name + "-steps"));
  if (code != 0) throw ExitCode{code};
#else
  run_with_torch("replay");
#endif
}

}  // namespace

void add_replay(Command app) {
  Command replay =
      app.subcommand("replay", "Runs a training again from its folder and says where it differs.");
  replay.footer(kFooter);
  auto a = std::make_shared<Arguments>();
  replay.option("RUN", a->run, "run folder of headrace train").required();
  CommandOption steps = replay.option("--steps", a->steps, "steps to compare")
                            .range(std::int64_t{1}, std::int64_t{1'000'000'000'000})
                            .shows_default();
  CommandOption full =
      replay.flag("--full", a->full, "all steps, and what comes after them").excludes(steps);
  replay.option("--out", a->out, "folder in which --full works; else that of RUN").needs(full);
  replay.option("--config", a->config, "train by this config instead of the run's (YAML)");
  replay.option("--store", a->store, "where the run's store lies now");
  replay.option("--threads", a->threads, "LibTorch's threads; 0: as many as the run had")
      .not_negative()
      .shows_default();
  replay.option("--weights-from-init", a->init,
                "where the weights that the run began with (--init) lie now");
  replay.flag("--json", a->json, "print one JSON object");
  replay.callback([a] { run(*a); });
}

}  // namespace headrace::cli
