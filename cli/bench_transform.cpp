#include <algorithm>
#include <vector>

#include "cli/bench_meter.hpp"
#include "cli/bench_work.hpp"
#include "cli/open_run.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/loader_plan.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/volume/volume_graph.hpp"

namespace headrace::cli {
namespace {

// Number of windows kept in memory; further samples reuse them in turn.
constexpr std::uint64_t kDistinctSlides = 32, kDistinctVolumes = 8;

/// A sample of a slide whose windows are in memory.
struct PreparedSlide {
  loader::SampleSite site;
  std::vector<device::HostBuffer> windows;
  std::vector<std::int64_t> row_bytes;
};

std::array<double, 2> on_level(const loader::SampleSite& site, const cohort::ImageLevel& level) {
  return {site.centre_level0_yx[0] / level.downsample_yx[0],
          site.centre_level0_yx[1] / level.downsample_yx[1]};
}

Json bench_slides(const BenchArguments& a, const RunInputs& inputs) {
  const auto& config = inputs.config;
  if (!config.views.empty())
    fail(ErrorCode::usage, "views: bench transform takes one patch of a sample; leave them out");
  const auto graph = transform::Graph::compile(
      config.transforms, config.patch,
      [&](const std::string& id) { return inputs.preprocessing->reference_colour(id); });
  std::vector<PreparedSlide> prepared(std::min(a.count, kDistinctSlides));
  const auto locate = [&](const PreparedSlide& p, std::uint64_t i, std::size_t c,
                          transform::PatchGeometry& geometry) {
    const auto& image = inputs.cohort->images()[p.site.image];
    const auto params =
        graph.draw({config.sampling.seed, 0, i}, inputs.preprocessing->colour_of(image), true);
    const std::size_t k =
        loader::choose_level(image, config.patch.mpp * config.patch.context[c], config);
    graph.locate(*params, config.patch.context[c], on_level(p.site, image.levels[k]),
                 loader::level_mpp_yx(image, k, config), geometry);
    return params;
  };
  for (std::uint64_t i = 0; i < prepared.size(); ++i) {
    PreparedSlide& p = prepared[i];
    p.site = inputs.plan->site(0, i);
    for (std::size_t c = 0; c < config.patch.context.size(); ++c) {
      transform::PatchGeometry geometry;
      locate(p, i, c, geometry);
      const Box2& box = geometry.window;
      p.row_bytes.push_back(box.width * 3);
      p.windows.emplace_back(static_cast<std::size_t>(box.height * box.width * 3));
      const auto& image = inputs.cohort->images()[p.site.image];
      inputs.cohort
          ->image_array(
              p.site.image,
              loader::choose_level(image, config.patch.mpp * config.patch.context[c], config))
          ->read({{0, box.y0, box.x0},
                  {3, box.height, box.width},
                  p.windows.back().data(),
                  {1, box.width * 3, 3},
                  {}});
    }
  }
  const std::size_t plane =
      static_cast<std::size_t>(config.patch.height) * static_cast<std::size_t>(config.patch.width);
  ThreadPool pool(config.loader.threads);
  device::BufferPool outputs;
  const auto transform_all = [&] {
    pool.parallel_for(a.count, [&](std::size_t i) {
      static thread_local transform::Scratch scratch;
      static thread_local transform::PatchGeometry geometry;
      auto output = outputs.take(plane * 3 * sizeof(float));
      const std::uint64_t at = i % prepared.size();
      for (std::size_t c = 0; c < config.patch.context.size(); ++c) {
        const auto params = locate(prepared[at], at, c, geometry);
        const Box2& box = geometry.window;
        graph.image(
            *params, geometry,
            {prepared[at].windows[c].as<std::uint8_t>(), static_cast<std::int32_t>(box.height),
             static_cast<std::int32_t>(box.width), prepared[at].row_bytes[c]},
            {0, 0, box.height, box.width}, output->as<float>(), scratch);
      }
    });
  };
  transform_all();
  const Meter meter;
  transform_all();
  return meter.report(a.count, a.count * config.patch.context.size() * plane * 3 * sizeof(float),
                      pool.size());
}

/// A sample of a volume whose windows are in memory.
struct PreparedVolume {
  loader::SampleSite site;
  device::HostBuffer image, labels;
  bool labelled = false;
};

Json bench_volumes(const BenchArguments& a, const RunInputs& inputs) {
  const auto& config = inputs.config;
  const auto loader_plan = loader::detail::make_loader_plan(
      inputs.cohort, config, inputs.plan, inputs.preprocessing, inputs.with_labels());
  const transform::VolumeGraph& graph = loader_plan.volume_channels.front().graph;
  std::vector<PreparedVolume> prepared(std::min(a.count, kDistinctVolumes));
  const auto level = [&](const PreparedVolume& p) {
    return loader::choose_volume_level(inputs.cohort->images()[p.site.image], config);
  };
  const auto locate = [&](const PreparedVolume& p, std::uint64_t i,
                          transform::VolumeGeometry& geometry) {
    const auto& image = inputs.cohort->images()[p.site.image];
    const auto params = graph.draw({config.sampling.seed, 0, i}, image.volume->body, true);
    const auto& factor = image.volume->levels[level(p)].downsample_zyx;
    graph.locate(*params,
                 {p.site.centre_level0_z / factor[0], p.site.centre_level0_yx[0] / factor[1],
                  p.site.centre_level0_yx[1] / factor[2]},
                 loader::level_spacing_mm_zyx(image, level(p), config), geometry);
    return params;
  };
  for (std::uint64_t i = 0; i < prepared.size(); ++i) {
    PreparedVolume& p = prepared[i];
    p.site = inputs.plan->site(0, i);
    transform::VolumeGeometry geometry;
    locate(p, i, geometry);
    p.labelled = inputs.with_labels() &&
                 inputs.cohort->images()[p.site.image].has_labels(config.data.labels);
    const auto read = [&](const zarr::Array& array, device::HostBuffer& to, std::int64_t bytes) {
      const auto& origin = geometry.window.origin_zyx;
      const auto& size = geometry.window.size_zyx;
      to.reserve(static_cast<std::size_t>(geometry.window.voxels() * bytes));
      array.read({{origin.begin(), origin.end()},
                  {size.begin(), size.end()},
                  to.data(),
                  {size[1] * size[2] * bytes, size[2] * bytes, bytes},
                  {}});
    };
    read(*inputs.cohort->image_array(p.site.image, level(p)), p.image, 2);
    if (p.labelled)
      read(*inputs.cohort->label_array(p.site.image, config.data.labels, level(p)), p.labels, 1);
  }
  const auto voxels = static_cast<std::size_t>(loader_plan.plane());
  ThreadPool pool(config.loader.threads);
  device::BufferPool outputs;
  const auto transform_all = [&] {
    pool.parallel_for(a.count, [&](std::size_t i) {
      static thread_local transform::VolumeScratch scratch;
      static thread_local transform::VolumeGeometry geometry;
      auto output = outputs.take(voxels * (sizeof(float) + 1));
      const PreparedVolume& p = prepared[i % prepared.size()];
      const auto params = locate(p, i % prepared.size(), geometry);
      const auto& size = geometry.window.size_zyx;
      const std::array<std::int32_t, 3> shape{static_cast<std::int32_t>(size[0]),
                                              static_cast<std::int32_t>(size[1]),
                                              static_cast<std::int32_t>(size[2])};
      auto* labels = output->as<std::uint8_t>() + voxels * sizeof(float);
      graph.run(
          *params, geometry, {p.image.as<std::int16_t>(), shape, size[2], size[1] * size[2]},
          {p.labelled ? p.labels.as<std::uint8_t>() : nullptr, shape, size[2], size[1] * size[2]},
          {{0, 0, 0}, size}, 255, output->as<float>(), p.labelled ? labels : nullptr, scratch);
    });
  };
  transform_all();
  const Meter meter;
  transform_all();
  return meter.report(a.count, a.count * voxels * sizeof(float), pool.size());
}

}  // namespace

Json bench_transform(const BenchArguments& a) {
  const RunInputs inputs = open_run(a.config, "", a.threads, device::DeviceChoice::cpu);
  return inputs.config.volumes ? bench_volumes(a, inputs) : bench_slides(a, inputs);
}

}  // namespace headrace::cli
