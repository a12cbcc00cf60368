#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"
#include "learn/train/replay/recorded_run.hpp"

namespace headrace::train {

/// Keys of differences in the user's own functions in Python begin with it.
inline constexpr const char* kPythonCode = "code.python";

/// What can be known to differ between a run and its replay before a step is taken.
struct KnownDifference {
  enum class Kind {
    config,   ///< a key that decides the training
    judging,  ///< a key that decides how it is judged
    dataset,
    preprocessing,  ///< fitted anew on the training split
    code,
    libraries,  ///< also the decoder of JPEG
    runtime,    ///< LibTorch: its release, threads, device, kernels
    hardware,
    weights  ///< that it began with
  } kind;
  std::string key;
  Json recorded, now;
  std::int64_t from_step = 0;  ///< of the run; above 0: of what went on after a resume

  std::string text() const;
  Json to_json() const;
};

/// Differences by the config alone: `used` against what the run was started with.
std::vector<KnownDifference> config_differences(const RecordedRun& recorded,
                                                const config::RunConfig& used);

/// All others. `now`: what run.json would have; `fitted`: the preprocessing of the store as it is.
/// What the run does not record is left out.
std::vector<KnownDifference> made_differently(const RecordedRun& recorded, const Json& now,
                                              const loader::Preprocessing& fitted);

}  // namespace headrace::train

namespace headrace {
template <>
inline constexpr auto kNamesOf<train::KnownDifference::Kind> = names<train::KnownDifference::Kind>(
    {{train::KnownDifference::Kind::config, "config"},
     {train::KnownDifference::Kind::judging, "evaluation"},
     {train::KnownDifference::Kind::dataset, "dataset"},
     {train::KnownDifference::Kind::preprocessing, "preprocessing"},
     {train::KnownDifference::Kind::code, "code"},
     {train::KnownDifference::Kind::libraries, "libraries"},
     {train::KnownDifference::Kind::runtime, "LibTorch"},
     {train::KnownDifference::Kind::hardware, "hardware"},
     {train::KnownDifference::Kind::weights, "first weights"}});
}  // namespace headrace
