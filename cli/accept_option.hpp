#pragma once
#include "cli/choice_option.hpp"
#include "headrace/ingest/inputs/doubt.hpp"

namespace headrace::cli {

/// Adds --accept: what is doubtful, and meant.
inline CLI::Option* add_accept_option(CLI::App& app, ingest::Accepted& accept) {
  return add_choices(app, "--accept", accept,
                     "what is refused as more likely an error than meant, and is meant here, "
                     "separated by commas");
}

}  // namespace headrace::cli
