#pragma once
#include <memory>
#include <string>

#include "headrace/core/json.hpp"
#include "learn/config/run_config.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::fixtures {

/// A store with three small images and the config of a training of eight steps on it.
class TrainingFixture {
 public:
  TrainingFixture();

  std::string path(const std::string& name) const { return folder_.path(name); }
  config::RunConfig config(const std::string& task = "segmentation") const;

 private:
  TemporaryFolder folder_;
};

/// The value without everything that stands under "time", at any depth.
Json without_times(const Json& value);

std::string file_text(const std::string& path);

}  // namespace headrace::fixtures
