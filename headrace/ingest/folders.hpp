#pragma once
#include <string>

namespace headrace::ingest {

/// Removes folders below `root` that hold nothing.
void remove_empty_folders(const std::string& root);

}  // namespace headrace::ingest
