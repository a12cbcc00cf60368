#pragma once
#include <vector>

#include "headrace/ingest/inputs/bad_inputs.hpp"

namespace headrace::cli {

/// Prints the inputs that were left out, as lines on standard output.
void print_left_out(const std::vector<ingest::BadInput>& left_out);

}  // namespace headrace::cli
