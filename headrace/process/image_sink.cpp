#include "headrace/process/image_sink.hpp"

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/process/tiff_sink.hpp"
#include "headrace/process/zarr_sink.hpp"

namespace headrace::process {

bool is_tiff_name(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".tif" || ending == ".tiff";
}

std::unique_ptr<ImageSink> ImageSink::open(const SinkOptions& options, const SinkImage& image) {
  return is_tiff_name(options.path) ? open_tiff_sink(options, image)
                                    : open_zarr_sink(options, image);
}

}  // namespace headrace::process
