#include <cmath>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/dicom/frame_decoder.hpp"

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
    labels[number] = text_of(segment, DCM_SegmentLabel);
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
  const auto place = numbers(DCM_PlanePositionSequence, DCM_ImagePositionPatient, 3);
  const auto cosines = numbers(DCM_PlaneOrientationSequence, DCM_ImageOrientationPatient, 6);
  const auto spacing = numbers(DCM_PixelMeasuresSequence, DCM_PixelSpacing, 2);
  std::array<double, 9> direction{};
  for (int row = 0; row < 3; ++row) {
    direction[3 * row] = cosines[row];
    direction[3 * row + 1] = cosines[3 + row];
  }
  return VolumeGrid::of({1, seg.rows, seg.columns}, {spacing[1], spacing[0], 1},
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

Placement place_frame(const Segmentation& seg, long frame, const VolumeGrid& grid,
                      const VolumeGrid& image) {
  const auto index_of = [&](std::int64_t x, std::int64_t y) {
    const Vec3 index =
        image.to_index(grid.to_lps_mm(static_cast<double>(x), static_cast<double>(y), 0));
    std::array<std::int64_t, 3> whole{};
    for (int i = 0; i < 3; ++i) {
      const double nearest = std::round(index[i]);
      const auto size = static_cast<double>(image.shape_zyx[2 - i]);
      if (!(std::abs(index[i] - nearest) <= kSameGridTolerance) || nearest < 0 || nearest >= size) {
        off_grid(seg, frame, grid, image);
      }
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
  return placement;
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

}  // namespace

DicomLabels read_dicom_segmentation(const std::string& path, const VolumeGrid& image,
                                    const WantedName& wanted) {
  const auto file = load_dicom(path, true);
  DcmDataset& dataset = *file->getDataset();
  if (text_of(dataset, DCM_Modality) != "SEG") {
    fail(ErrorCode::unsupported, "{}: not a DICOM segmentation.", path);
  }
  DicomLabels labels;
  labels.volume = LabelVolume(image);
  const Segmentation seg = read_header(dataset, path, labels.names);
  std::vector<bool> read{false};  // of each label value
  for (std::size_t v = 1; v < labels.names.size(); ++v)
    read.push_back(!wanted || wanted(labels.names[v]));
  Frames frames(dataset, seg);
  std::vector<std::int32_t> stored;
  std::uint64_t overlapping = 0;
  for (long f = 0; f < seg.frames; ++f) {
    const Placement place = place_frame(seg, f, frame_grid(dataset, seg, f), image);
    const std::uint16_t segment = seg.coding == Coding::labelmap ? 0 : frame_value(dataset, seg, f);
    frames.read(f, stored);
    for (std::int64_t y = 0; y < seg.rows; ++y) {
      std::uint16_t* row = labels.volume.voxels.data() + place.start + y * place.step_y;
      for (std::int64_t x = 0; x < seg.columns; ++x) {
        const std::uint16_t label = label_of(seg, stored[y * seg.columns + x], segment);
        if (!read[label]) continue;
        std::uint16_t& voxel = row[x * place.step_x];
        overlapping += voxel != 0 && voxel != label;
        voxel = label;
      }
    }
  }
  if (overlapping > 0) {
    labels.volume.notes.push_back(
        make_note(NoteCode::segments_overlap, {static_cast<double>(overlapping)}));
  }
  return labels;
}

}  // namespace headrace::imaging
