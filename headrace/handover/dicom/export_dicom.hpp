#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "headrace/handover/export_result.hpp"

namespace headrace::handover {

/// Writes one of the DICOM formats of a predicted volume: `stem` with an ending for each file.
/// `source`: file or folder with the series that was predicted. Errors: those of export_result.
std::vector<std::filesystem::path> export_dicom(const result::ImageResult& result,
                                                ExportFormat format, const std::string& source,
                                                const std::string& stem);

}  // namespace headrace::handover
