#include "headrace/phantom/volume_renderer.hpp"

#include <algorithm>
#include <array>

#include "headrace/math/normal.hpp"
#include "headrace/phantom/slice_canvas.hpp"

namespace headrace::phantom {
namespace {

constexpr float kThinSliceMm = 1.5f;  // up to here one plane represents the slice, else three

/// Working memory of one thread; kept between slices.
struct Scratch {
  SliceCanvas canvas;
  std::vector<float> signal, noise, filtered;
};
Scratch& scratch() {
  thread_local Scratch work;
  return work;
}

/// (side, 1 - 2 side, side) along x and then y; edges repeat their last value.
void filter(std::vector<float>& plane, std::vector<float>& other, std::int64_t size, float side) {
  other.resize(plane.size());
  for (std::int64_t y = 0; y < size; ++y) {
    const float* in = plane.data() + y * size;
    float* out = other.data() + y * size;
    for (std::int64_t x = 0; x < size; ++x) {
      const float left = in[std::max<std::int64_t>(x - 1, 0)],
                  right = in[std::min(x + 1, size - 1)];
      out[x] = in[x] + side * (left - 2.0f * in[x] + right);
    }
  }
  for (std::int64_t y = 0; y < size; ++y) {
    const float* in = other.data() + y * size;
    const float *above = other.data() + std::max<std::int64_t>(y - 1, 0) * size,
                *below = other.data() + std::min(y + 1, size - 1) * size;
    float* out = plane.data() + y * size;
    for (std::int64_t x = 0; x < size; ++x)
      out[x] = in[x] + side * (above[x] - 2.0f * in[x] + below[x]);
  }
}

imaging::VolumeGrid grid_of(std::int64_t size, std::int64_t slices) {
  const double pixel = static_cast<double>(kFieldOfViewMm) / static_cast<double>(size);
  const double thickness = static_cast<double>(kBodyLengthMm) / static_cast<double>(slices);
  const double corner = (0.5 - 0.5 * static_cast<double>(size)) * pixel;
  return imaging::VolumeGrid::of({slices, size, size}, {pixel, pixel, thickness},
                                 {corner, corner, 0.5 * thickness}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
}

}  // namespace

VolumeRenderer::VolumeRenderer(const BodySpec& spec, const CtScanner& scanner, std::int64_t size,
                               std::int64_t slices)
    : anatomy_(spec),
      scanner_(scanner),
      size_(size),
      thickness_mm_(kBodyLengthMm / static_cast<float>(slices)),
      grid_(grid_of(size, slices)) {}

void VolumeRenderer::labels(std::int64_t z, std::uint8_t* dst) const {
  SliceCanvas& canvas = scratch().canvas;
  canvas.begin(anatomy_, size_, z_mm(z));
  canvas.labels(dst);
}

void VolumeRenderer::draw_noise(std::int64_t z, Phase phase, std::vector<float>& plane) const {
  plane.resize(static_cast<std::size_t>(size_ * size_));
  const auto purpose =
      static_cast<std::uint32_t>(Purpose::voxel_noise) + static_cast<std::uint32_t>(phase);
  for (std::int64_t y = 0; y < size_; ++y) {
    for (std::int64_t x = 0; x < size_; x += 4) {
      const auto normals = math::normals_of<float>(anatomy_.draws().at(purpose, z * size_ + y, x));
      for (std::int64_t k = 0; k < std::min<std::int64_t>(4, size_ - x); ++k)
        plane[static_cast<std::size_t>(y * size_ + x + k)] = normals.v[k];
    }
  }
}

void VolumeRenderer::render(std::int64_t z, Phase phase, std::int16_t* dst) const {
  Scratch& work = scratch();
  const auto count = static_cast<std::size_t>(size_ * size_);
  const int planes = thickness_mm_ <= kThinSliceMm ? 1 : 3;
  work.signal.assign(count, 0.0f);
  // The middle plane comes last: it gives the depth of the noise.
  constexpr std::array<int, 3> kOrder{-1, 1, 0};
  for (int k = 3 - planes; k < 3; ++k) {
    const float off = static_cast<float>(kOrder[static_cast<std::size_t>(k)]) * thickness_mm_ / 3;
    work.canvas.begin(anatomy_, size_, z_mm(z) + off);
    work.canvas.draw(tissue_hu(phase));
    const float* hu = work.canvas.hu();
    for (std::size_t i = 0; i < count; ++i) work.signal[i] += hu[i];
  }
  filter(work.signal, work.filtered, size_, static_cast<float>(scanner_.kernel_64ths) / 64);
  draw_noise(z, phase, work.noise);
  const float side = static_cast<float>(scanner_.grain_64ths) / 64;
  filter(work.noise, work.filtered, size_, side);
  const float lost =
      2 * side * side + (1 - 2 * side) * (1 - 2 * side);  // of the variance, each way
  const float sd = scanner_.noise_sd / lost, mean = scanner_.scale / static_cast<float>(planes);
  for (std::size_t i = 0; i < count; ++i) {
    const float depth = work.canvas.depth(static_cast<std::int64_t>(i));
    const float value =
        work.signal[i] * mean + scanner_.offset + sd * (0.5f + 0.5f * depth) * work.noise[i];
    const float limited = std::clamp(value, -1024.0f, 3071.0f) + 1024.5f;
    dst[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(limited) - 1024);
  }
}

}  // namespace headrace::phantom
