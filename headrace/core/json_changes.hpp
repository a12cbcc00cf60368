#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace {

/// One value that differs between two JSON objects.
struct JsonChange {
  std::string key;  ///< "train.lr"
  Json before, after;

  /// "train.lr: the run has 0.003, the config 0.0001"; `now` names the second.
  std::string text(const std::string& now) const;
};

/// Values that differ, comparing objects key by key; an absent value is null.
std::vector<JsonChange> changes_between(const Json& before, const Json& after);

}  // namespace headrace
