#include "headrace/loader/expected_dataset.hpp"

#include "headrace/core/error.hpp"

namespace headrace::loader {

void check_expected_dataset(const cohort::Cohort& cohort, const RunConfig& config) {
  const auto& expected = config.data.expect_hash;
  if (!expected || *expected == cohort.dataset_hash()) return;
  fail(ErrorCode::usage,
       "{}: dataset hash {}, but data.expect_hash is {}. Run on that dataset, or change the config",
       cohort.path(), cohort.dataset_hash(), *expected);
}

}  // namespace headrace::loader
