#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/dicom/frame_decoder.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"
#include "headrace/imaging/volume/source_slices.hpp"

namespace headrace::imaging {
namespace {

enum class Coding { binary, fractional, labelmap };

struct Segmentation {
  std::string path;
  Coding coding = Coding::binary;
  long frames = 0;
  std::int64_t rows = 0, columns = 0;
  double fraction_max = 255;
  std::map<int, std::uint16_t> value_of;  ///< segment number → label value
};

Coding coding_of(DcmItem& dataset, const std::string& path) {
  const std::string type = text_of(dataset, DCM_SegmentationType);
  if (type == "BINARY") return Coding::binary;
  if (type == "FRACTIONAL") return Coding::fractional;
  if (type == "LABELMAP") return Coding::labelmap;
  fail(ErrorCode::unsupported,
       "{}: SegmentationType \"{}\", expected BINARY, FRACTIONAL or LABELMAP.", path,
       type.substr(0, 20));
}

void read_segments(DcmItem& dataset, Segmentation& seg, std::vector<std::string>& names) {
  std::map<int, std::string> labels;
  for (long i = 0; i < items_of(dataset, DCM_SegmentSequence); ++i) {
    DcmItem& segment = *item_of(dataset, DCM_SegmentSequence, i);
    const auto number = static_cast<int>(number_of(segment, DCM_SegmentNumber).value_or(-1));
    labels[number] = utf8_text_of(segment, DCM_SegmentLabel);
  }
  names.push_back("background");
  for (const auto& [number, label] : labels) {
    if (number == 0 && seg.coding == Coding::labelmap) continue;  // the background of a label map
    if (number < 1 || names.size() > 65535) {
      fail(ErrorCode::malformed, "{}: segment number {}, expected 1 or more.", seg.path, number);
    }
    seg.value_of[number] = static_cast<std::uint16_t>(names.size());
    names.push_back(label);
  }
}

/// The grid of one frame, one slice deep, from its functional groups.
VolumeGrid frame_grid(DcmItem& dataset, const Segmentation& seg, long frame) {
  DcmItem* own = item_of(dataset, DCM_PerFrameFunctionalGroupsSequence, frame);
  DcmItem* shared = item_of(dataset, DCM_SharedFunctionalGroupsSequence);
  const auto numbers = [&](const DcmTagKey& module, const DcmTagKey& tag, unsigned long count) {
    for (DcmItem* groups : {own, shared}) {
      DcmItem* item = groups != nullptr ? item_of(*groups, module) : nullptr;
      if (item == nullptr) continue;
      if (auto values = numbers_of(*item, tag, count)) return *values;
    }
    fail(ErrorCode::unsupported,
         "{}: frame {} does not say where it lies in space (tiled slides are not read).", seg.path,
         frame);
  };
  double depth = 1;  // for the words of an error alone: a frame has one slice
  for (DcmItem* groups : {shared, own}) {
    DcmItem* item = groups != nullptr ? item_of(*groups, DCM_PixelMeasuresSequence) : nullptr;
    const auto stated =
        item != nullptr ? number_of(*item, DCM_SliceThickness) : std::optional<double>();
    if (stated && *stated > 0) depth = *stated;
  }
  const auto place = numbers(DCM_PlanePositionSequence, DCM_ImagePositionPatient, 3);
  const auto cosines = numbers(DCM_PlaneOrientationSequence, DCM_ImageOrientationPatient, 6);
  const auto spacing = numbers(DCM_PixelMeasuresSequence, DCM_PixelSpacing, 2);
  const Vec3 normal =
      cross({cosines[0], cosines[1], cosines[2]}, {cosines[3], cosines[4], cosines[5]});
  std::array<double, 9> direction{};
  for (int row = 0; row < 3; ++row) {
    direction[3 * row] = cosines[row];
    direction[3 * row + 1] = cosines[3 + row];
    direction[3 * row + 2] = normal[row];
  }
  return VolumeGrid::of({1, seg.rows, seg.columns}, {spacing[1], spacing[0], depth},
                        {place[0], place[1], place[2]}, direction);
}

/// Place of a frame's voxels in the image: the first, and the steps along columns and rows, in
/// elements.
struct Placement {
  std::int64_t start = 0, step_x = 0, step_y = 0;
};

[[noreturn]] void off_grid(const Segmentation& seg, long frame, const VolumeGrid& grid,
                           const VolumeGrid& image) {
  fail(ErrorCode::malformed,
       "{}: frame {} does not lie on the voxels of its image. Frame: {}. Image: {}. The "
       "segmentation belongs to another "
       "series, or must be resampled to it.",
       seg.path, frame, grid.text(), image.text());
}

/// Whether a frame's pixels lie over those of the image, so that it is outside for its slice alone.
bool beyond_slices(const Segmentation& seg, const VolumeGrid& grid, const VolumeGrid& image) {
  const Vec3 first = image.to_index(grid.to_lps_mm(0, 0, 0));
  const Vec3 last = image.to_index(
      grid.to_lps_mm(static_cast<double>(seg.columns - 1), static_cast<double>(seg.rows - 1), 0));
  int off = 0;
  for (int i = 0; i < 3; ++i) {
    const auto end = static_cast<double>(image.shape_zyx[2 - i]) - 0.5;
    const double low = std::min(first[i], last[i]), high = std::max(first[i], last[i]);
    if (low >= -0.5 && high <= end) continue;
    if (high - low > 0.5) return false;
    ++off;
  }
  return off == 1;
}

/// Nothing where the frame lies on a slice before the image's first or after its last, in step with
/// them.
std::optional<Placement> place_frame(const Segmentation& seg, long frame, const VolumeGrid& grid,
                                     const VolumeGrid& image, const SlicePlaces& slices) {
  const SourceSlices source(image, slices.axis, slices);
  bool outside = false;
  const auto index_of = [&](std::int64_t x, std::int64_t y) {
    const Vec3 index =
        image.to_index(grid.to_lps_mm(static_cast<double>(x), static_cast<double>(y), 0));
    std::array<std::int64_t, 3> whole{};
    for (int i = 0; i < 3; ++i) {
      const auto size = static_cast<double>(image.shape_zyx[2 - i]);
      double nearest = std::round(index[i]), place = nearest;
      if (i == slices.axis && nearest >= 0 && nearest < size) {
        nearest = static_cast<double>(source.nearest(index[i]));
        place = source.place(source.nearest(index[i])).value_or(nearest);
      }
      if (!(std::abs(index[i] - place) <= kSameGridTolerance)) off_grid(seg, frame, grid, image);
      outside = outside || nearest < 0 || nearest >= size;
      whole[i] = static_cast<std::int64_t>(nearest);
    }
    return whole;
  };
  const std::array<std::int64_t, 3> element{1, image.shape_zyx[2], image.slice_voxels()};
  const auto first = index_of(0, 0);
  Placement placement;
  for (int i = 0; i < 3; ++i) placement.start += first[i] * element[i];
  const auto step_to = [&](const std::array<std::int64_t, 3>& last, std::int64_t count) {
    std::int64_t step = 0;
    for (int i = 0; i < 3; ++i) {
      const std::int64_t moved = last[i] - first[i];
      if (moved % (count - 1) != 0 || std::abs(moved) > count - 1)
        off_grid(seg, frame, grid, image);
      step += moved / (count - 1) * element[i];
    }
    return step;
  };
  if (seg.columns > 1) placement.step_x = step_to(index_of(seg.columns - 1, 0), seg.columns);
  if (seg.rows > 1) placement.step_y = step_to(index_of(0, seg.rows - 1), seg.rows);
  if (!outside) return placement;
  if (!beyond_slices(seg, grid, image)) off_grid(seg, frame, grid, image);
  return std::nullopt;
}

std::uint16_t frame_value(DcmItem& dataset, const Segmentation& seg, long frame) {
  DcmItem* own = item_of(dataset, DCM_PerFrameFunctionalGroupsSequence, frame);
  DcmItem* shared = item_of(dataset, DCM_SharedFunctionalGroupsSequence);
  for (DcmItem* groups : {own, shared}) {
    DcmItem* item =
        groups != nullptr ? item_of(*groups, DCM_SegmentIdentificationSequence) : nullptr;
    if (item == nullptr) continue;
    const auto number =
        static_cast<int>(number_of(*item, DCM_ReferencedSegmentNumber).value_or(-1));
    const auto found = seg.value_of.find(number);
    if (found != seg.value_of.end()) return found->second;
  }
  fail(ErrorCode::malformed, "{}: frame {} names no segment of the list.", seg.path, frame);
}

/// Decodes frames to numbers: bits of BINARY, values of the others.
class Frames {
 public:
  Frames(DcmItem& dataset, const Segmentation& seg) : seg_(seg) {
    if (seg.coding != Coding::binary || number_of(dataset, DCM_BitsAllocated).value_or(1) == 8) {
      decoder_ = std::make_unique<FrameDecoder>(seg.path);
      return;
    }
    DcmElement* element = nullptr;
    check(dataset.findAndGetElement(DCM_PixelData, element), seg.path, "pixel data");
    check(element->getUint8Array(bits_), seg.path, "pixel data");
    const std::uint64_t needed =
        (static_cast<std::uint64_t>(seg.frames) * seg.rows * seg.columns + 7) / 8;
    if (bits_ == nullptr || element->getLength() < needed) {
      fail(ErrorCode::corrupt,
           "{}: {} bytes of bit-packed pixel data, expected {}. The file is truncated.", seg.path,
           element->getLength(), needed);
    }
  }

  void read(long frame, std::vector<std::int32_t>& dst) {
    dst.resize(static_cast<std::size_t>(seg_.rows * seg_.columns));
    if (decoder_) return decoder_->decode(static_cast<int>(frame), dst.data());
    const std::uint64_t first =
        static_cast<std::uint64_t>(frame) * dst.size();  // frames follow each other bit by bit
    for (std::size_t i = 0; i < dst.size(); ++i)
      dst[i] = bits_[(first + i) >> 3] >> ((first + i) & 7) & 1;
  }

 private:
  const Segmentation& seg_;
  std::unique_ptr<FrameDecoder> decoder_;
  Uint8* bits_ = nullptr;
};

std::uint16_t label_of(const Segmentation& seg, std::int32_t stored, std::uint16_t segment) {
  if (seg.coding == Coding::binary) return stored != 0 ? segment : 0;
  if (seg.coding == Coding::fractional) return 2.0 * stored >= seg.fraction_max ? segment : 0;
  if (stored == 0) return 0;
  const auto found = seg.value_of.find(stored);
  if (found == seg.value_of.end()) {
    fail(ErrorCode::malformed, "{}: a voxel names segment {}, which is not in the list.", seg.path,
         stored);
  }
  return found->second;
}

/// What came of a segment.
struct PaintedSegment {
  bool painted = false, outside = false;
  std::uint64_t below = 0;  ///< voxels with less than half of the maximum
};

Unpainted unpainted(const PaintedSegment& segment, std::size_t value, const std::string& name,
                    const std::string& path) {
  Unpainted why{value, segment.outside, fmt::format("{}: segment '{}'", path, name)};
  if (segment.outside) {
    why.text += " has frames outside the image alone";
  } else if (segment.below > 0) {
    why.text += fmt::format(
        " paints nothing: its {} voxels above 0 are below half of MaximumFractionalValue, from "
        "which on a voxel counts",
        segment.below);
  } else {
    why.text += " has no voxel";
  }
  return why;
}

Segmentation read_header(DcmItem& dataset, const std::string& path,
                         std::vector<std::string>& names) {
  Segmentation seg;
  seg.path = path;
  seg.coding = coding_of(dataset, path);
  seg.rows = static_cast<std::int64_t>(number_of(dataset, DCM_Rows).value_or(0));
  seg.columns = static_cast<std::int64_t>(number_of(dataset, DCM_Columns).value_or(0));
  seg.frames = static_cast<long>(number_of(dataset, DCM_NumberOfFrames).value_or(1));
  seg.fraction_max = number_of(dataset, DCM_MaximumFractionalValue).value_or(255);
  const long listed = items_of(dataset, DCM_PerFrameFunctionalGroupsSequence);
  if (seg.rows < 1 || seg.columns < 1 || seg.frames < 1 || listed != seg.frames) {
    fail(ErrorCode::malformed,
         "{}: {} frames of {}x{} pixels and {} descriptions of frames, expected as many as frames.",
         path, seg.frames, seg.columns, seg.rows, listed);
  }
  read_segments(dataset, seg, names);
  return seg;
}

NamedLabels read_segmentation(DcmDataset& dataset, const std::string& path, const VolumeGrid& image,
                              const WantedName& wanted, const SlicePlaces& slices) {
  if (text_of(dataset, DCM_Modality) != "SEG") {
    fail(ErrorCode::unsupported, "{}: not a DICOM segmentation.", path);
  }
  NamedLabels labels;
  labels.volume = LabelVolume(image);
  const Segmentation seg = read_header(dataset, path, labels.names);
  std::vector<bool> read{false};  // of each label value
  for (std::size_t v = 1; v < labels.names.size(); ++v)
    read.push_back(!wanted || wanted(labels.names[v]));
  Frames frames(dataset, seg);
  std::vector<std::int32_t> stored;
  std::vector<PaintedSegment> segments(labels.names.size());
  std::uint64_t overlapping = 0, painted = 0, outside = 0;
  long first_outside = 0;
  for (long f = 0; f < seg.frames; ++f) {
    const auto place = place_frame(seg, f, frame_grid(dataset, seg, f), image, slices);
    const std::uint16_t segment = seg.coding == Coding::labelmap ? 0 : frame_value(dataset, seg, f);
    frames.read(f, stored);
    if (!place) {
      const bool shows = std::any_of(stored.begin(), stored.end(), [&](std::int32_t value) {
        return read[label_of(seg, value, segment)] && label_of(seg, value, segment) != 0;
      });
      if (shows) first_outside = outside++ == 0 ? f : first_outside;
      if (shows) segments[segment].outside = true;
      continue;
    }
    for (std::int64_t y = 0; y < seg.rows; ++y) {
      std::uint16_t* row = labels.volume.voxels.data() + place->start + y * place->step_y;
      for (std::int64_t x = 0; x < seg.columns; ++x) {
        const std::int32_t value = stored[y * seg.columns + x];
        const std::uint16_t label = label_of(seg, value, segment);
        if (label == 0 && value > 0) ++segments[segment].below;
        if (!read[label]) continue;
        std::uint16_t& voxel = row[x * place->step_x];
        overlapping += voxel != 0 && voxel != label;
        painted += label != 0;
        segments[label].painted = true;
        voxel = label;
      }
    }
  }
  if (outside > 0 && painted == 0)
    off_grid(seg, first_outside, frame_grid(dataset, seg, first_outside), image);
  if (outside > 0) {
    labels.volume.notes.push_back(
        make_note(NoteCode::frames_outside, {static_cast<double>(outside)}));
  }
  if (overlapping > 0) {
    labels.volume.notes.push_back(
        make_note(NoteCode::segments_overlap, {static_cast<double>(overlapping)}));
  }
  for (std::size_t v = 1; v < labels.names.size(); ++v) {
    if (read[v] && !segments[v].painted)
      labels.unpainted.push_back(unpainted(segments[v], v, labels.names[v], path));
  }
  return labels;
}

}  // namespace

NamedLabels read_dicom_segmentation(const std::string& path, const VolumeGrid& image,
                                    const WantedName& wanted, const SlicePlaces& slices) {
  const auto file = load_dicom(path, true);
  return naming(
      path, [&] { return read_segmentation(*file->getDataset(), path, image, wanted, slices); });
}

}  // namespace headrace::imaging
