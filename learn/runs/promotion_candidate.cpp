#include "learn/runs/promotion_candidate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/json_changes.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/shell_word.hpp"
#include "headrace/core/task_name.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/runs/evaluation_check.hpp"
#include "learn/runs/weights_file.hpp"
#include "learn/runs/weights_identity.hpp"

namespace headrace::runs {
namespace {

constexpr const char* kWeightsHash = "weights_sha256";
constexpr const char* kRules = "rules";
constexpr const char* kReport = "report.html";  ///< of the final weights
constexpr const char* kPictures = "montage/";
/// Keys of `eval` that change how tiles are made or what is counted beside figures, not the figures'
/// meaning.
const std::set<std::string> kOfNoMeaning{"eval.batch", "eval.bootstrap", "eval.overlap",
                                         "eval.subset", "eval.window"};
/// Files of a run that a model has too, where the run has them.
constexpr const char* kAlso[] = {"baseline.json", "data_card.json", kStarts};

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Every evaluation in the folder: eval.json first, then eval-WEIGHTS-SPLIT-HASH.json.
std::vector<std::string> evaluations_in(const RunFolder& folder) {
  std::vector<std::string> out;
  for (const std::string& name : folder.files().list("eval")) {
    if (name.ends_with(".json") && (name == kEvaluation || name.starts_with("eval-")))
      out.push_back(name);
  }
  std::stable_partition(out.begin(), out.end(),
                        [](const std::string& name) { return name == kEvaluation; });
  return out;
}

std::string eval_command(const RunFolder& folder, const std::string& weights) {
  return fmt::format("headrace eval {} {}{}", Option{"run"}, shell_word(folder.path().string()),
                     weights == "final" ? "" : fmt::format(" {} {}", Option{"weights"}, weights));
}

[[noreturn]] void no_evaluation(const RunFolder& folder, const std::string& weights) {
  const std::string command = eval_command(folder, weights);
  const bool old = weights == "final" && folder.has(kEvaluation) &&
                   !folder.read_json(kEvaluation).contains(kWeightsHash);
  if (old) {
    fail(ErrorCode::not_found,
         "{} does not say which weights it was made with, as those of earlier versions. Evaluate "
         "again: {}",
         folder.describe(kEvaluation), command);
  }
  fail(ErrorCode::not_found, "{} has no evaluation of its {} weights as they are now. Make it: {}",
       folder.path().string(), weights, command);
}

/// An evaluation with the bytes that it was read from.
struct ReadEvaluation {
  NamedEvaluation named;
  std::vector<std::byte> bytes;
};

/// An evaluation of the folder; none of a stray file that only has the name of one.
std::optional<ReadEvaluation> read_evaluation(const RunFolder& folder, const std::string& name) {
  ReadEvaluation out{{{}, folder.describe(name)}, {}};
  try {
    out.bytes = folder.read(name);
    out.named.json = parse_json(text_of(out.bytes), out.named.origin);
  } catch (const Error& error) {
    if (name == kEvaluation) throw;
    log::warning("{} is left out: {}", out.named.origin, error.what());
    return std::nullopt;
  }
  return out;
}

bool is_of(const Json& evaluation, const std::set<std::string>& hashes, const Json& like) {
  try {
    return evaluation.is_object() && hashes.contains(evaluation.value(kWeightsHash, "")) &&
           of_same_data(evaluation, like);
  } catch (const Json::exception&) {
    return false;  // a stray file
  }
}

std::optional<ReadEvaluation> find_read_evaluation(const RunFolder& folder,
                                                   const std::set<std::string>& hashes,
                                                   const Json& like) {
  for (const std::string& name : evaluations_in(folder)) {
    auto read = read_evaluation(folder, name);
    if (read && is_of(read->named.json, hashes, like)) return read;
  }
  return std::nullopt;
}

ReadEvaluation evaluation_of(const RunFolder& folder, const PromotionCandidate& of_run,
                             const std::string& weights, const std::string& file) {
  const std::set<std::string> hashes = weights_hashes(
      of_run.files.at(kFinalWeights), folder.describe(weights_file(folder, weights)));
  if (!file.empty()) {
    const std::string text = read_file(file);
    ReadEvaluation given{{parse_json(text, file), file}, bytes_of(text)};
    const std::string of = given.named.json.value(kWeightsHash, "");
    if (hashes.contains(of)) return given;
    fail(ErrorCode::usage,
         "{} is an evaluation of other weights: SHA-256 {}, but the {} weights of {} have {}", file,
         of.empty() ? "not stated" : of.substr(0, 16), weights, folder.path().string(),
         of_run.weights_sha256.substr(0, 16));
  }
  const Json own = {{"dataset_hash", of_run.run.at("dataset_hash")},
                    {"split", of_run.config.at("data").at("val")}};
  if (auto found = find_read_evaluation(folder, hashes, own)) return *std::move(found);
  no_evaluation(folder, weights);
}

/// Refuses an evaluation that says nothing about how good the weights are on what they have not seen,
/// or that was made by other rules than those that the run states now.
void check_judged(const PromotionCandidate& candidate, const std::string& command) {
  const auto& [json, origin] = candidate.evaluation;
  const std::string split = json.value("split", "");
  if (json.value("dataset_hash", "") == candidate.run.at("dataset_hash") &&
      split == candidate.config.at("data").at("train")) {
    fail(ErrorCode::usage,
         "{} is an evaluation of split {}, which the weights were trained on. Judge by another "
         "split, or another store",
         origin, split);
  }
  if (!json.contains(kRules)) {
    fail(ErrorCode::usage,
         "{} does not say by which rules it was made, as those of earlier versions. Evaluate "
         "again: {}",
         origin, command);
  }
  const auto changes = rule_changes(json.at(kRules), rules_of(candidate.config));
  if (changes.empty()) return;
  fail(ErrorCode::usage,
       "{} was made by other rules than those of the run's config ({}). Evaluate again: {}", origin,
       fmt::join(changes, "; "), command);
}

/// The pictures that the evaluation's report shows, which lie beside the evaluation.
void put_pictures(const NamedEvaluation& evaluation, ModelFiles& to) {
  const auto beside = storage::open_store(storage::Place::parse(
      std::filesystem::absolute(evaluation.origin).lexically_normal().parent_path()));
  for (const char* list : {"montage", "examples"}) {
    for (const Json& entry : evaluation.json.value(list, Json::array())) {
      for (const auto& [key, value] : entry.items()) {
        const std::string name = value.is_string() ? value.get<std::string>() : "";
        if (name.starts_with(kPictures) && name.find("..") == std::string::npos &&
            beside->exists(name))
          to[name] = beside->get(name);
      }
    }
  }
}

/// Puts a file of the run among those of the model; what it says, of the same bytes.
Json put_json(const RunFolder& folder, const std::string& name, ModelFiles& to) {
  to[name] = folder.read(name);
  return parse_json(text_of(to.at(name)), folder.describe(name));
}

}  // namespace

Json rules_of(const Json& config) {
  const Json& data = config.at("data");
  return {{"task", with_current_task(config).at("task")},
          {"data", {{"labels", data.at("labels")}, {"outside", data.at("outside")}}},
          {"eval", config.at("eval")}};
}

std::vector<std::string> rule_changes(const Json& before, const Json& after) {
  std::vector<std::string> out;
  for (const JsonChange& change : changes_between(before, after)) {
    if (!kOfNoMeaning.contains(change.key))
      out.push_back(
          fmt::format("{} {} and {}", change.key, change.before.dump(), change.after.dump()));
  }
  return out;
}

std::optional<NamedEvaluation> find_evaluation(const RunFolder& folder,
                                               const std::set<std::string>& weights_hashes,
                                               const Json& like) {
  auto found = find_read_evaluation(folder, weights_hashes, like);
  return found ? std::optional(std::move(found->named)) : std::nullopt;
}

PromotionCandidate read_candidate(const RunFolder& folder, const std::string& weights,
                                  const std::string& evaluation) {
  const std::string file = weights_file(folder, weights);
  PromotionCandidate out;
  // Each file is read once, so that what is kept is what was checked.
  out.config = put_json(folder, "config.json", out.files);
  out.run = put_json(folder, "run.json", out.files);
  out.files["preprocessing.json"] = folder.read("preprocessing.json");
  out.files[kFinalWeights] = folder.read(file);
  out.weights_sha256 = weights_identity(out.files.at(kFinalWeights), folder.describe(file));
  ReadEvaluation read = evaluation_of(folder, out, weights, evaluation);
  out.evaluation = std::move(read.named);
  out.files[kEvaluation] = std::move(read.bytes);
  check_judged(out, eval_command(folder, weights));
  check_figures(out.evaluation);  // first, since it says which figure was changed
  check_digest(out.evaluation);
  put_pictures(out.evaluation, out.files);
  for (const char* name : kAlso) {
    if (folder.has(name)) out.files[name] = folder.read(name);
  }
  if (weights == "final" && folder.has(kReport)) out.files[kReport] = folder.read(kReport);
  out.gates = measure::Gate::parse(out.config.value("gates", Json::array()).dump(),
                                   folder.describe("config.json"));
  if (folder.has(kGateFile)) {
    out.gates = out.gates.with(measure::Gate::parse(folder.read_json(kGateFile).at("gates").dump(),
                                                    folder.describe(kGateFile)));
  }
  return out;
}

}  // namespace headrace::runs
