#include "headrace/loader/plan/run_preprocessing.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::loader {
namespace {

Json read_json(const storage::Store& run, const char* name) {
  if (!run.exists(name)) {
    fail(ErrorCode::not_found,
         "{} is missing. Give the folder of a run that headrace train has made",
         run.describe(name));
  }
  return parse_json(run.get_text(name), run.describe(name));
}

}  // namespace

std::string hash_of(const Preprocessing& preprocessing) {
  return sha256_hex(dump_json(preprocessing.to_json()));
}

Preprocessing read_run_preprocessing(const storage::Store& run) {
  const Json facts = read_json(run, kRunFile);
  if (facts.value("format", 0) != kRunFormat) {
    fail(ErrorCode::unsupported,
         "{}: format {}, this version reads {}: an earlier one trained this run and did not keep "
         "its preprocessing. Train it again",
         run.describe(kRunFile), facts.value("format", 0), kRunFormat);
  }
  const std::string origin = run.describe(kPreprocessingFile);
  const auto preprocessing = Preprocessing::parse(read_json(run, kPreprocessingFile), origin);
  if (facts.value(kPreprocessingHash, "") == hash_of(preprocessing)) return preprocessing;
  fail(ErrorCode::corrupt,
       "{}: not the preprocessing that the run was trained with (run.json: {} {}). Put the file "
       "back",
       origin, kPreprocessingHash, facts.value(kPreprocessingHash, ""));
}

}  // namespace headrace::loader
