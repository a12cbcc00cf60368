#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/inputs/doubt.hpp"

namespace headrace::ingest {

/// A case that a table or a store states.
struct StatedCase {
  std::string name, split, where;
};

/// Refuses cases of different splits whose names are the same but for how they are written
/// (loosely_written of core): they most likely are one patient. Those of one split are said.
/// Errors: usage.
void refuse_similar_cases(const std::vector<StatedCase>& cases, const Accepted& accept);

/// Of the images whose case a table states.
template <typename Case>
void refuse_similar_cases_of(const std::vector<Case>& images, const Accepted& accept) {
  std::vector<StatedCase> stated;
  for (const Case& one : images) {
    if (!one.stated_case.empty()) stated.push_back({one.stated_case, one.split, one.where});
  }
  refuse_similar_cases(stated, accept);
}

}  // namespace headrace::ingest
