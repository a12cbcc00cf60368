#include "learn/train/init_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/runs/trained_cases.hpp"
#include "learn/runs/weights_identity.hpp"
#include "learn/train/evaluate/run_files.hpp"

namespace headrace::train {
namespace {

namespace fs = std::filesystem;

/// The weights file of a run folder, or the file itself.
fs::path weights_file(const std::string& given) {
  const fs::path path = fs::absolute(given).lexically_normal();
  if (!fs::is_directory(path)) {
    if (fs::exists(path)) return path;
    fail(ErrorCode::not_found, "{}: {} is neither a run folder nor a weights file.", Option{"init"},
         given);
  }
  const runs::RunFolder run = runs::RunFolder::open(path);
  if (!run.has(runs::kFinalWeights)) {
    fail(ErrorCode::not_found,
         "{}: {} is missing; that training has not come to its end. Finish it with headrace "
         "train {}, or give one of its files (best.safetensors, checkpoints/…).",
         Option{"init"}, run.describe(runs::kFinalWeights), Option{"resume"});
  }
  return path / runs::kFinalWeights;
}

/// The cases that these weights have seen; null where no run's folder says so.
Json seen_by(const fs::path& file) {
  const fs::path within = file.parent_path();
  const fs::path folder = within.filename() == "checkpoints" ? within.parent_path() : within;
  if (runs::RunFolder::holds_run(folder)) {
    Json seen = runs::seen_cases(runs::RunFolder::open(folder).read_json(loader::kRunFile));
    if (!seen.is_null()) return seen;
  }
  log::warning(
      "{}: nothing says which cases these weights were trained on, so evaluations of this run can "
      "count only those that it trains on itself",
      file.string());
  return nullptr;
}

/// The first few; run.json has all.
std::string names(const Json& list) {
  constexpr std::size_t kShown = 8;
  auto all = list.get<std::vector<std::string>>();
  const std::size_t count = all.size();
  all.resize(std::min(count, kShown));
  const std::string text = fmt::format("{}", fmt::join(all, ", "));
  return count > kShown ? fmt::format("{} and {} more", text, count - kShown) : text;
}

void say(const fs::path& file, const Json& done) {
  const std::size_t taken = done.at("tensors_taken").get<std::size_t>();
  log::info("begins with {} of {} tensors of {}", taken, taken + done.at("tensors_fresh").size(),
            file.string());
  const auto list = [&](const char* key, const char* text) {
    if (!done.at(key).empty()) log::info("  {}: {}", text, names(done.at(key)));
  };
  list("classes_taken", "classes with their weights, by name");
  list("classes_fresh", "classes that begin anew");
  list("tensors_fresh", "tensors that begin anew (the file has none of that name and shape)");
  list("tensors_unused", "tensors of the file that are not used");
}

}  // namespace

Json begin_with_weights(const TrainOptions& options, const std::vector<std::string>& classes,
                        inference::Network& network) {
  Json recorded;
  if (options.resume) {
    const runs::RunFolder run = runs::RunFolder::open(options.out);
    recorded = run.read_json(loader::kRunFile).value("init", Json());
    if (recorded.is_null() && !options.init.empty()) {
      fail(ErrorCode::usage,
           "{} did not begin with other weights. Leave {} out, or start a new run.", options.out,
           Option{"init"});
    }
    if (options.init.empty() && (recorded.is_null() || !run.checkpoints().empty())) return recorded;
  } else if (options.init.empty()) {
    return nullptr;
  }
  const fs::path file =
      weights_file(options.init.empty() ? recorded.at("file").get<std::string>() : options.init);
  const std::vector<std::byte> bytes =
      storage::open_store(storage::Place::parse(file.parent_path()))->get(file.filename().string());
  // Of the file, not of its tensors alone: by the class names in it rows are taken.
  const std::string hash = sha256_hex(bytes);
  if (!recorded.is_null() && recorded.at("sha256") != hash) {
    fail(ErrorCode::usage,
         "{} began with weights of SHA-256 {}, but {} has {}. Give {} the ones of the start, "
         "or start a new run.",
         options.out, recorded.at("sha256").get<std::string>(), file.string(), hash,
         Option{"init"});
  }
  Json done = network.start_from(bytes, classes, file.string());
  say(file, done);
  if (!recorded.is_null()) return recorded;
  done["file"] = file.string();
  done["sha256"] = hash;
  done["weights_sha256"] = runs::weights_identity(bytes, file.string());
  done[runs::kTrainedCases] = seen_by(file);
  return done;
}

}  // namespace headrace::train
