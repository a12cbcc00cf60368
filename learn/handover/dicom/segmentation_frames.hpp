#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/handover/dicom/ct_prediction.hpp"
#include "learn/handover/dicom/segmentation.hpp"

namespace headrace::handover {

/// One frame of a segmentation: a slice of one segment; of a label map a slice of all.
struct SegmentationFrame {
  std::size_t segment = 0;  ///< index in the prediction's list; 0 for a label map
  std::int64_t z = 0;
};

/// The frames that hold something, by segment, then by slice; where none does the first one.
std::vector<SegmentationFrame> frames_of(const CtPrediction& prediction, SegmentationKind kind);

/// Bytes of all frames, made even as DICOM wants it.
std::uint64_t frame_bytes(const CtPrediction& prediction, SegmentationKind kind,
                          std::size_t frames);

/// Fills `bytes` (frame_bytes long) with the frames one after the other: bits, the first pixel in
/// the lowest one, without a gap between frames (PS3.5, 8.1.1); or bytes.
void fill_frames(const CtPrediction& prediction, SegmentationKind kind,
                 const std::vector<SegmentationFrame>& frames, std::span<std::uint8_t> bytes);

}  // namespace headrace::handover
