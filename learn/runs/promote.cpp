#include "learn/runs/promote.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/foreign_error.hpp"
#include "headrace/core/option_name.hpp"
#include "learn/runs/evaluation_check.hpp"
#include "learn/runs/promoted_from.hpp"
#include "learn/runs/trained_cases.hpp"

namespace headrace::runs {
namespace {

Json gate_file(const measure::Gate& gates, const measure::GateResult& result) {
  Json out = result.to_json();
  out["gates"] = gates.to_json();
  return out;
}

void put_gate_file(PromotionCandidate& candidate, const Json& json) {
  const std::string text = dump_json(json);
  const auto bytes = std::as_bytes(std::span(text));
  candidate.files[kGateFile] = {bytes.begin(), bytes.end()};
}

/// What is not UTF-8 can't be written into the log.
void check_texts(const PromoteRequest& request) {
  for (const auto& [option, text] :
       {std::pair{"message", request.message},
        {"by", request.by},
        {"without_comparison", request.without_comparison.value_or("")},
        {"with_trained_cases", request.with_trained_cases.value_or("")}}) {
    try {
      static_cast<void>(Json(text).dump());
    } catch (const Json::exception&) {
      fail(ErrorCode::usage, "{}: the text is not UTF-8, so the log can't take it", Option{option});
    }
  }
}

Json log_line(const PromoteRequest& request, const PromotionCandidate& candidate,
              const FileHashes& files, const Promotion& outcome) {
  const Json& evaluation = candidate.evaluation.json;
  return {{"format", 1},
          {"time", request.time},
          {"by", request.by},
          {"name", request.name},
          {"run", origin_of(request.run)},
          {"model", outcome.model},
          {"files", files},
          {"weights_sha256", candidate.weights_sha256},
          {"config_hash", candidate.run.at("config_hash")},
          {"dataset_hash", candidate.run.at("dataset_hash")},
          {"code_version", candidate.run.at("code_version")},
          {"evaluated",
           {{"dataset_hash", evaluation.at("dataset_hash")},
            {"split", evaluation.at("split")},
            {kTrainedCases, or_null(count_seen(evaluation, candidate.run, candidate.config))}}},
          {"gates", outcome.gates.to_json().at("figures")},
          {"comparison", outcome.comparison ? outcome.comparison->to_json() : Json()},
          {"without_comparison", or_null(request.without_comparison)},
          {"with_trained_cases", or_null(request.with_trained_cases)},
          {"message", request.message}};
}

}  // namespace

Json Promotion::to_json() const {
  return {{"promoted", promoted},
          {"was_already", was_already},
          {"model", model.empty() ? Json() : Json(model)},
          {"weights_sha256", weights_sha256},
          {"gates", gates.to_json()},
          {"comparison", comparison ? comparison->to_json() : Json()}};
}

namespace {

Promotion promoted(const PromoteRequest& request) {
  Registry registry(request.registry);
  registry.link(request.name);
  check_texts(request);
  PromotionCandidate candidate =
      read_candidate(RunFolder::open(request.run), request.weights, request.evaluation);
  if (!request.with_trained_cases)
    check_unseen(candidate.evaluation, candidate.run, candidate.config);
  const measure::Gate gates = candidate.gates.with(request.gates);
  if (gates.empty()) {
    fail(ErrorCode::usage,
         "{} states no gates, and without any nothing says what is good enough. State them in the "
         "run's config, e.g. `gates: [{{figure: mean_dice, least: 0.8}}]`, or in a file: {} "
         "FILE",
         request.run, Option{"gate"});
  }
  Promotion out;
  out.weights_sha256 = candidate.weights_sha256;
  out.gates = gates.check(candidate.evaluation.json);
  if (!out.gates.passed()) return out;
  put_gate_file(candidate, gate_file(gates, out.gates));
  const FileHashes files = hashes_of(candidate.files);
  const std::string id = model_id(files);

  registry.lock();
  RegistryLog log = registry.log();
  if (const auto stray = registry.stray_links(registry.links(), log); !stray.empty()) {
    fail(ErrorCode::corrupt,
         "{}. Either the link was made by hand: remove it; or the end of the log is lost: put it "
         "back from a copy",
         stray.front());
  }
  const Json* now = log.latest(request.name);
  out.was_already = now != nullptr && now->at("model") == id;
  if (now != nullptr && !out.was_already && !request.without_comparison) {
    const std::string current = now->at("model");
    registry.check_model(*now);
    out.comparison =
        compare_with_promoted(candidate, RunFolder::open(registry.model(current)), *now, gates,
                              request.margins, request.with_trained_cases.has_value());
    if (!out.comparison->passed()) return out;
  }
  out.model = id;
  const bool fresh = registry.put_model(id, candidate.files);
  try {
    if (!out.was_already) log.append(log_line(request, candidate, files, out));
  } catch (...) {
    if (fresh) registry.drop_model(id);
    throw;
  }
  try {
    registry.tidy(log);
  } catch (const std::exception& error) {
    fail(ErrorCode::io,
         "{} is promoted as {}, and the log says so; but the links could not follow it: {}. Give "
         "the same command again when this is mended",
         id, request.name, error.what());
  }
  out.promoted = true;
  return out;
}

}  // namespace

Promotion promote(const PromoteRequest& request) {
  const std::string origin = fmt::format(
      "run.json, config.json or an evaluation of {}, or of the model promoted before", request.run);
  return taking_apart(origin, [&] { return promoted(request); });
}

}  // namespace headrace::runs
