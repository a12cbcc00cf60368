#pragma once
#include "headrace/core/lent.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/process/accelerator.hpp"
#include "headrace/process/image_sink.hpp"
#include "headrace/process/image_source.hpp"
#include "headrace/process/operation.hpp"
#include "headrace/process/stage_clock.hpp"

namespace headrace::process {

/// A queue with host memory that its copies read or write.
struct Courier {
  SharedMemory memory;
  std::size_t bytes = 0;
  std::unique_ptr<Queue> queue;  ///< the first to go: it waits for what uses the memory
};

/// A whole image in one array of an accelerator's memory, (y, x, c). Its blocks are decoded by the
/// pool's threads and copied while others are decoded.
class DeviceImage : public ImageSource {
 public:
  /// Reads it. Errors: memory (more than the accelerator has left), and those of the source.
  DeviceImage(const ImageSource& source, ThreadPool& pool, Accelerator& accelerator);

  const ImageFacts& facts() const override { return facts_; }
  void read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const override;
  std::string fingerprint() const override { return fingerprint_; }
  SourceView view() const;
  Accelerator& accelerator() const { return accelerator_; }
  /// More of the accelerator's memory. Errors: memory, naming `what` it is for.
  SharedMemory memory_for(std::size_t bytes, const char* what) const;

 private:
  ImageFacts facts_;
  std::string fingerprint_;
  Accelerator& accelerator_;
  SharedMemory pixels_;
  mutable Lent<Courier> readers_;
};

/// Processes an image that is in the accelerator's memory into a result there, then copies that
/// chunk by chunk to where it is to be stored. Errors: memory (more than the accelerator has left).
void run_on_device(const DeviceImage& image, const Operation& operation, ImageSink& sink,
                   std::int64_t chunk, ThreadPool& pool, StageClocks& clocks);

}  // namespace headrace::process
