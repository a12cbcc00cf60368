// The drivers of the transforms' kernels for the host in a GPU's place
// (tests/device/host_as_device.cpp): the GPU's launches, one thread after the other.
#include "headrace/transform/slide/cuda/patch_drivers.hpp"
#include "headrace/transform/volume/batch_launch.hpp"
#include "headrace/transform/volume/cuda/voxel_drivers.hpp"
#include "tests/device/host_stream.hpp"

namespace headrace::transform::cuda {
namespace {

using device::cuda::Stream;

template <typename Kernel>
void for_each_of(Stream& stream, std::int32_t items, std::int32_t elements, const Kernel& kernel) {
  stream.get()->put([=] {
    for (std::int32_t item = 0; item < items; ++item) {
      for (std::int32_t i = 0; i < elements; ++i) kernel(item, i);
    }
  });
}

}  // namespace

void images(std::int32_t patches, const BatchPatchPixel& pass, Stream& stream) {
  for_each_of(stream, patches, pass.out.height * pass.out.width, pass);
}

void blurred(std::int32_t count, const BlurredPatch* patches, const BatchTensor& out,
             Stream& stream) {
  const std::int32_t pixels = out.height * out.width;
  for_each_of(stream, count, 3 * pixels, BatchBlurRowPixel{patches});
  for_each_of(stream, count, 3 * pixels, BatchBlurColumnPixel{patches});
  for_each_of(stream, count, pixels, BatchRecolourPixel{patches, out});
}

void labels(std::int32_t patches, std::int32_t pixels, const BatchLabelPixel& pass,
            Stream& stream) {
  for_each_of(stream, patches, pixels, pass);
}

void run(const VolumeLaunch& launch, const VolumeTensor& out, Stream& stream) {
  run_launch(launch, out,
             [&stream](std::int32_t items, std::int32_t elements, const auto& kernel, const char*) {
               for_each_of(stream, items, elements, kernel);
             });
}

}  // namespace headrace::transform::cuda
