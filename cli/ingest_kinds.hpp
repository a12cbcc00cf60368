#pragma once
#include <CLI/CLI.hpp>

namespace headrace::cli {

/// Adds `headrace ingest volumes` below `ingest`.
void add_ingest_volumes(CLI::App& ingest);

}  // namespace headrace::cli
