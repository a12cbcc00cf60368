#pragma once
#include "cli/command_line.hpp"
#include "headrace/ingest/inputs/doubt.hpp"

namespace headrace::cli {

/// Adds --accept: what is doubtful, and meant.
inline CommandOption add_accept_option(Command app, ingest::Accepted& accept) {
  return app.choices("--accept", accept,
                     "what is refused as more likely an error than meant, and is meant here, "
                     "separated by commas");
}

}  // namespace headrace::cli
