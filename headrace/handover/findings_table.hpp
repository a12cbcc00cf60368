#pragma once
#include <filesystem>
#include <string>

#include "headrace/result/image_result.hpp"

namespace headrace::handover {

/// Copies a table of a result: regions.csv of a slide, lesions.csv of a volume. The file appears
/// whole or not at all. Errors: not_found (the result has none), io.
void write_findings_table(const result::ImageResult& result, const std::string& table,
                          const std::filesystem::path& path);

}  // namespace headrace::handover
