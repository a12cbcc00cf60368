#include "learn/train/run/start_record.hpp"

#include <chrono>

namespace headrace::train {

double utc_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return static_cast<double>(milliseconds) / 1000;
}

Json start_record(std::int64_t step, const config::RunConfig& config, const Json& run,
                  int processes) {
  Json line = {{"step", step},
               {"at", utc_seconds()},
               {"config", config.to_json()},
               {"processes", processes}};
  for (const char* key :
       {"dataset_hash", "code_version", "code", "runtime", "decoder", "hardware", "libraries"})
    line[key] = run.at(key);
  return line;
}

}  // namespace headrace::train
