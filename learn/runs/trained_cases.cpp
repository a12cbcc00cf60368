#include "learn/runs/trained_cases.hpp"

#include "headrace/core/sha256.hpp"

namespace headrace::runs {
namespace {

constexpr std::size_t kDigits = 16;

std::string digest_of(const std::string& id) { return sha256_hex(id).substr(0, kDigits); }

Json member(const Json& of, const char* key) {
  return of.is_object() ? of.value(key, Json()) : Json();
}

}  // namespace

Json case_digests(const std::set<std::string>& ids) {
  std::set<std::string> out;
  for (const std::string& id : ids) out.insert(digest_of(id));
  return out;
}

Json seen_cases(const Json& run) {
  const Json own = member(run, kTrainedCases);
  if (!own.is_array()) return nullptr;
  auto out = own.get<std::set<std::string>>();
  const Json before = member(member(run, "init"), kTrainedCases);
  if (before.is_array()) out.merge(before.get<std::set<std::string>>());
  return out;
}

bool begins_unknown(const Json& run) {
  const Json init = member(run, "init");
  return init.is_object() && !member(init, kTrainedCases).is_array();
}

std::optional<std::set<std::string>> seen_among(const Json& run, const std::set<std::string>& ids) {
  const Json seen = seen_cases(run);
  if (seen.is_null()) return std::nullopt;
  const auto digests = seen.get<std::set<std::string>>();
  std::set<std::string> out;
  for (const std::string& id : ids) {
    if (digests.contains(digest_of(id))) out.insert(id);
  }
  return out;
}

std::set<std::string> cases_of(const Json& evaluation) {
  std::set<std::string> out;
  for (const Json& image : evaluation.at("images")) out.insert(image.at("case").get<std::string>());
  return out;
}

std::optional<std::size_t> count_seen(const Json& evaluation, const Json& run, const Json& config) {
  if (const auto seen = seen_among(run, cases_of(evaluation))) return seen->size();
  const Json stated = member(evaluation, kTrainedCases);
  if (stated.is_number_unsigned()) return stated.get<std::size_t>();
  const bool own = evaluation.value("dataset_hash", "") == run.at("dataset_hash");
  if (!own) return std::nullopt;
  return evaluation.value("split", "") == config.at("data").at("train")
             ? cases_of(evaluation).size()
             : 0;
}

}  // namespace headrace::runs
