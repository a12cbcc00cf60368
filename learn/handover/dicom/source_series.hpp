#pragma once
// For use inside handover/dicom only: holds identifiers as they are in the files. They go into the
// objects that are written beside them, and nowhere else.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <memory>
#include <string>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::handover {

struct SourceSlice {
  std::string sop_class_uid, sop_instance_uid;
  std::string position;             ///< ImagePositionPatient as it is written
  imaging::Vec3 position_lps_mm{};  ///< centre of the first pixel
  imaging::Vec3 column_step_mm{};   ///< from a pixel to the next one of its row
  imaging::Vec3 row_step_mm{};      ///< from a pixel to the one below it
};

/// The headers of the series that was predicted.
struct SourceSeries {
  std::unique_ptr<DcmFileFormat> header;  ///< of slice 0, without pixels
  std::string study_uid, series_uid, frame_of_reference_uid, modality;
  std::string orientation, pixel_spacing;  ///< as they are written
  bool utf8 = false;                       ///< its texts are UTF-8
  std::vector<SourceSlice> slices;         ///< by index z of the grid

  DcmItem& attributes() const { return *header->getDataset(); }
};

/// Reads the headers and finds for each slice of the grid the file that lies there.
///
/// errors  malformed (an identifier is missing: names it; files of two series; a file that does not
///         lie on a slice of the grid, or a slice without a file: the prediction is of another
///         series, or of one that was resampled to even gaps); unsupported (several frames in a
///         file)
SourceSeries read_source_series(const std::vector<std::string>& files,
                                const imaging::VolumeGrid& grid);

}  // namespace headrace::handover
