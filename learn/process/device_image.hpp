#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/core/limited_pool.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/zarr/device_decoder.hpp"
#include "learn/process/accelerator.hpp"
#include "learn/process/image_sink.hpp"
#include "learn/process/image_source.hpp"
#include "learn/process/operation.hpp"
#include "learn/process/stage_clock.hpp"

namespace headrace::process {

/// Memory of the accelerator. Errors: memory, with the missing amount for `what`.
device::Memory device_memory_for(Accelerator& accelerator, std::size_t bytes, const char* what);

/// A whole image in one array of an accelerator's memory, (y, x, c). Its blocks are decoded by the
/// pool's threads and copied while others are decoded.
/// Where the source's files hold plain pixels and the accelerator reads files
/// (Accelerator::direct), they go straight to its memory; so do JPEGs where it is to decode them.
class DeviceImage : public ImageSource {
 public:
  /// Reads it. decode: with gpu the accelerator decodes JPEG tiles, which differ from the CPU's by
  /// a few levels. Errors: memory (more than the accelerator has free), unsupported (the required
  /// way, and why it is not possible), and those of the source.
  DeviceImage(const ImageSource& source, ThreadPool& pool, Accelerator& accelerator,
              zarr::DecodeOn decode = zarr::DecodeOn::automatic);

  const ImageInfo& info() const override { return info_; }
  void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const override;
  std::string fingerprint() const override { return fingerprint_; }
  SourceView view() const;
  Accelerator& accelerator() const { return accelerator_; }
  /// How it was read: "cuFile", "POSIX" and why, "nvJPEG", or empty: by the source.
  const std::string& loaded_by() const { return loaded_by_; }
  /// More of the accelerator's memory. Errors: memory, naming `what` needs it.
  device::Memory memory_for(std::size_t bytes, const char* what) const;

 private:
  ImageInfo info_;
  std::string fingerprint_, loaded_by_;
  Accelerator& accelerator_;
  device::Memory pixels_;
  mutable LimitedPool<Workspace> readers_;
};

/// Processes an image in the accelerator's memory into a result there, then copies the result chunk
/// by chunk to its store. Returns how files were written; empty where the sink wrote them itself.
/// Errors: memory (more than the accelerator has free).
std::string run_on_device(const DeviceImage& image, const Operation& operation, ImageSink& sink,
                          std::int64_t chunk, ThreadPool& pool, StageClocks& clocks);

}  // namespace headrace::process
