#pragma once
#include <filesystem>
#include <string>

#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// Where a table of a result lies: regions.csv of a slide, lesions.csv of a volume. Errors:
/// not_found (the result has none).
std::filesystem::path findings_table(const result::ImageResult& result, const std::string& table);

/// Copies a table of a result. The file appears whole or not at all. Errors: those of
/// findings_table, io.
void write_findings_table(const result::ImageResult& result, const std::string& table,
                          const std::filesystem::path& path);

}  // namespace headrace::handover
