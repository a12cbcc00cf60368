#pragma once
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"

namespace headrace::cli {

/// The inputs that were left out: for --json, and as lines on standard output.
Json left_out_json(const std::vector<ingest::BadInput>& left_out);
void print_left_out(const std::vector<ingest::BadInput>& left_out);

}  // namespace headrace::cli
