#pragma once
#include <string>

namespace headrace::ingest {

/// Removes empty folders below `root`.
void remove_empty_folders(const std::string& root);

}  // namespace headrace::ingest
