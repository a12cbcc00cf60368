#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "headrace/core/cancel.hpp"
#include "headrace/ingest/slide/cascade.hpp"
#include "headrace/ingest/slide/dicom_slides.hpp"
#include "headrace/ingest/slide/slide_plan.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"
#include "python/src/arrays.hpp"

namespace headrace::python {
namespace {

using imaging::SlideReader;
using ingest::SlidePlan;

constexpr std::int64_t kReadRows = 512;  // that one thread reads at a time

/// Pixels of a level of the file, on all of the pool's threads.
void read_box(const SlideReader& slide, int level, const Box2& box, std::uint8_t* to,
              ThreadPool& pool) {
  const std::int64_t stride = 3 * box.width;
  pool.parallel_for(static_cast<std::size_t>((box.height + kReadRows - 1) / kReadRows),
                    [&](std::size_t i) {
                      const std::int64_t y = static_cast<std::int64_t>(i) * kReadRows;
                      slide.read(level, box.y0 + y, box.x0, std::min(kReadRows, box.height - y),
                                 box.width, to + y * stride, stride);
                    });
}

/// The level of which ingest makes the mask, as ingest averages it where the file has none.
pixels::Image8 tissue_level(const SlideReader& slide, const SlidePlan& plan, ThreadPool& pool) {
  const ingest::LevelPlan& level = plan.levels[static_cast<std::size_t>(plan.tissue_level)];
  pixels::Image8 low(level.size.height, level.size.width, 3);
  if (level.reader_level) {
    read_box(slide, *level.reader_level, {0, 0, level.size.height, level.size.width},
             low.pixels.data(), pool);
    return low;
  }
  const auto run = std::find_if(plan.runs.begin(), plan.runs.end(), [&](const auto& one) {
    return one.first < plan.tissue_level && plan.tissue_level <= one.last;
  });
  const auto sizes = plan.sizes();
  const int steps = plan.tissue_level - run->first;
  device::BufferPool buffers;
  const auto keep = [&](const ingest::CascadeTile& tile) {
    if (tile.level != steps) return;
    const auto row_bytes = static_cast<std::size_t>(3 * tile.box.width);
    for (std::int64_t y = 0; y < tile.box.height; ++y)
      std::memcpy(low.row(tile.box.y0 + y) + 3 * tile.box.x0, tile.pixels + y * 3 * tile.box.width,
                  row_bytes);
  };
  ingest::AverageCascade cascade(
      {sizes.begin() + run->first, sizes.begin() + plan.tissue_level + 1}, plan.shard, 3, buffers,
      keep);
  const int source = *plan.levels[static_cast<std::size_t>(run->first)].reader_level;
  for (const ingest::TileIndex& index : cascade.base_tiles()) {
    const Box2 box = cascade.box(0, index);
    auto pixels = buffers.take(static_cast<std::size_t>(3 * box.height * box.width));
    read_box(slide, source, box, pixels.data(), pool);
    cascade.deliver(index, std::move(pixels));
  }
  return low;
}

/// (mask (y, x) uint8, pixels of level 0 along the edge of one of its pixels).
std::pair<nb::ndarray<nb::numpy, std::uint8_t>, double> slide_tissue(
    const SlideReader& slide, std::optional<double> mpp, int threads,
    const std::shared_ptr<CancelRequest>& cancel) {
  pixels::TissueMask tissue;
  double downsample = 1;
  {
    const Unlocked unlocked;
    const CancelScope scope(cancel);
    ThreadPool pool(threads);
    const SlidePlan plan = ingest::plan_slide(slide.info(), slide.encoded_tiles(), {}, mpp);
    tissue = pixels::find_tissue(tissue_level(slide, plan, pool));
    downsample = static_cast<double>(std::int64_t{1} << plan.tissue_level);
  }
  const auto& mask = tissue.mask;
  auto array = make_array<std::uint8_t>(
      {static_cast<std::size_t>(mask.height), static_cast<std::size_t>(mask.width)},
      [&](std::uint8_t* to) { std::copy(mask.pixels.begin(), mask.pixels.end(), to); });
  return {std::move(array), downsample};
}

/// (name, file, further files) of each slide: files of one DICOM slide are one; a name only where
/// several are.
using JoinedSlide = std::tuple<std::string, std::string, std::vector<std::string>>;
std::vector<JoinedSlide> joined_slides(const std::vector<std::string>& files) {
  std::vector<ingest::SlideCase> cases(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) cases[i].file = files[i];
  ingest::BadInputs bad(ingest::OnError::stop);
  ingest::join_dicom_slides(cases, bad);
  bad.check(cases.size());
  std::vector<JoinedSlide> slides;
  for (const auto& slide : cases) slides.emplace_back(slide.id, slide.file, slide.parts);
  return slides;
}

}  // namespace

void bind_tissue(nb::module_& module) {
  nb::class_<CancelRequest>(module, "CancelRequest")
      .def(nb::init<>())
      .def("ask", &CancelRequest::ask);
  module.def("slide_tissue", &slide_tissue, nb::arg("slide"), nb::arg("mpp").none(),
             nb::arg("threads"), nb::arg("cancel"));
  module.def("joined_slides", &joined_slides, nb::arg("files"), nb::call_guard<Unlocked>());
}

}  // namespace headrace::python
