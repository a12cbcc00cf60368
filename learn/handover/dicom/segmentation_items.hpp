#pragma once
// For use inside handover/dicom only: what segmentations of volumes and of slides have in common.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "learn/handover/dicom/ct_prediction.hpp"
#include "learn/handover/dicom/dataset_items.hpp"
#include "learn/handover/dicom/source_series.hpp"

namespace headrace::handover {

/// A frame's size, and bits a pixel.
struct FrameShape {
  std::int64_t rows = 0, columns = 0;
  std::uint16_t bits = 1;
};

/// Modules Image Pixel, Segmentation Image (content) and Frame of Reference. Of the prediction the
/// algorithm and the time.
void put_segmentation_image(DcmItem& dataset, const CtPrediction& prediction,
                            const SourceSeries& source, const FrameShape& frame);

/// The next item of Segment Sequence. number: from 1.
void add_segment(DcmItem& dataset, const Segment& segment, std::size_t number,
                 const Algorithm& algorithm, bool utf8);

/// A number by which frames are ordered.
struct DimensionIndex {
  DcmTagKey pointer, group;
  const char* label = "";
};
inline const DimensionIndex kSegmentIndex{DCM_ReferencedSegmentNumber,
                                          DCM_SegmentIdentificationSequence, "Segment Number"};

/// Module Multi-frame Dimension.
void put_dimension_indices(DcmItem& dataset, const std::string& uid,
                           const std::vector<DimensionIndex>& indices);

/// Derivation Image of a functional group: that an image was segmented. Returns the image's item.
DcmItem& add_source_image(DcmItem& group, const SourceSlice& image);

/// Number of Frames and Pixel Data of `bytes` bytes, which `fill` writes. Errors: unsupported (more
/// than an element holds), memory; each names the file.
void insert_frames(DcmItem& dataset, std::size_t frames, std::uint64_t bytes,
                   const std::string& path,
                   const std::function<void(std::span<std::uint8_t>)>& fill);

}  // namespace headrace::handover
