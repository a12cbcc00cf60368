#pragma once
#include <cstdint>
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/device/device_choice.hpp"
#include "learn/process/process.hpp"

namespace headrace::process {

/// A run from path to path: what `headrace process` and the Python package take.
struct FileRequest {
  std::string in;     ///< as ImageSource::open takes it
  std::string image;  ///< of a store
  int level = 0;
  bool load = false;  ///< reads the image and drops it, instead of an operation
  int threads = 0;    ///< 0: every core
  device::DeviceChoice device = device::DeviceChoice::automatic;  ///< automatic: the CPU
  storage::GpuDirect gpudirect = storage::GpuDirect::off;
  ProcessOptions options;  ///< sink.path: the output; empty with `load`
};

/// Runs process_image, or load_image. Errors: theirs; usage (an output that is missing, not wanted
/// or the input itself; a way of a GPU without one), those of ImageSource::open and
/// open_cuda_accelerator.
ProcessReport process_file(const FileRequest& request);

/// What it did, for other programs. Sizes in bytes unless a key says MiB, times in seconds.
Json report_of(const FileRequest& request, const ProcessReport& result);

}  // namespace headrace::process
