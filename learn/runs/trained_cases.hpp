#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "headrace/core/json.hpp"

namespace headrace::runs {

/// In run.json the cases (patients) that the run trained on, and in its `init` those of the weights
/// that it began with (null: not known); in an evaluation how many of its cases are among them (null:
/// not known).
inline constexpr const char* kTrainedCases = "trained_cases";

/// How run.json has cases: of each the first 16 digits of the SHA-256 of its id, sorted. So a model that
/// is handed on does not list its patients.
Json case_digests(const std::set<std::string>& ids);

/// The cases that weights have seen, as run.json has them: the run's own and those of its `init`. Null:
/// the run is of an earlier version, which did not record them.
Json seen_cases(const Json& run);

/// Whether the run began with weights of which nothing says what they have seen.
bool begins_unknown(const Json& run);

/// Which of these cases the weights have seen; none: not known.
std::optional<std::set<std::string>> seen_among(const Json& run, const std::set<std::string>& ids);

/// The cases of an evaluation's images.
std::set<std::string> cases_of(const Json& evaluation);

/// How many cases of an evaluation its weights have seen: by run.json; where that does not record them
/// by what the evaluation says, and on the run's own dataset by the split, since a case is in one. None:
/// not known.
std::optional<std::size_t> count_seen(const Json& evaluation, const Json& run, const Json& config);

}  // namespace headrace::runs
