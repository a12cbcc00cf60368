#pragma once
#include <filesystem>

#include "headrace/core/threads.hpp"
#include "learn/handover/slide/predicted_slide.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// Writes the class map of a predicted slide as a pyramidal OME-TIFF: uint8 class values
/// (result::kNotPredicted where nothing was predicted) as indices of a palette with the colours of
/// pixels::class_colour and white for what was not predicted; tiles of 512 pixels, Deflate; coarser
/// levels in SubIFDs. The pixel size, where known, stands in the OME-XML (ome_xml) and in the
/// resolution tags, for readers that look there alone, such as OpenSlide.
///
/// The file appears whole or not at all; the same prediction gives the same bytes for any number of
/// threads. memory: one row of tiles. Errors: io.
void write_class_map_tiff(const PredictedSlide& slide, const std::filesystem::path& path,
                          ThreadPool& pool);
void write_class_map_tiff(const result::ImageResult& result, const std::filesystem::path& path,
                          ThreadPool& pool);

}  // namespace headrace::handover
