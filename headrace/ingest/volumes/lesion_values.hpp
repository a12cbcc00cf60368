#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::ingest {

/// Values of the classes whose components are lesions, ascending; without names of any: all but the
/// background. Errors: usage (a name that is none of the classes).
std::vector<std::uint16_t> lesion_values(const std::vector<std::string>& lesion_classes,
                                         const std::vector<std::string>& classes);

}  // namespace headrace::ingest
