#include "headrace/runs/promotion_candidate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::runs {
namespace {

constexpr const char* kWeightsHash = "weights_sha256";
constexpr const char* kReport = "report.html";  ///< of the final weights
/// Files of a run that a model has too, where the run has them.
constexpr const char* kAlso[] = {"baseline.json", "data_card.json", kStarts};

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
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

[[noreturn]] void no_evaluation(const RunFolder& folder, const std::string& weights) {
  std::string command = fmt::format("headrace eval {} {}", Option{"run"}, folder.path().string());
  if (weights != "final") command += fmt::format(" {} {}", Option{"weights"}, weights);
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

NamedEvaluation evaluation_of(const RunFolder& folder, const std::string& weights,
                              const std::string& hash, const std::string& file) {
  if (!file.empty()) {
    NamedEvaluation given{parse_json(read_file(file), file), file};
    const std::string of = given.json.value(kWeightsHash, "");
    if (of == hash) return given;
    fail(ErrorCode::usage,
         "{} is an evaluation of other weights: SHA-256 {}, but the {} weights of {} have {}", file,
         of.empty() ? "not stated" : of.substr(0, 16), weights, folder.path().string(),
         hash.substr(0, 16));
  }
  const Json config = folder.read_json("config.json"), run = folder.read_json("run.json");
  const Json own = {{"dataset_hash", run.at("dataset_hash")},
                    {"split", config.at("data").at("val")}};
  if (auto found = find_evaluation(folder, hash, own)) return *found;
  no_evaluation(folder, weights);
}

}  // namespace

std::optional<NamedEvaluation> find_evaluation(const RunFolder& folder,
                                               const std::string& weights_sha256,
                                               const Json& like) {
  for (const std::string& name : evaluations_in(folder)) {
    Json json = folder.read_json(name);
    if (json.value(kWeightsHash, "") == weights_sha256 && of_same_data(json, like))
      return NamedEvaluation{std::move(json), folder.describe(name)};
  }
  return std::nullopt;
}

PromotionCandidate read_candidate(const RunFolder& folder, const std::string& weights,
                                  const std::string& evaluation) {
  const std::string file = weights == "best" ? kBestWeights : kFinalWeights;
  if (!folder.has(file)) {
    fail(ErrorCode::not_found,
         "{} is missing; the training has not come that far. Finish the training ({}).",
         folder.describe(file), Option{"resume"});
  }
  PromotionCandidate out;
  out.config = folder.read_json("config.json");
  out.run = folder.read_json("run.json");
  out.files[kFinalWeights] = folder.read(file);
  out.weights_sha256 = sha256_hex(out.files.at(kFinalWeights));
  out.evaluation = evaluation_of(folder, weights, out.weights_sha256, evaluation);
  out.files[kEvaluation] = bytes_of(read_file(out.evaluation.origin));
  for (const char* name : {"config.json", "preprocessing.json", "run.json"})
    out.files[name] = folder.read(name);
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
