#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "learn/handover/ome_zarr/plain_writer.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

struct StoreExportOptions {
  std::string out;                  ///< folder; made where it is not there
  std::vector<std::string> images;  ///< ids; empty: all
  std::string version;  ///< of the store: a dataset hash or its beginning; empty: current
  PlainCodec codec = PlainCodec::zstd;
  int jobs = 0;  ///< threads; 0: every core
};

/// Writes images of a store as OUT/<id>.ome.zarr (write_plain_image), one after the other, so that
/// an interrupted export goes on where it was. Returns their folders, in the order of the store.
/// Errors: usage (an image of that name is another one), not_found (no such image, store or
/// version), io.
std::vector<std::filesystem::path> export_store(const std::string& store,
                                                const StoreExportOptions& options);

/// Writes the image that was predicted with its labels (predicted_image) to `folder`.
void export_predicted_image(const result::ImageResult& result, const std::string& source,
                            const std::filesystem::path& folder, PlainCodec codec,
                            ThreadPool& pool);

}  // namespace headrace::handover
