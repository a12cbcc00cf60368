#include "learn/handover/dicom/segmentation_frames.hpp"

#include <algorithm>
#include <array>

#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"

namespace headrace::handover {
namespace {

/// The segment number of each class value; 0 for background.
using Numbers = std::array<std::uint8_t, 256>;

Numbers numbers_of(const CtPrediction& prediction) {
  Numbers numbers{};
  for (std::size_t s = 0; s < prediction.segments.size(); ++s) {
    numbers[prediction.segments[s].value] = static_cast<std::uint8_t>(s + 1);
  }
  return numbers;
}

std::span<const std::uint8_t> slice_of(std::span<const std::uint8_t> volume,
                                       const CtPrediction& prediction, std::int64_t z) {
  const auto voxels = static_cast<std::size_t>(prediction.file_grid.slice_voxels());
  return volume.subspan(static_cast<std::size_t>(z) * voxels, voxels);
}

/// For each slice: the class values in it.
std::vector<std::array<bool, 256>> values_by_slice(const CtPrediction& prediction) {
  std::vector<std::array<bool, 256>> present(
      static_cast<std::size_t>(prediction.file_grid.shape_zyx[0]));
  for (std::size_t z = 0; z < present.size(); ++z) {
    for (const std::uint8_t value :
         slice_of(prediction.classes, prediction, static_cast<std::int64_t>(z))) {
      present[z][value] = true;
    }
  }
  return present;
}

std::vector<SegmentationFrame> class_frames(const CtPrediction& prediction) {
  const auto present = values_by_slice(prediction);
  std::vector<SegmentationFrame> frames;
  for (std::size_t s = 0; s < prediction.segments.size(); ++s) {
    for (std::size_t z = 0; z < present.size(); ++z) {
      if (present[z][prediction.segments[s].value]) {
        frames.push_back({s, static_cast<std::int64_t>(z)});
      }
    }
  }
  return frames;
}

std::vector<SegmentationFrame> labelmap_frames(const CtPrediction& prediction) {
  const auto present = values_by_slice(prediction);
  std::vector<SegmentationFrame> frames;
  for (std::size_t z = 0; z < present.size(); ++z) {
    const bool any = std::any_of(prediction.segments.begin(), prediction.segments.end(),
                                 [&](const Segment& s) { return present[z][s.value]; });
    if (any) frames.push_back({0, static_cast<std::int64_t>(z)});
  }
  return frames;
}

std::vector<SegmentationFrame> probability_frames(const CtPrediction& prediction) {
  std::vector<SegmentationFrame> frames;
  for (std::size_t s = 0; s < prediction.segments.size(); ++s) {
    const Segment& segment = prediction.segments[s];
    if (segment.probability.size() != prediction.classes.size()) {
      fail(ErrorCode::usage, "class '{}' has {} probabilities, expected {}, one a voxel.",
           segment.name, segment.probability.size(), prediction.classes.size());
    }
    for (std::int64_t z = 0; z < prediction.file_grid.shape_zyx[0]; ++z) {
      const auto slice = slice_of(segment.probability, prediction, z);
      if (std::any_of(slice.begin(), slice.end(), [](std::uint8_t p) { return p != 0; })) {
        frames.push_back({s, z});
      }
    }
  }
  return frames;
}

}  // namespace

std::vector<SegmentationFrame> frames_of(const CtPrediction& prediction, SegmentationKind kind) {
  std::vector<SegmentationFrame> frames;
  switch (kind) {
    case SegmentationKind::binary:
      frames = class_frames(prediction);
      break;
    case SegmentationKind::fractional:
      frames = probability_frames(prediction);
      break;
    case SegmentationKind::labelmap:
      frames = labelmap_frames(prediction);
      break;
  }
  if (frames.empty()) frames.emplace_back();
  return frames;
}

std::uint64_t frame_bytes(const CtPrediction& prediction, SegmentationKind kind,
                          std::size_t frames) {
  const auto pixels = static_cast<std::int64_t>(frames) * prediction.file_grid.slice_voxels();
  const std::int64_t bytes = kind == SegmentationKind::binary ? round_up(pixels, 8) / 8 : pixels;
  return static_cast<std::uint64_t>(round_up(bytes, 2));
}

void fill_frames(const CtPrediction& prediction, SegmentationKind kind,
                 const std::vector<SegmentationFrame>& frames, std::span<std::uint8_t> bytes) {
  const Numbers numbers = numbers_of(prediction);
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  std::size_t at = 0;  // pixels so far
  for (const SegmentationFrame& frame : frames) {
    const Segment& segment = prediction.segments[frame.segment];
    const auto slice =
        slice_of(kind == SegmentationKind::fractional ? segment.probability : prediction.classes,
                 prediction, frame.z);
    for (const std::uint8_t value : slice) {
      if (kind == SegmentationKind::binary) {
        const unsigned bit = value == segment.value;
        bytes[at >> 3] = static_cast<std::uint8_t>(bytes[at >> 3] | bit << (at & 7));
      } else {
        bytes[at] = kind == SegmentationKind::labelmap ? numbers[value] : value;
      }
      ++at;
    }
  }
}

}  // namespace headrace::handover
