#include "cli/sample_volumes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "cli/font_table.hpp"
#include "cli/montage.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "learn/report/plane_sides.hpp"

namespace headrace::cli {
namespace {

constexpr std::int64_t kSmallestPlane = 240;

/// Values that are shown as black and as white.
struct Shades {
  double black = 0, white = 1;
};

/// Which axes of (z, y, x) run down and to the right, and which one is cut; in the order of
/// report::kPlaneSides.
struct Plane {
  std::size_t down, right, cut;
};
constexpr std::array<Plane, 3> kPlanes{{{1, 2, 0}, {0, 2, 1}, {0, 1, 2}}};

constexpr Rgb kSideInk{255, 214, 96}, kSideShadow{0, 0, 0};
constexpr std::int64_t kSideEdge = 3;  // pixels between a letter and the picture's edge

/// Marks the sides of the patient, where there is room.
void mark_sides(Canvas& canvas, std::int64_t y, std::int64_t x, std::int64_t height,
                std::int64_t width, const report::PlaneSides& sides) {
  const std::int64_t middle_y = y + (height - kGlyphHeight) / 2,
                     middle_x = x + (width - kGlyphWidth) / 2;
  const auto put = [&](std::int64_t at_y, std::int64_t at_x, const char* letter) {
    canvas.text(at_y + 1, at_x + 1, letter, kSideShadow, kGlyphWidth);  // to be read on bone
    canvas.text(at_y, at_x, letter, kSideInk, kGlyphWidth);
  };
  if (width >= 4 * kGlyphWidth) {
    put(middle_y, x + kSideEdge, sides.left);
    put(middle_y, x + width - kGlyphWidth - kSideEdge, sides.right);
  }
  if (height >= 4 * kGlyphHeight) {
    put(y, middle_x, sides.top);
    put(y + height - kGlyphHeight, middle_x, sides.bottom);
  }
}

/// A patch in memory, (z, y, x).
struct Patch {
  const float* values = nullptr;
  const std::uint8_t* labels = nullptr;  ///< null: none
};

struct Stored {
  std::vector<float> values;
  std::vector<std::uint8_t> labels;
};

/// Pixels of the montage for each voxel along each axis, in proportion to the voxel's size in mm.
std::array<int, 3> voxel_pixels(const transform::VolumePatchSpec& patch) {
  const double finest = *std::min_element(patch.spacing_mm_zyx.begin(), patch.spacing_mm_zyx.end());
  std::array<int, 3> pixels{};
  for (std::size_t a = 0; a < 3; ++a)
    pixels[a] = std::clamp(static_cast<int>(std::lround(patch.spacing_mm_zyx[a] / finest)), 1, 16);
  return pixels;
}

/// Of several channels, the first one that the run reads is shown.
transform::ChannelPlace first_channel(const RunInputs& inputs) {
  const auto& channels = inputs.preprocessing->channels;
  if (channels.empty()) return {};
  return {channels.front().name, 0, channels.front().unit};
}

class Montage {
 public:
  explicit Montage(const RunInputs& inputs)
      : inputs_(inputs),
        patch_(inputs.config.volume_patch),
        pixels_(voxel_pixels(patch_)),
        channel_(first_channel(inputs)),
        plain_(transform::VolumeGraph::compile({}, patch_, {}, channel_)) {
    const auto [black, white] = usual_window(channel_.unit);
    stored_shades_ = seen_shades_ = {black, white};
    for (const auto& spec : inputs.config.volume_transforms) {
      if (!transform::applies(spec, channel_)) continue;
      if (const auto* window = std::get_if<transform::WindowHuSpec>(&spec))
        take_window(window->low, window->high);
      if (const auto* window = std::get_if<transform::WindowSuvSpec>(&spec))
        take_window(window->low, window->high);
      const auto* normalize = std::get_if<transform::VolumeNormalizeSpec>(&spec);
      if (normalize != nullptr && normalize->method != transform::NormalizeMethod::none)
        spread_ = true;
    }
  }

  pixels::Image8 draw();

 private:
  void take_window(double low, double high) {
    stored_shades_ = {low, high};
    seen_shades_ = {0, 1};
  }
  std::int64_t edge(std::size_t axis) const {
    return std::int64_t{patch_.size_zyx[axis]} * pixels_[axis];
  }
  std::int64_t voxels() const {
    return std::int64_t{patch_.size_zyx[0]} * patch_.size_zyx[1] * patch_.size_zyx[2];
  }
  Stored stored(const loader::SampleSite& site);
  Shades shades_of_seen(const float* values) const;
  pixels::Image8 picture(const Patch& patch, const Plane& plane, const Shades& shades) const;
  /// The voxel along `axis` that pixel `p` shows, in radiological convention with the head on top.
  std::int64_t at(std::int64_t p, std::size_t axis) const {
    const std::int64_t voxel = p / pixels_[axis];
    return axis == 0 ? patch_.size_zyx[axis] - 1 - voxel : voxel;
  }
  std::string caption(const loader::SampleSite& site) const;
  void headings(Canvas& canvas, const MontageLayout& layout) const;

  const RunInputs& inputs_;
  const transform::VolumePatchSpec& patch_;
  std::array<int, 3> pixels_;
  transform::ChannelPlace channel_;
  transform::VolumeGraph plain_;
  transform::VolumeScratch scratch_;
  Shades stored_shades_, seen_shades_;
  bool spread_ = false;  ///< values are normalised: shades by their own spread
};

/// The stored voxels of a site at the patch's spacing, without any transform.
Stored Montage::stored(const loader::SampleSite& site) {
  const auto& config = inputs_.config;
  const auto& image = inputs_.cohort->images()[site.image];
  const std::size_t k = loader::choose_volume_level(image, config);
  const auto& downsample = image.volume->levels[k].downsample_zyx;
  const auto params = plain_.draw({}, image.volume->body, false);
  transform::VolumeGeometry geometry;
  plain_.locate(*params,
                {site.centre_level0_z / downsample[0], site.centre_level0_yx[0] / downsample[1],
                 site.centre_level0_yx[1] / downsample[2]},
                loader::level_spacing_mm_zyx(image, k, config), geometry);
  const auto& origin = geometry.window.origin_zyx;
  const auto& size = geometry.window.size_zyx;
  const auto window = static_cast<std::size_t>(geometry.window.voxels());
  device::HostBuffer values(window * sizeof(std::int16_t)), labels(window);
  const auto read = [&](const zarr::Array& array, device::HostBuffer& to, std::int64_t bytes) {
    array.read({{origin.begin(), origin.end()},
                {size.begin(), size.end()},
                to.data(),
                {size[1] * size[2] * bytes, size[2] * bytes, bytes},
                {}});
  };
  const std::size_t channel =
      loader::stored_channels(*inputs_.preprocessing, *inputs_.cohort).front();
  const auto& known = image.volume->channels;
  if (known.empty() || known[channel].stored)
    read(*inputs_.cohort->image_array(site.image, k, channel), values, sizeof(std::int16_t));
  else
    std::fill_n(values.as<std::int16_t>(), window, std::int16_t{0});
  const bool labelled = inputs_.with_labels() && image.has_labels(config.data.labels);
  if (labelled) read(*inputs_.cohort->label_array(site.image, config.data.labels, k), labels, 1);
  const std::array<std::int32_t, 3> shape{static_cast<std::int32_t>(size[0]),
                                          static_cast<std::int32_t>(size[1]),
                                          static_cast<std::int32_t>(size[2])};
  const std::int64_t row = size[2], slice = size[1] * size[2];
  Stored result;
  result.values.resize(static_cast<std::size_t>(voxels()));
  result.labels.resize(labelled ? result.values.size() : 0);
  plain_.run(*params, geometry, {values.as<std::int16_t>(), shape, row, slice},
             {labelled ? labels.as<std::uint8_t>() : nullptr, shape, row, slice}, {{0, 0, 0}, size},
             255, result.values.data(), labelled ? result.labels.data() : nullptr, scratch_);
  inputs_.cohort->class_match().apply(result.labels);
  return result;
}

Shades Montage::shades_of_seen(const float* values) const {
  if (!spread_) return seen_shades_;
  std::vector<float> sorted(values, values + voxels());
  std::sort(sorted.begin(), sorted.end());
  return {sorted[sorted.size() / 200], sorted[sorted.size() - 1 - sorted.size() / 200]};
}

pixels::Image8 Montage::picture(const Patch& patch, const Plane& plane,
                                const Shades& shades) const {
  const auto& size = patch_.size_zyx;
  const std::array<std::int64_t, 3> stride{std::int64_t{size[1]} * size[2], size[2], 1};
  pixels::Image8 image(edge(plane.down), edge(plane.right), 3);
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(image.height * image.width));
  const double range = std::max(shades.white - shades.black, 1e-6);
  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::int64_t down = at(y, plane.down);
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::int64_t voxel = down * stride[plane.down] +
                                 at(x, plane.right) * stride[plane.right] +
                                 size[plane.cut] / 2 * stride[plane.cut];
      const double grey = (patch.values[voxel] - shades.black) / range * 255 + 0.5;
      std::fill_n(image.row(y) + 3 * x, 3, static_cast<std::uint8_t>(std::clamp(grey, 0.0, 255.0)));
      if (patch.labels != nullptr)
        labels[static_cast<std::size_t>(y * image.width + x)] = patch.labels[voxel];
    }
  }
  outline(image, labels.data(), 1);
  return image;
}

std::string Montage::caption(const loader::SampleSite& site) const {
  const auto& image = inputs_.cohort->images()[site.image];
  const auto classes = label_names(inputs_.cohort->classes(), inputs_.cohort->class_sets());
  const std::string drawn =
      site.drawn_class >= 0 ? "for " + classes[static_cast<std::size_t>(site.drawn_class)] : "";
  return fmt::format("#{}  {}  centre z {:.0f}, y {:.0f}, x {:.0f}  {}", site.index, image.id,
                     site.centre_level0_z, site.centre_level0_yx[0], site.centre_level0_yx[1],
                     drawn);
}

void Montage::headings(Canvas& canvas, const MontageLayout& layout) const {
  for (std::int64_t column = 0; column < layout.columns; ++column) {
    for (std::size_t p = 0; p < kPlanes.size(); ++p) {
      const std::int64_t x = layout.x(column, static_cast<std::int64_t>(p));
      canvas.text(kMargin, x, fmt::format("{}, stored", report::kPlaneSides[p].name), kInk,
                  layout.cell_w);
      canvas.text(kMargin, x + layout.cell_w + kGap, "the model sees", kInk, layout.cell_w);
    }
  }
}

pixels::Image8 Montage::draw() {
  loader::Loader loader(inputs_.cohort, inputs_.config, inputs_.plan, inputs_.preprocessing,
                        {inputs_.with_labels(), 0, 0, 1, {}});
  const auto batch = loader.next();
  const auto classes = label_names(inputs_.cohort->classes(), inputs_.cohort->class_sets());
  const bool legend = inputs_.with_labels() && classes.size() > 1;
  const MontageLayout layout(std::max(edge(0), edge(1)), std::max(edge(1), edge(2)),
                             static_cast<std::int64_t>(kPlanes.size()), batch->samples, legend,
                             kSmallestPlane);
  Canvas canvas(layout.page_height(), layout.page_width(), kPaper);
  if (legend) draw_legend(canvas, classes);
  headings(canvas, layout);
  for (std::int64_t s = 0; s < batch->samples; ++s) {
    const auto& site = batch->sites[static_cast<std::size_t>(s)];
    const std::int64_t y = layout.top + s % layout.rows * layout.row;
    const std::int64_t column = s / layout.rows;
    const Stored before = stored(site);
    const Patch from{before.values.data(), before.labels.empty() ? nullptr : before.labels.data()};
    const Patch to{batch->floats() + s * batch->channels * voxels(),
                   batch->labels == nullptr ? nullptr : batch->labels + s * voxels()};
    const Shades shades = shades_of_seen(to.values);
    for (std::size_t p = 0; p < kPlanes.size(); ++p) {
      const std::int64_t x = layout.x(column, static_cast<std::int64_t>(p));
      const pixels::Image8 shown = picture(from, kPlanes[p], stored_shades_);
      canvas.patch(y, x, shown, layout.shrink, layout.enlarge);
      mark_sides(canvas, y, x, shown.height / layout.shrink * layout.enlarge,
                 shown.width / layout.shrink * layout.enlarge, report::kPlaneSides[p]);
      canvas.patch(y, x + layout.cell_w + kGap, picture(to, kPlanes[p], shades), layout.shrink,
                   layout.enlarge);
    }
    canvas.text(y + layout.cell_h + 1, layout.x(column, 0), caption(site), kPale,
                layout.block - kMargin);
  }
  return canvas.image();
}

}  // namespace

pixels::Image8 montage_of_volumes(const RunInputs& inputs) { return Montage(inputs).draw(); }

}  // namespace headrace::cli
