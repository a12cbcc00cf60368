#include "headrace/loader/plan/expected_dataset.hpp"

#include <algorithm>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"

namespace headrace::loader {

void check_expected_dataset(const cohort::Cohort& cohort, const LoaderConfig& config) {
  const auto& expected = config.data.expect_hash;
  if (!expected || *expected == cohort.dataset_hash()) return;
  fail(ErrorCode::usage,
       "{}: dataset hash {}, but data.expect_hash is {}. Run on that dataset, or change the "
       "config.{}",
       cohort.path(), cohort.dataset_hash(), *expected,
       how_to_compare(cohort, *expected, cohort.dataset_hash()));
}

std::string how_to_compare(const cohort::Cohort& cohort, const std::string& before,
                           const std::string& after) {
  const auto log = cohort::StoreHead::load(*cohort.store()).log;
  const auto has = [&](const std::string& version) {
    return std::any_of(log.begin(), log.end(),
                       [&](const auto& commit) { return commit.version == version; });
  };
  if (before == after || !has(before) || !has(after)) return "";
  return fmt::format(" headrace diff {} {} {} says what differs.", cohort.path(), before, after);
}

}  // namespace headrace::loader
