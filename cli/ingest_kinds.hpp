#pragma once
#include "cli/command_line.hpp"

namespace headrace::cli {

/// Adds `headrace ingest volumes` below `ingest`.
void add_ingest_volumes(Command ingest);
/// Adds `headrace ingest labels` below `ingest`.
void add_ingest_labels(Command ingest);
/// Adds `headrace ingest files` below `ingest`.
void add_ingest_files(Command ingest);

}  // namespace headrace::cli
