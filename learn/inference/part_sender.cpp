#include "learn/inference/part_sender.hpp"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "headrace/core/ignore_label.hpp"
#include "learn/inference/tensor_math.hpp"

namespace headrace::inference {

void PartSender::start_grid(const TensorParts& parts) {
  const Level0 level0 = use_.level0(parts.image);
  const std::int64_t voxels = level0.shape_zyx[1] * level0.shape_zyx[2];
  grid_.emplace(
      parts.size, level0, parts.device, kAtOnce,
      [this, voxels, image = parts.image](std::int64_t z, const at::Tensor& probabilities) {
        send({image, z, probabilities, classes_of(probabilities), {}, {}},
             static_cast<std::size_t>(voxels), 0);
        late_.deliver();
      });
}

void PartSender::add_to_grid(const TensorParts& parts) {
  const std::int64_t rows = parts.size[1], columns = parts.size[2];
  if (parts.means.defined()) {
    grid_->add(parts.means.view({parts.count, parts.classes, rows, columns}));
    return;
  }
  const std::int64_t most = std::max<std::int64_t>(1, kAtOnce / (rows * columns));
  for (std::int64_t done = 0; done < parts.count; done += most) {
    grid_->add(at::zeros({std::min(most, parts.count - done), parts.classes, rows, columns},
                         at::TensorOptions(at::kFloat).device(parts.device)));
  }
}

void PartSender::take(const TensorParts& parts) {
  if (use_.level0) {
    if (parts.first == 0) start_grid(parts);
    return add_to_grid(parts);
  }
  const auto pixels = static_cast<std::size_t>(parts.size[1] * parts.size[2]);
  if (parts.means.defined()) {
    const at::Tensor predicted =
        classes_of(parts.means).masked_fill_(parts.reached.logical_not(), kIgnoreLabel);
    send({parts.image, parts.first, parts.means, predicted, parts.truth, {}}, pixels, parts.begin);
  } else {
    LateParts::Parts unreached = late_parts(parts.image, parts.first, parts.classes, pixels);
    unreached.count = parts.count;
    late_.put(std::move(unreached));
  }
}

LateParts::Parts PartSender::late_parts(std::uint32_t image, std::int64_t first,
                                        std::int64_t classes, std::size_t pixels) const {
  LateParts::Parts parts;
  parts.image = image;
  parts.first = first;
  parts.pixels = pixels;
  if (use_.probabilities) parts.probability_rows = static_cast<std::size_t>(classes);
  parts.score_rows = use_.score_rows;
  return parts;
}

void PartSender::send(PartTensors parts, std::size_t pixels, std::size_t begin) {
  if (use_.look) use_.look(parts);
  LateParts::Parts late = late_parts(parts.image, parts.first, parts.means.size(1), pixels);
  late.count = parts.predicted.size(0);
  late.covered = true;
  late.begin = begin;
  late.predicted = parts.predicted;
  if (use_.truth) late.truth = parts.truth;
  if (use_.probabilities) late.probabilities = parts.means;
  late.scores = parts.scores;
  late_.put(std::move(late));
}

}  // namespace headrace::inference
