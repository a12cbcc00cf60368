#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/loader/config/run_config.hpp"

namespace headrace::inference {

/// Label values of the classes that are lesions: eval.lesion_classes, by default every class above
/// 0; none for other tasks than colorectal. Errors: usage (a name that is not a class above 0).
std::vector<std::uint8_t> lesion_class_values(const std::vector<std::string>& classes,
                                              const loader::RunConfig& config);

}  // namespace headrace::inference
