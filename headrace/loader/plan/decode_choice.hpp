#pragma once
#include <string>

#include "headrace/loader/config/loader_config.hpp"
#include "headrace/zarr/device_decoder.hpp"

namespace headrace::loader {

/// Errors: usage, where loader.decode or loader.gpudirect asks for a GPU and batches are not made
/// on one. For callers that need to know before a Loader exists.
void check_decoding_keys(const LoaderConfig& config, bool on_gpu);

namespace detail {

struct LoaderPlan;

/// Where the chunks of a run's batches are decoded; decided before the first batch.
struct DecodeChoice {
  /// cpu: by the workers. automatic: on the GPU, except for batches that prove unsuitable; gpu: on
  /// the GPU only.
  zarr::DecodeOn on = zarr::DecodeOn::cpu;
  /// Why a GPU that was allowed to decode does not; empty where it does, or was not allowed to.
  std::string left_to_cpu;
  /// Whether encoded chunks go straight from files to the GPU, where the GPU decodes.
  storage::GpuDirect direct = storage::GpuDirect::off;
  /// "cuFile" or "the host"; where cuFile was allowed but is not used, with the reason.
  std::string read_by = "the host";
};

/// Decides by one image of each codec in the plan's batches, by loader.decode, and by the
/// available decoders. Errors: usage (loader.decode or loader.gpudirect asks for a GPU, and batches
/// are made on the CPU); unsupported (loader.decode is gpu or loader.gpudirect is on, and it is not
/// possible).
DecodeChoice choose_decoding(const LoaderPlan& loader_plan);

}  // namespace detail
}  // namespace headrace::loader
