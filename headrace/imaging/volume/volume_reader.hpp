#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/imaging/note.hpp"
#include "headrace/imaging/volume/slice_places.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

enum class Modality { ct, mr, pet, other, unknown };

/// The contrast phase of a series, as far as its headers tell.
enum class ContrastPhase { unknown, native, arterial, portal_venous, delayed };

}  // namespace headrace::imaging

namespace headrace {
template <>
inline constexpr auto kNamesOf<imaging::Modality> =
    names<imaging::Modality>({{imaging::Modality::ct, "CT"},
                              {imaging::Modality::mr, "MR"},
                              {imaging::Modality::pet, "PET"},
                              {imaging::Modality::other, "other"},
                              {imaging::Modality::unknown, "unknown"}});
template <>
inline constexpr auto kNamesOf<imaging::ContrastPhase> =
    names<imaging::ContrastPhase>({{imaging::ContrastPhase::unknown, "unknown"},
                                   {imaging::ContrastPhase::native, "native"},
                                   {imaging::ContrastPhase::arterial, "arterial"},
                                   {imaging::ContrastPhase::portal_venous, "portal-venous"},
                                   {imaging::ContrastPhase::delayed, "delayed"}});
}  // namespace headrace

namespace headrace::imaging {

/// The unit of a modality's values; nothing where stores have no such unit.
std::optional<IntensityUnit> unit_of(Modality modality) noexcept;

/// All that is known about a volume besides its voxels. An allow-list: nothing here names a
/// patient, a place or a date.
struct VolumeInfo {
  VolumeGrid grid;
  Modality modality =
      Modality::unknown;  ///< files that do not state it (NIfTI, NRRD, MetaImage): unknown
  ContrastPhase phase = ContrastPhase::unknown;
  std::uint64_t source_bytes = 0;
  std::vector<Note> notes;  ///< what was odd and how it was resolved
  SlicePlaces slices;       ///< where those of the source lie, across the grid's third axis
};

/// Reads a volume slice by slice, so that memory does not grow with its depth.
class VolumeReader {
 public:
  virtual ~VolumeReader() = default;
  VolumeReader(const VolumeReader&) = delete;
  VolumeReader& operator=(const VolumeReader&) = delete;

  const VolumeInfo& info() const noexcept { return info_; }
  /// The file, or "the series with" a file, for errors.
  const std::string& name() const noexcept { return name_; }

  /// Values of slice z after rescale (HU of CT, SUV of PET), (y, x), grid.slice_voxels() of them.
  /// errors  corrupt (can't be decoded, ends early), malformed, unsupported, io; each names the
  /// file
  /// threads one at a time, unless concurrent(); ascending z is cheapest
  virtual void read_slice(std::int64_t z, double* dst) const = 0;
  /// Whether several threads may read slices at the same time.
  virtual bool concurrent() const noexcept { return false; }

  /// Slices [z0, z0 + depth) as stores hold them (stored_per_unit), rounded to the nearest, halves
  /// to even. Errors: as read_slice; malformed (a value that is not finite or doesn't fit into
  /// int16; names file, voxel and value).
  void read_int16(std::int64_t z0, std::int64_t depth, std::int16_t* dst,
                  IntensityUnit unit = IntensityUnit::hu) const;
  void read_float(std::int64_t z0, std::int64_t depth, float* dst) const;

 protected:
  VolumeReader() = default;
  VolumeInfo info_;
  std::string name_;
};

/// Opens one file: NIfTI (.nii, .nii.gz), NRRD (.nrrd) or MetaImage (.mha, .mhd); the kind is told
/// from the bytes. Errors: not_found, malformed, unsupported, memory (a header that claims more
/// than the file can hold); each names the file.
std::unique_ptr<VolumeReader> open_volume(const std::string& path);
/// Whether the first bytes are those of a volume file that open_volume knows.
bool is_volume_file(const std::string& path);

/// Refuses grids that no scanner makes: an edge of 0 or over 65,536, over 2^26 voxels a slice or
/// 2^33 in all. `stored_bytes`: size of the voxels as stored; `file_bytes`: size of the file; a
/// compressed file may hold 1,100 times its size (deflate's limit is 1,032). Errors: malformed,
/// naming found and expected; nothing has been allocated before.
void check_volume_size(const std::string& path, const std::array<std::int64_t, 3>& shape_zyx,
                       std::uint64_t bytes_per_voxel, std::uint64_t file_bytes, bool compressed);

/// Refuses grids whose place, direction or spacing is not finite, also where that comes of finite
/// numbers of a header. Errors: malformed; names the file.
void check_finite(const VolumeGrid& grid, const std::string& path);

/// Refuses grids whose columns are not perpendicular to each other (by more than 1e-3) or have no
/// length. Errors: unsupported, malformed; names the file.
void check_orthogonal(const VolumeGrid& grid, const std::string& path);

}  // namespace headrace::imaging
