#pragma once
#include <cstdint>
#include <string>

#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "learn/process/image_sink.hpp"
#include "learn/process/image_source.hpp"
#include "learn/process/operation.hpp"
#include "learn/process/stage_clock.hpp"

namespace headrace::process {

/// A whole image in memory, (y, x, c).
class WholeImage : public ImageSource {
 public:
  /// Reads it. Errors: memory (more than the machine has free), and those of the source.
  WholeImage(const ImageSource& source, ThreadPool& pool);

  const ImageInfo& info() const override { return info_; }
  void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const override;
  std::string fingerprint() const override { return fingerprint_; }
  const std::uint8_t* pixels() const { return memory_.as<std::uint8_t>(); }

 private:
  ImageInfo info_;
  std::string fingerprint_;
  device::HostBuffer memory_;
};

/// Processes an image in memory into a result in memory, then stores the result.
void run_whole(const WholeImage& image, const Operation& operation, ImageSink& sink,
               std::int64_t chunk, ThreadPool& pool, StageClocks& clocks);

}  // namespace headrace::process
