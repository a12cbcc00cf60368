#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/pseudonym.hpp"
#include "headrace/imaging/volume/rescale.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// One picture of a series: a file, or one frame of a multi-frame file.
struct DicomSlice {
  std::string path;
  int frame = 0;
  Vec3 position_lps_mm{};           ///< centre of the first pixel
  double slope = 1, intercept = 0;  ///< HU of CT, SUV of PET = slope · stored + intercept
  bool rescale_stated = true;       ///< false: its header has no usable slope or intercept
  std::string instance{};           ///< keyed hash of its file's identifier
};

/// Pictures that belong together: one SeriesInstanceUID, size, orientation and pixel spacing. An
/// allow-list: identifiers are keyed hashes, descriptions, names, dates, places and private
/// elements are never kept.
struct DicomSeries {
  std::string patient, study,
      series;  ///< keyed hashes; equal for files of the same patient, study and series
  std::string frame_of_reference;
  std::optional<int> series_number;
  Modality modality = Modality::other;
  bool modality_stated = true;  ///< false: its headers have none
  ContrastPhase phase = ContrastPhase::unknown;
  std::int64_t rows = 0, columns = 0;
  std::array<double, 2> spacing_mm_yx{};  ///< PixelSpacing: between rows, between columns
  Vec3 row_direction{},
      column_direction{};  ///< of increasing column index, of increasing row index (LPS)
  std::optional<double>
      slice_thickness_mm;  ///< SpacingBetweenSlices, else SliceThickness; only for a slice alone
  bool localizer = false;  ///< a scout view, not part of the volume
  /// For PET: whether attenuation was corrected, and why its values are not SUV (words after its
  /// name; empty: they are SUV).
  bool attenuation_corrected = true;
  std::string no_suv;
  /// For CT: what its values are instead of Hounsfield units (words after "CT with"); empty: they
  /// are those.
  std::string other_values;
  /// Where one SeriesInstanceUID holds several acquisitions, time points or reconstructions of the
  /// same places: which of them this is, from 1, of how many, and the headers that tell them apart.
  std::size_t acquisition = 1, acquisitions = 1;
  std::size_t stack = 0;  ///< which of the series' stacks of other size, orientation or unit
  std::optional<int> acquisition_number;  ///< AcquisitionNumber, where its slices have one alone
  std::string acquisitions_by;
  std::size_t copies = 0;  ///< files left out that are copies of others
  /// Of a series that was joined from several: their keyed hashes, sorted.
  std::vector<std::string> joined;
  std::vector<DicomSlice> slices;  ///< sorted by position along the normal (row × column direction)
  std::uint64_t source_bytes = 0;
};

enum class DicomObject { segmentation, structure_set, other };

/// A file that is not a picture of a series: labels, or something that is left out.
struct DicomLabelFile {
  std::string path;
  DicomObject object = DicomObject::other;
  std::string instance, patient, frame_of_reference;  ///< keyed hashes
  std::vector<std::string> referenced_series;         ///< keyed hashes, sorted
  std::vector<std::string> referenced_instances;      ///< the same of the pictures that it names
};

/// A part of a scan that can't be used.
struct DicomProblem {
  std::string text;  ///< one sentence
  std::string path;  ///< a file that can't be read or used; empty: the problem lies in series
  std::vector<std::string> series;  ///< hashes of those that it is about; empty: any in its folder
  /// Of files without content or place that are slices: their series can be read without.
  bool lost = false;
  ErrorCode code = ErrorCode::malformed;
};

/// A file that is part of no series and no label object.
struct DicomUnused {
  std::string path, reason;  ///< a clause that many files share
};

/// How series are told apart.
struct SeriesRules {
  /// Series of a study with one number and geometry, whose slices lie in different places, are one:
  /// what a program wrote that gave each slice a SeriesInstanceUID.
  bool join = false;
  /// Acquisitions between each other's slices are one series.
  bool acquisitions_together = false;
};

struct DicomScan {
  std::vector<DicomSeries> series;     ///< sorted by patient, study, number, series
  std::vector<DicomLabelFile> labels;  ///< DICOM SEG and RTSTRUCT, sorted by path
  std::vector<DicomProblem> problems;
  std::size_t other_files = 0;      ///< files that are not DICOM, or no pictures
  std::vector<DicomUnused> unused;  ///< these, and copies of slices; sorted by path
};

/// Reads the headers of every file under `inputs` (files and folders, several patients, studies,
/// series and modalities mixed, any file names) and sorts them into series.
///
/// errors  not_found, io; usage (key); unsupported when built with HR_WITH_DCMTK=OFF. A file that
/// is not DICOM is counted; a
///         DICOM file that can't be parsed becomes a problem that names it
/// threads reads files on `jobs` threads (0: every core); the result is the same for any number,
/// and for any file names
DicomScan scan_dicom(const std::vector<std::string>& inputs, const Pseudonymizer& pseudonym,
                     int jobs = 0, const SeriesRules& rules = {});

enum class Irregular {
  refuse,   ///< missing, doubled or unevenly spaced slices and gantry tilt are errors
  resample  ///< linear interpolation onto an even, upright grid; noted in VolumeInfo
};

}  // namespace headrace::imaging

namespace headrace {
template <>
inline constexpr auto kNamesOf<imaging::Irregular> = names<imaging::Irregular>(
    {{imaging::Irregular::refuse, "refuse"}, {imaging::Irregular::resample, "resample"}});
}  // namespace headrace

namespace headrace::imaging {

/// Opens a series of CT (values in HU) or PET (in SUV) as a volume, with slices in order of
/// position along the normal. rescale: of CT whose headers state no slope and intercept, or the
/// same ones in some slices only.
///
/// errors  unsupported (another modality or unit: names it; PET whose header does not give SUV;
///         several channels; a modality LUT), malformed (slices that are missing, doubled, unevenly
///         spaced, tilted, or without slope and intercept: where and how much; one slice alone
///         without thickness)
/// threads concurrent(): slices may be decoded by several threads
std::unique_ptr<VolumeReader> open_dicom_series(const DicomSeries& series,
                                                Irregular irregular = Irregular::refuse,
                                                const std::optional<Rescale>& rescale = {});

}  // namespace headrace::imaging
