#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "learn/handover/export_result.hpp"

namespace headrace::handover {

/// Writes one of the DICOM formats of a predicted volume: `stem` with an ending for each file.
/// `series`: the files of the series that was predicted (series_files). Errors: those of
/// export_result.
std::vector<std::filesystem::path> export_dicom(const result::ImageResult& result,
                                                ExportFormat format,
                                                const std::vector<std::string>& series,
                                                const std::string& stem);

/// The same of a predicted slide, as a binary Segmentation. `source`: a file or folder with the
/// DICOM slide that was predicted.
std::vector<std::filesystem::path> export_slide_dicom(const result::ImageResult& result,
                                                      const std::string& source,
                                                      const std::string& stem);

}  // namespace headrace::handover
