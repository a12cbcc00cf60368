#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "headrace/cohort/cohort_state.hpp"
#include "headrace/cohort/image_record.hpp"
#include "headrace/cohort/joined_cells.hpp"
#include "headrace/cohort/stored_table.hpp"
#include "headrace/core/error.hpp"

namespace headrace::cohort {

using Amounts = std::vector<std::vector<std::uint32_t>>;  // [label value][cell]

namespace {

using detail::read_table;
using detail::StoredTable;
using Cells = StoredTable<std::uint32_t>;

/// `index` below the group of a label image, of cells of the same size as the image's own.
std::optional<Cells> label_cells(const std::shared_ptr<const storage::Store>& store,
                                 const std::optional<std::string>& group, const Cells& image,
                                 const char* size_key, std::size_t axes, std::size_t classes) {
  if (!group) return std::nullopt;
  Cells table =
      read_table<std::uint32_t>(store, *group + "/index", DType::uint32, axes, axes + classes,
                                fmt::format("place, {} classes at most", classes));
  if (table.attributes.value(size_key, Json()) != image.attributes.value(size_key, Json())) {
    fail(ErrorCode::malformed, "{}: '{}' differs from that of {}", table.origin, size_key,
         image.origin);
  }
  return table;
}

/// Rows (stored value + 32768, voxels), ascending.
std::map<std::int32_t, std::uint64_t> read_histogram(
    const std::shared_ptr<const storage::Store>& store, const std::string& key) {
  const auto table =
      read_table<std::uint64_t>(store, key, DType::uint64, 2, 2, "stored value + 32768, voxels");
  std::map<std::int32_t, std::uint64_t> voxels;
  for (std::size_t i = 0; i < table.rows; ++i) {
    const std::uint64_t* row = table.row(i);
    if (row[0] > 65535 || (i > 0 && row[0] <= table.row(i - 1)[0])) {
      fail(ErrorCode::malformed, "{}: row {} is of value {}; values must rise and be below 65536",
           table.origin, i, row[0]);
    }
    voxels[static_cast<std::int32_t>(row[0]) - 32768] = row[1];
  }
  return voxels;
}

}  // namespace

Amounts Cohort::State::by_seen_class(Amounts stored, std::size_t cells) const {
  return match.in_seen_order(std::move(stored), seen.size() + match.sets.size(),
                             Amounts::value_type(cells, 0));
}

CellIndex Cohort::cells(std::size_t image, const std::string& labels) const {
  const auto table =
      read_table<std::uint32_t>(state_->store, "index/" + state_->images.at(image).id,
                                DType::uint32, 11, 11, "cell_y, cell_x, tissue, parts");
  CellIndex index;
  index.cell_size_px =
      detail::require<std::int32_t>(table.attributes, "cell_size_px", table.origin);
  if (index.cell_size_px <= 0)
    fail(ErrorCode::malformed, "{}: 'cell_size_px' is {}", table.origin, index.cell_size_px);
  const std::size_t classes = state_->classes.size() + state_->class_sets.size();
  const auto labelled = label_cells(state_->store, state_->label_group(image, labels), table,
                                    "cell_size_px", 2, classes);
  auto joined = detail::join_cells<2>(table, labelled, classes);
  for (const auto& [y, x] : joined.place) {
    index.cell_y.push_back(y);
    index.cell_x.push_back(x);
  }
  index.tissue_px = std::move(joined.tissue);
  index.class_px = state_->by_seen_class(std::move(joined.of_class), joined.place.size());
  return index;
}

VolumeCellIndex Cohort::volume_cells(std::size_t image, const std::string& labels) const {
  state_->require_volumes();
  const ImageRecord& record = state_->images.at(image);
  const auto table = read_table<std::uint32_t>(state_->store, "index/" + record.id, DType::uint32,
                                               12, 12, "cell_z, cell_y, cell_x, body, parts");
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
  const std::size_t classes = state_->classes.size() + state_->class_sets.size();
  const auto labelled = label_cells(state_->store, state_->label_group(image, labels), table,
                                    "cell_size_zyx", 3, classes);
  auto joined = detail::join_cells<3>(table, labelled, classes);
  for (std::size_t i = 0; i < joined.place.size(); ++i) {
    const auto& cell = joined.place[i];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (std::int64_t{cell[axis]} * index.cell_size_zyx[axis] < shape[axis]) continue;
      fail(ErrorCode::malformed, "{}: row {} is cell {}, {}, {}, which lies outside of the volume",
           table.origin, i, cell[0], cell[1], cell[2]);
    }
  }
  index.class_voxels = state_->by_seen_class(std::move(joined.of_class), joined.place.size());
  index.cell_zyx = std::move(joined.place);
  index.body_voxels = std::move(joined.tissue);
  return index;
}

VolumeHistogram Cohort::histogram(std::size_t image, const std::string& labels,
                                  std::size_t channel) const {
  state_->require_volumes();
  const std::string& id = state_->images.at(image).id;
  const std::string key = channel == 0
                              ? "histograms/" + id
                              : fmt::format("images/{}/{}/histogram", id, channel_folder(channel));
  std::map<std::int32_t, std::array<std::uint64_t, 2>> both;
  for (const auto& [stored, voxels] : read_histogram(state_->store, key)) both[stored][0] = voxels;
  if (const auto group = state_->label_group(image, labels)) {
    for (const auto& [stored, voxels] :
         read_histogram(state_->store, *group + "/" + label_histogram_name(channel)))
      both[stored][1] = voxels;
  }
  VolumeHistogram histogram;
  for (const auto& [stored, voxels] : both) {
    histogram.stored.push_back(stored);
    histogram.body.push_back(voxels[0]);
    histogram.foreground.push_back(voxels[1]);
  }
  return histogram;
}

std::vector<VolumeLesion> Cohort::lesions(std::size_t image, const std::string& labels) const {
  state_->require_volumes();
  std::vector<VolumeLesion> lesions;
  const auto group = state_->label_group(image, labels);
  if (!group) return lesions;
  const auto table = read_table<double>(state_->store, *group + "/lesions", DType::float64, 12, 12,
                                        "class, voxels, volume_mm3, centre x, y, z, box z, y, x, "
                                        "size z, y, x");
  for (std::size_t i = 0; i < table.rows; ++i) {
    const double* row = table.row(i);
    const bool possible = row[0] >= 0 && row[0] <= 254 && row[1] >= 1 && row[1] <= 1e18;
    if (!possible || !std::all_of(row + 6, row + 12, [](double v) { return v >= 0 && v < 1e9; })) {
      fail(ErrorCode::malformed, "{}: row {} (class {}, {} voxels) is not a lesion", table.origin,
           i, row[0], row[1]);
    }
    const std::uint8_t seen = state_->match.seen_as[static_cast<std::size_t>(row[0])];
    if (seen == kIgnoreLabel) continue;
    VolumeLesion& lesion = lesions.emplace_back();
    lesion.class_value = seen;
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

}  // namespace headrace::cohort
