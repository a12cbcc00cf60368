#include "learn/train/replay/replay_result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::train {

using Kind = KnownDifference::Kind;
using What = ReplayDifference::What;

bool ReplayDifference::may_be_data() const {
  return what == What::data || what == What::batch || what == What::figures || !batch_agrees;
}

std::string ReplayDifference::text() const {
  const std::string values =
      fmt::format("the run has {}, the replay {}", recorded.dump(), replayed.dump());
  switch (what) {
    case What::data:
      return fmt::format("After step {} the data can't be read: {}", step, key);
    case What::batch:
      return fmt::format("The batch of step {} differs: {}.", step, values);
    case What::loss:
      return fmt::format("The loss{} of step {} differs: {}.", key, step, values);
    case What::gradient_norm:
      return fmt::format("The gradient's norm at step {} differs: {}.", step, values);
    case What::weights:
      return fmt::format("The weights after step {} differ: {}.", step, values);
    default:
      return fmt::format("All steps agree, but {} differs: {}.", key, values);
  }
}

Json ReplayDifference::to_json() const {
  return {{"what", name_of(what)},
          {"step", step},
          {"key", key},
          {"recorded", recorded},
          {"replayed", replayed}};
}

bool ReplayResult::decided_otherwise() const {
  return std::any_of(known.begin(), known.end(), [](const KnownDifference& one) {
    return one.kind == Kind::config || one.kind == Kind::dataset || one.kind == Kind::preprocessing;
  });
}

Json ReplayResult::to_json() const {
  Json out = {{"steps", steps},
              {"batches", batches},
              {"weights", weights},
              {"total_steps", total_steps},
              {"by_means", by_means},
              {"files", files},
              {"notes", notes},
              {"known", Json::array()},
              {"difference", difference ? difference->to_json() : Json()},
              {"likely_causes", difference ? Json(likely_causes(*this)) : Json::array()},
              {"dataset_hash", dataset_hash}};
  for (const KnownDifference& one : known) out["known"].push_back(one.to_json());
  return out;
}

}  // namespace headrace::train
