#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"

namespace headrace::ingest {

/// Values of the classes whose components are lesions, ascending; without any names: all but the
/// background. After them the values of the sets that hold only such classes. Errors: usage (a name
/// that is not a class).
std::vector<std::uint16_t> lesion_values(const std::vector<std::string>& lesion_classes,
                                         const std::vector<std::string>& classes,
                                         const std::vector<ClassSet>& sets = {});

}  // namespace headrace::ingest
