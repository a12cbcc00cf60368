#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"
#include "learn/handover/dicom/segment_codes.hpp"

namespace headrace::handover {

/// One class of a prediction as a DICOM segment or structure.
struct Segment {
  std::uint8_t value = 0;  ///< in the class map; not 0
  std::string name;        ///< as the class is called; texts of DICOM hold 64 characters of it
  std::array<std::uint8_t, 3> rgb{};  ///< sRGB
  SegmentCodes codes;
  /// (z, y, x) of the file's grid, probability · 255; needed by FRACTIONAL alone, else empty.
  std::span<const std::uint8_t> probability;
};

/// What made the prediction. All of it is stated in every object.
struct Algorithm {
  std::string version;         ///< of Headrace
  std::string weights_sha256;  ///< of one network, or of the list of several: 64 hexadecimal digits
};

/// A predicted CT on the voxels of the DICOM series that it was predicted from. Spans belong to the
/// caller and must outlive the call of a writer.
struct CtPrediction {
  /// The files of one series, one slice each, in any order.
  std::vector<std::string> source_files;
  /// Grid of the series as its reader gave it: index z runs through the slices.
  imaging::VolumeGrid file_grid;
  /// (z, y, x) of file_grid. Values that no segment has are background (0, not predicted).
  std::span<const std::uint8_t> classes;
  /// In the order of segment numbers, which begin with 1.
  std::vector<Segment> segments;
  Algorithm algorithm;
  /// UTC, of the prediction: content dates and times of every object. The clock is never asked.
  std::chrono::sys_seconds predicted_at;
};

/// A file that was written, as others refer to it.
struct WrittenObject {
  std::string sop_class_uid, sop_instance_uid, series_uid;
};

}  // namespace headrace::handover
