#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/device/workspace.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"
#include "headrace/storage/device_reader.hpp"
#include "learn/process/stored_pixel.hpp"
#include "learn/process/tile_kernel.hpp"

namespace headrace::process {

/// A JPEG that a queue decodes from host memory, which must not change, into device memory.
struct JpegTile {
  std::size_t offset = 0, size = 0;  ///< of the JPEG in host memory
  std::size_t decoded = 0;           ///< of its interleaved RGB rows in device memory
  std::int32_t height = 0, width = 0;
};

/// Work of an accelerator, in order: copies, passes that gather statistics, tiles, and files.
class AcceleratorQueue : public pixels::StatisticsQueue {
 public:
  /// Every pointer of the kernel, and `sums` (sums_of(kernel) floats), is the accelerator's memory.
  virtual void run(const TileKernel& kernel, float* sums) = 0;
  /// Every pointer of the pass is the accelerator's memory.
  virtual void run(const StoredPass& pass) = 0;
  /// Reads ranges of a file into device memory, after all earlier work of the queue; later work
  /// finds them there. Errors: as storage::DeviceReader.
  virtual void read_file(const std::string& path, std::span<const storage::DeviceRange> ranges) = 0;
  /// Writes a file from device memory, after all earlier work of the queue; it is written when this
  /// returns. Errors: as storage::DeviceWriter.
  virtual void write_file(const std::string& path, const std::uint8_t* device,
                          std::size_t size_bytes) = 0;
  /// How the last file was read, and written: "cuFile", or "POSIX" and why.
  virtual std::string read_by() const = 0;
  virtual std::string written_by() const = 0;
  /// Returns the numbers of the tiles that it leaves to the CPU, in order, with the reason for the
  /// first; what they should be decoded to is then undefined. Errors: unsupported (no decoder, with
  /// the reason), memory, device.
  virtual std::vector<std::size_t> decode(std::span<const JpegTile> tiles, const std::uint8_t* host,
                                          std::uint8_t* device, std::string& why) = 0;
};

/// A device that computes tiles in its own memory. Safe from any thread.
class Accelerator : public device::DeviceOf<AcceleratorQueue> {
 public:
  /// Whether files are read straight into its memory, and written from it, where they hold plain
  /// pixels. on: any other file is an error.
  virtual storage::GpuDirect direct() const { return storage::GpuDirect::off; }
};

/// A queue of an accelerator and the memory that its work uses.
using Workspace = device::Workspace<AcceleratorQueue>;

/// The current CUDA device. Errors: unsupported (no GPU, no driver, or a build without CUDA; names
/// which; direct on: no cuFile, or one that does not start).
std::unique_ptr<Accelerator> open_cuda_accelerator(
    storage::GpuDirect direct = storage::GpuDirect::off);

}  // namespace headrace::process
