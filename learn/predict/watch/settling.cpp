#include "learn/predict/watch/settling.hpp"

#include <algorithm>
#include <utility>

namespace headrace::predict {

void Settling::look(const std::vector<Arrival>& arrivals, double now_s) {
  news_ = false;
  std::map<std::string, State> seen;
  for (const Arrival& arrival : arrivals) {
    const std::string hash = listing_hash(arrival.files);
    const auto before = known_.find(arrival.name);
    State state;
    if (before != known_.end() && before->second.hash == hash &&
        before->second.waits_for == arrival.waits_for) {
      state = std::move(before->second);
      state.whole = now_s - state.since_s >= settle_s_;
    } else {
      state.hash = hash;
      state.waits_for = arrival.waits_for;
      state.since_s = now_s;
      news_ = true;
    }
    seen.emplace(arrival.name, std::move(state));
  }
  known_ = std::move(seen);
}

bool Settling::due(const Arrival& arrival) const {
  const State& state = known_.at(arrival.name);
  return state.whole && !state.taken && state.waits_for.empty();
}

bool Settling::stuck(const Arrival& arrival) {
  State& state = known_.at(arrival.name);
  if (!state.whole || state.waits_for.empty()) return false;
  return !std::exchange(state.told, true);
}

bool Settling::pending() const {
  return std::any_of(known_.begin(), known_.end(), [](const auto& entry) {
    return !entry.second.taken && entry.second.waits_for.empty();
  });
}

}  // namespace headrace::predict
