#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/source/cohort_state.hpp"
#include "headrace/source/image_record.hpp"

namespace headrace::source {
namespace {

/// A stored table: rows of numbers of one type.
template <typename T>
struct Table {
  std::size_t rows = 0, columns = 0;
  std::vector<T> values;  ///< row-major
  Json attributes;        ///< attributes.headrace
  std::string origin;
  const T* row(std::size_t i) const { return values.data() + i * columns; }
};

/// Not through the cohort's cache of arrays: a table is read once, when a plan is made.
/// `what` names the columns in errors.
template <typename T>
Table<T> read_table(const std::shared_ptr<const storage::Store>& store, const std::string& key,
                    DType dtype, std::size_t columns, const std::string& what) {
  Table<T> table;
  table.origin = store->describe(key);
  table.columns = columns;
  const auto array = zarr::Array::open(store, key);
  const auto& metadata = array->metadata();
  if (metadata.dtype != dtype || metadata.shape.size() != 2 ||
      metadata.shape[1] != static_cast<std::int64_t>(columns)) {
    fail(ErrorCode::malformed, "{}: expected a {} array of {} columns ({})", table.origin,
         name_of(dtype), columns, what);
  }
  table.attributes = metadata.attributes.value("headrace", Json::object());
  table.rows = static_cast<std::size_t>(metadata.shape[0]);
  table.values.resize(table.rows * columns);
  if (table.rows > 0) {
    array->read({.origin = {0, 0},
                 .shape = metadata.shape,
                 .dst = reinterpret_cast<std::byte*>(table.values.data()),
                 .strides_bytes = {static_cast<std::int64_t>(columns * sizeof(T)), sizeof(T)},
                 .row_spans = {}});
  }
  return table;
}

}  // namespace

CellIndex Cohort::cells(std::size_t image) const {
  const auto table = read_table<std::uint32_t>(
      state_->store, "index/" + state_->images.at(image).id, DType::uint32,
      3 + state_->classes.size(),
      fmt::format("cell_y, cell_x, tissue, {} classes", state_->classes.size()));
  CellIndex index;
  index.cell_size_px =
      detail::require<std::int32_t>(table.attributes, "cell_size_px", table.origin);
  if (index.cell_size_px <= 0)
    fail(ErrorCode::malformed, "{}: 'cell_size_px' is {}", table.origin, index.cell_size_px);
  index.class_px.resize(state_->classes.size());
  for (std::size_t i = 0; i < table.rows; ++i) {
    const std::uint32_t* row = table.row(i);
    index.cell_y.push_back(row[0]);
    index.cell_x.push_back(row[1]);
    index.tissue_px.push_back(row[2]);
    for (std::size_t c = 0; c < index.class_px.size(); ++c) index.class_px[c].push_back(row[3 + c]);
  }
  return index;
}

VolumeCellIndex Cohort::volume_cells(std::size_t image) const {
  state_->require_volumes();
  const ImageRecord& record = state_->images.at(image);
  const auto table = read_table<std::uint32_t>(
      state_->store, "index/" + record.id, DType::uint32, 4 + state_->classes.size(),
      fmt::format("cell_z, cell_y, cell_x, body, {} classes", state_->classes.size()));
  VolumeCellIndex index;
  index.cell_size_zyx =
      detail::require<std::array<std::int32_t, 3>>(table.attributes, "cell_size_zyx", table.origin);
  const auto& shape = record.volume->levels.front().shape_zyx;
  for (const std::int32_t edge : index.cell_size_zyx) {
    if (edge <= 0) {
      fail(ErrorCode::malformed, "{}: 'cell_size_zyx' holds {}; every edge must be above 0",
           table.origin, edge);
    }
  }
  index.class_voxels.resize(state_->classes.size());
  for (std::size_t i = 0; i < table.rows; ++i) {
    const std::uint32_t* row = table.row(i);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (std::int64_t{row[axis]} * index.cell_size_zyx[axis] < shape[axis]) continue;
      fail(ErrorCode::malformed, "{}: row {} is cell {}, {}, {}, which lies outside of the volume",
           table.origin, i, row[0], row[1], row[2]);
    }
    index.cell_zyx.push_back({row[0], row[1], row[2]});
    index.body_voxels.push_back(row[3]);
    for (std::size_t c = 0; c < index.class_voxels.size(); ++c)
      index.class_voxels[c].push_back(row[4 + c]);
  }
  return index;
}

VolumeHistogram Cohort::histogram(std::size_t image) const {
  state_->require_volumes();
  const auto table =
      read_table<std::uint64_t>(state_->store, "histograms/" + state_->images.at(image).id,
                                DType::uint64, 3, "HU + 32768, body voxels, foreground voxels");
  VolumeHistogram histogram;
  for (std::size_t i = 0; i < table.rows; ++i) {
    const std::uint64_t* row = table.row(i);
    if (row[0] > 65535 || (i > 0 && row[0] <= table.row(i - 1)[0])) {
      fail(ErrorCode::malformed, "{}: row {} is of value {}; values must rise and be below 65536",
           table.origin, i, row[0]);
    }
    histogram.hu.push_back(static_cast<std::int32_t>(row[0]) - 32768);
    histogram.body.push_back(row[1]);
    histogram.foreground.push_back(row[2]);
  }
  return histogram;
}

std::vector<VolumeLesion> Cohort::lesions(std::size_t image) const {
  state_->require_volumes();
  const std::string key = "lesions/" + state_->images.at(image).id;
  std::vector<VolumeLesion> lesions;
  if (!state_->store->exists(key + "/zarr.json")) return lesions;
  const auto table = read_table<double>(state_->store, key, DType::float64, 12,
                                        "class, voxels, volume_mm3, centre x, y, z, box z, y, x, "
                                        "size z, y, x");
  for (std::size_t i = 0; i < table.rows; ++i) {
    const double* row = table.row(i);
    const bool possible = row[0] >= 0 && row[0] <= 254 && row[1] >= 1 && row[1] <= 1e18;
    if (!possible || !std::all_of(row + 6, row + 12, [](double v) { return v >= 0 && v < 1e9; })) {
      fail(ErrorCode::malformed, "{}: row {} (class {}, {} voxels) is no lesion", table.origin, i,
           row[0], row[1]);
    }
    VolumeLesion& lesion = lesions.emplace_back();
    lesion.class_value = static_cast<std::uint8_t>(row[0]);
    lesion.voxels = static_cast<std::uint64_t>(row[1]);
    lesion.volume_mm3 = row[2];
    lesion.centre_lps_mm = {row[3], row[4], row[5]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      lesion.box_zyx[axis] = static_cast<std::int64_t>(row[6 + axis]);
      lesion.size_zyx[axis] = static_cast<std::int64_t>(row[9 + axis]);
    }
  }
  return lesions;
}

std::shared_ptr<const zarr::Array> Cohort::body_mask(std::size_t image) const {
  state_->require_volumes();
  return state_->array(fmt::format("images/{}/masks/body", state_->images.at(image).id));
}

}  // namespace headrace::source
