#pragma once
#include <map>
#include <string>
#include <vector>

#include "learn/predict/watch/arrivals.hpp"

namespace headrace::predict {

/// Tells which arrivals are whole: those whose files had the same sizes and times in two looks that
/// lie at least some seconds apart, and that wait for no other file. Each is due once, and again
/// only after its files have changed. Memory: a hash for each arrival of the last look. One thread.
class Settling {
 public:
  explicit Settling(double settle_s) : settle_s_(settle_s) {}

  /// Another look at the folder. now_s: of a clock that never goes back.
  void look(const std::vector<Arrival>& arrivals, double now_s);
  /// Whether it is whole, and has not been taken.
  bool due(const Arrival& arrival) const;
  /// Whether it has been unchanged for so long, but waits for another file; true once.
  bool stuck(const Arrival& arrival);
  /// It is done with, as it was in the last look.
  void take(const Arrival& arrival) { known_.at(arrival.name).taken = true; }

  /// Whether the last look showed anything new.
  bool news() const noexcept { return news_; }
  /// Whether something may become due without any news.
  bool pending() const;

 private:
  struct State {
    std::string hash, waits_for;
    double since_s = 0;
    bool whole = false, taken = false, told = false;
  };

  double settle_s_;
  bool news_ = false;
  std::map<std::string, State> known_;  ///< by name
};

}  // namespace headrace::predict
