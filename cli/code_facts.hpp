#pragma once
#include "headrace/core/json.hpp"

namespace headrace::cli {

/// What run folders record of the program: {version, build_type, compiler, flags}.
Json code_facts();

}  // namespace headrace::cli
