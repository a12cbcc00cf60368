#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <variant>

#include "cli/commands.hpp"
#include "cli/glass_colour.hpp"
#include "cli/montage.hpp"
#include "cli/open_run.hpp"
#include "cli/sample_volumes.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/slide/slide_spec.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace sample --config run.yaml --count 8 --out montage.png\n"
    "  headrace sample --config run.yaml --count 4 --split val --out tiles.png\n"
    "\n"
    "For each sample and context the stored pixels and, right of them, what the model gets, "
    "its normalisation\n"
    "taken back and the labels' outlines over it; outside of a slide the stored picture has its "
    "glass's colour, the model white; of volumes the three planes through the patch's "
    "middle. The samples are the first of epoch 0, the very "
    "ones that training draws.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 4 a chunk is damaged.";

struct Arguments {
  std::string config, split, view, out, run;
  std::int64_t count = 8;
  int threads = -1;
};

/// Planes of a tensor back to 8-bit pixels; `spec` null: they are 0..1 already.
pixels::Image8 to_pixels(const float* planes, const transform::PatchSpec& patch,
                         const transform::NormalizeSpec* spec) {
  pixels::Image8 image(patch.height, patch.width, 3);
  const std::int64_t plane = std::int64_t{patch.height} * patch.width;
  for (std::int64_t i = 0; i < plane; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      double value = planes[static_cast<std::int64_t>(c) * plane + i];
      if (spec != nullptr) value = value * spec->std[c] + spec->mean[c];
      image.pixels[static_cast<std::size_t>(3 * i) + c] =
          static_cast<std::uint8_t>(std::clamp(value * 255 + 0.5, 0.0, 255.0));
    }
  }
  return image;
}

/// Paints the part of a window that lies outside its level: white beside grey glass would look like
/// an edge in the slide.
void paint_outside(device::HostBuffer& window, const Box2& box, const cohort::ImageLevel& level,
                   const Rgb& colour) {
  for (std::int64_t y = 0; y < box.height; ++y) {
    const bool row_outside = box.y0 + y < 0 || box.y0 + y >= level.height;
    for (std::int64_t x = 0; x < box.width; ++x) {
      if (!row_outside && box.x0 + x >= 0 && box.x0 + x < level.width) continue;
      std::copy(colour.begin(), colour.end(), window.as<std::uint8_t>() + (y * box.width + x) * 3);
    }
  }
}

/// The stored pixels of a site, at the same scale, without any transform; outside the slide in the
/// colour of its glass.
pixels::Image8 original(const RunInputs& inputs, const transform::Graph& plain,
                        const loader::SampleSite& site, int context, const Rgb& glass,
                        transform::Scratch& scratch) {
  const auto& config = inputs.config;
  const auto& image = inputs.cohort->images()[site.image];
  const std::size_t k = loader::choose_level(image, config.patch.mpp * context, config);
  const auto& level = image.levels[k];
  const auto params = plain.draw({}, image.colour, false);
  transform::PatchGeometry geometry;
  plain.locate(*params, context,
               {site.centre_level0_yx[0] / level.downsample_yx[0],
                site.centre_level0_yx[1] / level.downsample_yx[1]},
               loader::level_mpp_yx(image, k, config), geometry);
  const Box2& box = geometry.window;
  device::HostBuffer window(static_cast<std::size_t>(box.height * box.width * 3));
  inputs.cohort->image_array(site.image, k)
      ->read({{0, box.y0, box.x0},
              {3, box.height, box.width},
              window.data(),
              {1, 3 * box.width, 3},
              {}});
  paint_outside(window, box, level, glass);
  std::vector<float> planes(static_cast<std::size_t>(3 * config.patch.height) *
                            static_cast<std::size_t>(config.patch.width));
  plain.image(*params, geometry,
              {window.as<std::uint8_t>(), static_cast<std::int32_t>(box.height),
               static_cast<std::int32_t>(box.width), 3 * box.width},
              {0, 0, box.height, box.width}, planes.data(), scratch);
  return to_pixels(planes.data(), config.patch, nullptr);
}

std::string caption(const RunInputs& inputs, const loader::SampleSite& site) {
  const auto& image = inputs.cohort->images()[site.image];
  const auto classes = label_names(inputs.cohort->classes(), inputs.cohort->class_sets());
  const std::string drawn =
      site.drawn_class >= 0 ? "for " + classes[static_cast<std::size_t>(site.drawn_class)] : "";
  return fmt::format("#{}  {}  centre {:.0f}, {:.0f}  {}", site.index, image.id,
                     site.centre_level0_yx[0], site.centre_level0_yx[1], drawn);
}

void draw_headings(Canvas& canvas, const MontageLayout& layout,
                   const loader::LoaderConfig& config) {
  const auto& contexts = config.patch.context;
  for (std::int64_t column = 0; column < layout.columns; ++column) {
    for (std::size_t c = 0; c < contexts.size(); ++c) {
      const std::string scale = config.patch_in_level0_pixels
                                    ? fmt::format("{} px", contexts[c])
                                    : fmt::format("{:g} um/px", config.patch.mpp * contexts[c]);
      const std::int64_t x = layout.x(column, static_cast<std::int64_t>(c));
      canvas.text(kMargin, x, fmt::format("stored, {}", scale), kInk, layout.cell_w);
      canvas.text(kMargin, x + layout.cell_w + kGap, "the model sees", kInk, layout.cell_w);
    }
  }
}

const transform::NormalizeSpec* find_normalize(const loader::LoaderConfig& config) {
  for (const auto& spec : config.transforms) {
    if (const auto* found = std::get_if<transform::NormalizeSpec>(&spec)) return found;
  }
  return nullptr;
}

/// The view that is asked for, as a batch and a config of its own, with its crops as contexts.
std::optional<loader::Batch> shown_view(std::optional<loader::Batch> batch,
                                        loader::LoaderConfig& config, const std::string& name) {
  const auto& views = config.views;
  const auto found =
      std::find_if(views.begin(), views.end(), [&](const auto& view) { return view.name == name; });
  if (views.empty()) return batch;
  const auto shown = static_cast<std::size_t>(found == views.end() ? 0 : found - views.begin());
  const loader::LoaderConfig::View view = views[shown];
  config.patch = view.patch;
  config.patch.context.assign(static_cast<std::size_t>(view.crops), 1);
  config.transforms = view.transforms;
  return shown == 0 ? batch : batch->of_view(shown);
}

void run(const Arguments& a) {
  if (!a.out.ends_with(".png")) fail(ErrorCode::usage, "--out {}: must end in .png", a.out);
  RunInputs inputs = open_run(a.config, a.split, a.threads, device::DeviceChoice::cpu, a.run);
  auto& config = inputs.config;
  // One batch that holds all of them: a sample does not depend on its batch.
  config.sampling.batch = config.tiles.batch = a.count;
  const auto& views = config.views;
  if (!a.view.empty() && std::none_of(views.begin(), views.end(),
                                      [&](const auto& view) { return view.name == a.view; }))
    fail(ErrorCode::usage, "--view {}: the config has no such view", a.view);
  if (config.volumes) {
    imaging::write_png(a.out, montage_of_volumes(inputs));
    return;
  }
  loader::Loader loader(inputs.cohort, config, inputs.plan, inputs.preprocessing,
                        {inputs.with_labels(), 0, 0, 1, {}});
  const auto batch = shown_view(loader.next(), config, a.view);
  transform::PatchSpec patch = config.patch;
  if (!config.views.empty()) patch.context = {1};
  const auto plain = transform::Graph::compile({}, patch);
  const transform::NormalizeSpec* normalize = find_normalize(config);
  const auto classes = label_names(inputs.cohort->classes(), inputs.cohort->class_sets());
  const bool legend = batch->labels != nullptr && classes.size() > 1;
  const MontageLayout layout(config.patch.height, config.patch.width, batch->contexts,
                             batch->samples, legend);
  Canvas canvas(layout.page_height(), layout.page_width(), kPaper);
  if (legend) draw_legend(canvas, classes);
  draw_headings(canvas, layout, config);
  transform::Scratch scratch;
  const std::int64_t plane = batch->height * batch->width;
  std::map<std::size_t, Rgb> glass;
  for (std::int64_t s = 0; s < batch->samples; ++s) {
    const auto& site = batch->sites[static_cast<std::size_t>(s)];
    const std::int64_t y = layout.top + s % layout.rows * layout.row;
    const std::int64_t column = s / layout.rows;
    if (!glass.contains(site.image)) glass[site.image] = glass_colour(*inputs.cohort, site.image);
    for (std::int64_t c = 0; c < batch->contexts; ++c) {
      const int context = config.patch.context[static_cast<std::size_t>(c)];
      const std::int64_t x = layout.x(column, c);
      auto seen = to_pixels(batch->floats() + (s * batch->contexts + c) * 3 * plane, config.patch,
                            normalize);
      if (c == 0 && batch->labels != nullptr) outline(seen, batch->labels + s * plane, 2);
      canvas.patch(y, x, original(inputs, plain, site, context, glass[site.image], scratch),
                   layout.shrink, layout.enlarge);
      canvas.patch(y, x + layout.cell_w + kGap, seen, layout.shrink, layout.enlarge);
    }
    canvas.text(y + layout.cell_h + 1, layout.x(column, 0), caption(inputs, site), kPale,
                layout.block - kMargin);
  }
  imaging::write_png(a.out, canvas.image());
}

}  // namespace

void add_sample(Command app) {
  Command sample =
      app.subcommand("sample", "Shows what the model sees beside what is stored, as a PNG.");
  sample.footer(kFooter);
  auto a = std::make_shared<Arguments>();
  sample.option("--config", a->config, "run config (YAML)").required();
  sample.option("--count", a->count, "samples").shows_default().range(1, 64);
  sample.option("--out", a->out, "the picture, F.png").required();
  sample.option("--run", a->run,
                "a run folder whose preprocessing is taken [default: fitted on the config's "
                "training split]");
  sample.option("--split", a->split,
                "tiles of this split without random transforms [default: training samples]");
  sample.option("--view", a->view, "of a config with views [default: the first]");
  sample.option("--threads", a->threads, "loader threads; 0: every core [default: the config's]")
      .range(0, 1024);
  sample.callback([a] { run(*a); });
}

}  // namespace headrace::cli
