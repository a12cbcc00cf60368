#pragma once
#include <string>

#include "headrace/loader/run_config.hpp"
#include "headrace/zarr/device_decoder.hpp"

namespace headrace::loader {

/// Errors: usage, where loader.decode or loader.gpudirect asks for a GPU and batches are not made
/// on one. For who wants to know before a Loader does.
void check_decoding_keys(const RunConfig& config, bool on_gpu);

namespace detail {

struct Recipe;

/// Where the chunks of a run's batches are decoded, settled before the first of them.
struct DecodeChoice {
  /// cpu: by the workers. automatic: on the GPU, but for a batch that turns out not to be for it;
  /// gpu: on the GPU alone.
  zarr::DecodeOn on = zarr::DecodeOn::cpu;
  /// Why a GPU that was allowed to decode does not; empty where it does, or was not to.
  std::string left_to_cpu;
  /// Whether encoded chunks go straight from files to the GPU, where the GPU decodes.
  storage::GpuDirect direct = storage::GpuDirect::off;
  /// "cuFile", "the host", or "the host" and why it is not cuFile, which was allowed.
  std::string read_by = "the host";
};

/// Looks at one image of each codec that the recipe's batches may come from, at loader.decode, and
/// at what decoders there are. Errors: usage (loader.decode or loader.gpudirect asks for a GPU, and
/// batches are made on the CPU); unsupported (loader.decode is gpu or loader.gpudirect is on, and
/// it cannot be).
DecodeChoice choose_decoding(const Recipe& recipe);

}  // namespace detail
}  // namespace headrace::loader
