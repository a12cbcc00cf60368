#include "learn/process/image_sink.hpp"

#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/storage/place.hpp"
#include "learn/process/tiff_sink.hpp"
#include "learn/process/zarr_sink.hpp"

namespace headrace::process {

bool is_tiff_name(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".tif" || ending == ".tiff";
}

void ImageSink::write_file(std::int64_t, std::int64_t, std::uint64_t,
                           const std::function<void(const std::string&)>&) {
  fail(ErrorCode::internal, "this image does not take chunks as files");
}
void ImageSink::write_zeros(std::int64_t, std::int64_t) {
  fail(ErrorCode::internal, "this image does not take chunks as files");
}

std::string ImageSink::why_no_files(const SinkOptions& options) {
  if (is_tiff_name(options.path))
    return fmt::format("{} is a TIFF, whose tiles share a file", options.path);
  if (options.codec != SinkCodec::none)
    return fmt::format("{} {} is the CPU's work", Option{"codec"}, name_of(options.codec));
  return {};
}

std::unique_ptr<ImageSink> ImageSink::open(const SinkOptions& options, const SinkImage& image) {
  SinkOptions local = options;
  local.path = storage::Place::parse(options.path).path().string();
  return is_tiff_name(local.path) ? open_tiff_sink(local, image) : open_zarr_sink(local, image);
}

}  // namespace headrace::process
