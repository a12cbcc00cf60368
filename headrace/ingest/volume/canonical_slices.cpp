#include "headrace/ingest/volume/canonical_slices.hpp"

#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::ingest {

CanonicalSlices::CanonicalSlices(const imaging::VolumeReader& reader,
                                 const imaging::AxisMap& from_file, IntensityUnit unit,
                                 std::int16_t* stored, ThreadPool& pool, Done done)
    : reader_(reader),
      file_(reader.info().grid),
      map_(from_file),
      shape_zyx_(imaging::reordered(file_, from_file).shape_zyx),
      places_(imaging::places_of(from_file, shape_zyx_)),
      unit_(unit),
      stored_(stored),
      pool_(pool),
      done_(std::move(done)) {}

void CanonicalSlices::read_file_slice(std::int64_t z) {
  const bool in_place = places_.step_xyz[0] == 1 && places_.step_xyz[1] == file_.shape_zyx[2];
  if (in_place) {
    return reader_.read_int16(z, 1, stored_ + places_.start + z * places_.step_xyz[2], unit_);
  }
  std::vector<std::int16_t> slice(static_cast<std::size_t>(file_.slice_voxels()));
  reader_.read_int16(z, 1, slice.data(), unit_);
  imaging::put_slice(slice.data(), file_, z, places_, stored_);
}

void CanonicalSlices::read(std::int64_t z0, std::int64_t depth) {
  const std::int64_t all = shape_zyx_[0];
  if (!by_parts() && (z0 != 0 || depth != all)) {
    fail(ErrorCode::internal, "slices {} to {} of a volume whose file has other slices", z0,
         z0 + depth);
  }
  const std::int64_t first = !by_parts() ? 0 : map_.flip[2] ? all - z0 - depth : z0;
  const std::int64_t count = by_parts() ? depth : file_.shape_zyx[0];
  const auto take = [&](std::size_t i) {
    const std::int64_t z = first + static_cast<std::int64_t>(i);
    read_file_slice(z);
    if (by_parts()) done_(map_.flip[2] ? all - 1 - z : z);
  };
  if (reader_.concurrent()) {
    pool_.parallel_for(static_cast<std::size_t>(count), take);
  } else {
    for (std::int64_t i = 0; i < count; ++i) take(static_cast<std::size_t>(i));
  }
  if (by_parts()) return;
  pool_.parallel_for(static_cast<std::size_t>(all),
                     [&](std::size_t z) { done_(static_cast<std::int64_t>(z)); });
}

}  // namespace headrace::ingest
