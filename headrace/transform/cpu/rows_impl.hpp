// The CPU driver, included once by each rows_<isa>.cpp, which is compiled for its instruction set.
// Everything here has internal linkage and nothing of the standard library is instantiated: a copy
// made for a newer CPU must not be the one that the linker keeps.
#include "headrace/transform/cpu/rows.hpp"

namespace headrace::transform::cpu {
namespace {

using math::v8f;
using Pack = math::Memory<v8f>;
constexpr std::int32_t kLanes = 8;

void place_columns(const Placement& p, std::int32_t width, const RowScratch& s) {
  if (p.grid == 0) return;
  for (std::int32_t c = 0; c < padded_width(width); ++c) {
    const math::SplinePlace place = column_place(p, c);
    s.place_cell[c] = place.cell;
    s.place_t[c] = place.t;
  }
}

/// Adds one cell's displacement to its columns [begin, end). Lanes behind `end` get a wrong value,
/// which the next cell's pass replaces: `base_*` are the affine parts, computed afresh.
inline __attribute__((always_inline)) void deform_cell(const Placement& p, const RowScratch& s,
                                                       std::int32_t begin, std::int32_t end,
                                                       float y_row, float x_row) {
  const math::SplineCell<float> dy = row_cell(p, s.control_y, s.place_cell[begin]);
  const math::SplineCell<float> dx = row_cell(p, s.control_x, s.place_cell[begin]);
  for (std::int32_t c = begin; c < end; c += kLanes) {
    const v8f column = Pack::iota() + math::to_float(c);
    const v8f t = Pack::load(s.place_t + c);
    Pack::store(s.y + c, along_row(p.y_column, y_row, column) + dy(t));
    Pack::store(s.x + c, along_row(p.x_column, x_row, column) + dx(t));
  }
}

void place_row(const Placement& p, std::int32_t row, std::int32_t width, const RowScratch& s) {
  const float y_row = along_row(p.y_row, p.y_offset, math::to_float(row));
  const float x_row = along_row(p.x_row, p.x_offset, math::to_float(row));
  if (p.grid == 0) {
    for (std::int32_t c = 0; c < width; c += kLanes) {
      const v8f column = Pack::iota() + math::to_float(c);
      Pack::store(s.y + c, along_row(p.y_column, y_row, column));
      Pack::store(s.x + c, along_row(p.x_column, x_row, column));
    }
    return;
  }
  const math::SplinePlace place = row_place(p, row);
  for (std::int32_t i = 0; i < p.grid + 3; i += kLanes) {
    Pack::store(s.control_y + i, row_control<v8f>(p, p.control_y, place, i));
    Pack::store(s.control_x + i, row_control<v8f>(p, p.control_x, place, i));
  }
  std::int32_t begin = 0;
  while (begin < width) {
    std::int32_t end = begin + 1;
    while (end < width && s.place_cell[end] == s.place_cell[begin]) ++end;
    deform_cell(p, s, begin, end, y_row, x_row);
    begin = end;
  }
}

void noise_row(const NoiseStream& stream, std::int32_t row, std::int32_t width,
               const RowScratch& s) {
  const std::int32_t pitch = padded_width(width);
  for (std::int32_t c = 0; c < width; c += 32) {
    for (std::int32_t b = 0; b < 3; ++b) {
      const auto four = noise_block<v8f>(stream, row, c >> 5, b, Pack::index());
      for (std::int32_t i = 0; i < 4; ++i) {
        const std::int32_t n = 4 * b + i;
        Pack::store(s.noise + (n % 3) * pitch + c + n / 3 * kLanes, four.v[i]);
      }
    }
  }
}

inline __attribute__((always_inline)) void store_part(float* p, v8f x, std::int32_t count) {
  if (count >= kLanes) {
    Pack::store(p, x);
  } else {
    float lanes[kLanes];
    Pack::store(lanes, x);
    for (std::int32_t i = 0; i < count; ++i) p[i] = lanes[i];
  }
}

inline __attribute__((always_inline)) v8f load_part(const float* p, std::int32_t count) {
  if (count >= kLanes) return Pack::load(p);
  float lanes[kLanes] = {};
  for (std::int32_t i = 0; i < count; ++i) lanes[i] = p[i];
  return Pack::load(lanes);
}

inline __attribute__((always_inline)) math::Rgb<v8f> load_noise(const RowScratch& s, bool noise,
                                                                std::int32_t c,
                                                                std::int32_t width) {
  if (!noise) return {Pack::splat(0.0f), Pack::splat(0.0f), Pack::splat(0.0f)};
  const std::int32_t pitch = padded_width(width);
  return {Pack::load(s.noise + c), Pack::load(s.noise + pitch + c),
          Pack::load(s.noise + 2 * pitch + c)};
}

template <bool kEdges>
void image_rows(const PatchKernel& k, const RowScratch& s) {
  place_columns(k.placement, k.width, s);
  const std::int64_t plane = std::int64_t{k.height} * k.width;
  for (std::int32_t row = 0; row < k.height; ++row) {
    place_row(k.placement, row, k.width, s);
    if (k.noise) noise_row(k.stream, row, k.width, s);
    float* out = k.dst + std::int64_t{row} * k.width;
    for (std::int32_t c = 0; c < k.width; c += kLanes) {
      const auto v = math::bilinear_rgb<kEdges>(k.window, Pack::load(s.y + c), Pack::load(s.x + c));
      const auto rgb = run(k.program, v, load_noise(s, k.noise, c, k.width));
      store_part(out + c, rgb.r, k.width - c);
      store_part(out + plane + c, rgb.g, k.width - c);
      store_part(out + 2 * plane + c, rgb.b, k.width - c);
    }
  }
}

void image(const PatchKernel& k, const RowScratch& s) {
  k.whole ? image_rows<false>(k, s) : image_rows<true>(k, s);
}

void recolour(const RecolourKernel& k, const RowScratch& s) {
  const std::int64_t plane = std::int64_t{k.height} * k.width;
  for (std::int32_t row = 0; row < k.height; ++row) {
    if (k.noise) noise_row(k.stream, row, k.width, s);
    float* out = k.dst + std::int64_t{row} * k.width;
    for (std::int32_t c = 0; c < k.width; c += kLanes) {
      const std::int32_t count = k.width - c;
      const math::Rgb<v8f> v{load_part(out + c, count), load_part(out + plane + c, count),
                             load_part(out + 2 * plane + c, count)};
      const auto rgb = run(k.program, v, load_noise(s, k.noise, c, k.width));
      store_part(out + c, rgb.r, count);
      store_part(out + plane + c, rgb.g, count);
      store_part(out + 2 * plane + c, rgb.b, count);
    }
  }
}

void labels(const LabelKernel& k, const RowScratch& s) {
  place_columns(k.placement, k.width, s);
  for (std::int32_t row = 0; row < k.height; ++row) {
    place_row(k.placement, row, k.width, s);
    std::uint8_t* out = k.dst + std::int64_t{row} * k.width;
    for (std::int32_t c = 0; c < k.width; c += kLanes) {
      const auto value =
          math::nearest_byte(k.window, Pack::load(s.y + c), Pack::load(s.x + c), k.outside);
      const std::int32_t count = k.width - c < kLanes ? k.width - c : kLanes;
      for (std::int32_t i = 0; i < count; ++i) out[c + i] = static_cast<std::uint8_t>(value[i]);
    }
  }
}

/// Weighted sum of `taps` packs, `step` floats apart.
inline __attribute__((always_inline)) v8f weigh(const float* first, std::int64_t step,
                                                const float* weights, std::int32_t taps) {
  v8f sum = Pack::splat(0.0f);
  for (std::int32_t i = 0; i < taps; ++i) sum = sum + Pack::load(first + i * step) * weights[i];
  return sum;
}

void blur(const BlurKernel& k, const RowScratch& s) {
  const std::int32_t taps = 2 * k.radius + 1, pitch = padded_width(k.width);
  float* line = s.y;  // width + 2 · radius floats; Scratch makes it that long
  for (int channel = 0; channel < 3; ++channel) {
    float* image = k.dst + channel * std::int64_t{k.height} * k.width;
    for (std::int32_t row = 0; row < k.height; ++row) {
      const float* in = image + std::int64_t{row} * k.width;
      for (std::int32_t i = 1; i <= k.radius; ++i) {
        line[k.radius - i] = in[mirrored(-i, k.width)];
        line[k.radius + k.width - 1 + i] = in[mirrored(k.width - 1 + i, k.width)];
      }
      __builtin_memcpy(line + k.radius, in, sizeof(float) * static_cast<std::size_t>(k.width));
      float* out = s.plane + std::int64_t{row + k.radius} * pitch;
      for (std::int32_t c = 0; c < k.width; c += kLanes) {
        Pack::store(out + c, weigh(line + c, 1, k.weights, taps));
      }
    }
    for (std::int32_t row = -k.radius; row < k.height + k.radius; ++row) {
      if (row >= 0 && row < k.height) continue;
      __builtin_memcpy(s.plane + std::int64_t{row + k.radius} * pitch,
                       s.plane + std::int64_t{mirrored(row, k.height) + k.radius} * pitch,
                       sizeof(float) * static_cast<std::size_t>(pitch));
    }
    for (std::int32_t row = 0; row < k.height; ++row) {
      const float* first = s.plane + std::int64_t{row} * pitch;
      for (std::int32_t c = 0; c < k.width; c += kLanes) {
        store_part(image + std::int64_t{row} * k.width + c,
                   weigh(first + c, pitch, k.weights, taps), k.width - c);
      }
    }
  }
}

}  // namespace
}  // namespace headrace::transform::cpu
