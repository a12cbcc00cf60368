#include "headrace/imaging/dicom/regular_stack.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

class RegularStack : public VolumeReader {
 public:
  RegularStack(std::unique_ptr<VolumeReader> raw, std::vector<SlicePlace> places,
               const StackFindings& findings, std::string series)
      : raw_(std::move(raw)), places_(std::move(places)), series_(std::move(series)) {
    info_ = raw_->info();
    name_ = "the series with " + series_;
    // Where no slice reaches.
    const IntensityUnit unit = unit_of(info_.modality).value_or(IntensityUnit::hu);
    outside_ = stored_outside(unit) / static_cast<double>(stored_per_unit(unit));
    info_.notes.insert(info_.notes.end(), findings.faults.begin(), findings.faults.end());
    const VolumeGrid& grid = raw_->info().grid;
    for (const SlicePlace& place : places_) {
      low_x_ = std::min(low_x_, std::floor(place.shift_x_mm / grid.spacing_mm(0)));
      high_x_ = std::max(high_x_, std::ceil(place.shift_x_mm / grid.spacing_mm(0)));
      low_y_ = std::min(low_y_, std::floor(place.shift_y_mm / grid.spacing_mm(1)));
      high_y_ = std::max(high_y_, std::ceil(place.shift_y_mm / grid.spacing_mm(1)));
    }
    info_.slices = places_on_grid(places_, findings);
    if (const std::size_t filled = info_.slices.filled(); filled > 0) {
      info_.notes.push_back(make_note(
          NoteCode::slices_filled,
          {static_cast<double>(filled), static_cast<double>(info_.slices.offsets_mm.size())}));
    }
    // On the grid they are taken unchanged, however their positions are rounded.
    for (std::size_t i = 0; findings.on_grid && i < places_.size(); ++i) {
      places_[i].along_mm =
          places_.front().along_mm + static_cast<double>(findings.index[i]) * findings.spacing_mm;
    }
    info_.grid.shape_zyx = {findings.index.back() + 1,
                            grid.shape_zyx[1] + static_cast<std::int64_t>(high_y_ - low_y_),
                            grid.shape_zyx[2] + static_cast<std::int64_t>(high_x_ - low_x_)};
    const Vec3 origin = grid.to_lps_mm(low_x_, low_y_, 0);
    for (int row = 0; row < 3; ++row) info_.grid.affine_lps[4 * row + 3] = origin[row];
    spacing_mm_ = findings.spacing_mm;
    check_finite(info_.grid, name_);
    check_volume_size(name_, info_.grid.shape_zyx, 0, 0, false);
  }

  void read_slice(std::int64_t z, double* dst) const override {
    const double along = places_.front().along_mm + static_cast<double>(z) * spacing_mm_;
    constexpr double kSamePlaceMm = 1e-3;
    std::size_t above = 0;  // first slice at or after the wanted place
    while (above + 1 < places_.size() && places_[above].along_mm < along - kSamePlaceMm) ++above;
    const std::size_t below =
        above > 0 && places_[above].along_mm > along + kSamePlaceMm ? above - 1 : above;
    const auto count = static_cast<std::size_t>(info_.grid.slice_voxels());
    shifted(above, dst);
    if (below == above) return;
    const double gap = places_[above].along_mm - places_[below].along_mm;
    const double weight = (along - places_[below].along_mm) / gap;
    other_.resize(count);
    shifted(below, other_.data());
    for (std::size_t i = 0; i < count; ++i) dst[i] = other_[i] * (1 - weight) + dst[i] * weight;
  }

 private:
  /// Slice i moved back to its place in the upright grid.
  void shifted(std::size_t i, double* dst) const {
    const std::vector<double>& src = slice(i);
    const VolumeGrid& grid = raw_->info().grid;
    const std::int64_t width = grid.shape_zyx[2], height = grid.shape_zyx[1];
    const double shift_x = places_[i].shift_x_mm / grid.spacing_mm(0) - low_x_;
    const double shift_y = places_[i].shift_y_mm / grid.spacing_mm(1) - low_y_;
    const auto floor_x = static_cast<std::int64_t>(std::floor(shift_x));
    const auto floor_y = static_cast<std::int64_t>(std::floor(shift_y));
    const double fx = shift_x - static_cast<double>(floor_x),
                 fy = shift_y - static_cast<double>(floor_y);
    const auto at = [&](std::int64_t y, std::int64_t x) {
      return y < 0 || x < 0 || y >= height || x >= width ? outside_ : src[y * width + x];
    };
    for (std::int64_t y = 0; y < info_.grid.shape_zyx[1]; ++y) {
      for (std::int64_t x = 0; x < info_.grid.shape_zyx[2]; ++x, ++dst) {
        const std::int64_t sy = y - floor_y, sx = x - floor_x;
        const double near_row = at(sy, sx) * (1 - fx) + (fx > 0 ? at(sy, sx - 1) * fx : 0);
        const double far_row =
            fy > 0 ? at(sy - 1, sx) * (1 - fx) + (fx > 0 ? at(sy - 1, sx - 1) * fx : 0) : 0;
        *dst = near_row * (1 - fy) + far_row * fy;
      }
    }
  }

  /// Decoded slices; the last two are kept, since neighbours need them again.
  const std::vector<double>& slice(std::size_t i) const {
    for (const Kept& kept : kept_) {
      if (kept.index == static_cast<std::int64_t>(i)) return kept.pixels;
    }
    Kept& kept = kept_[next_];
    next_ = 1 - next_;
    kept.pixels.resize(static_cast<std::size_t>(raw_->info().grid.slice_voxels()));
    kept.index = -1;
    raw_->read_slice(static_cast<std::int64_t>(i), kept.pixels.data());
    kept.index = static_cast<std::int64_t>(i);
    check_doubles(i, kept.pixels);
    return kept.pixels;
  }

  void check_doubles(std::size_t i, const std::vector<double>& pixels) const {
    for (std::size_t j = i == 0 ? 0 : i - 1; j <= i + 1 && j < places_.size(); ++j) {
      if (j == i || std::abs(places_[j].along_mm - places_[i].along_mm) > 1e-3) continue;
      std::vector<double> twin(pixels.size());
      raw_->read_slice(static_cast<std::int64_t>(j), twin.data());
      if (twin != pixels) {
        fail(ErrorCode::corrupt,
             "series with {}: two slices at {:.2f} mm along the normal have different pixels. "
             "Leave one of them out.",
             series_, places_[i].along_mm);
      }
    }
  }

  struct Kept {
    std::int64_t index = -1;
    std::vector<double> pixels;
  };
  std::unique_ptr<VolumeReader> raw_;
  std::vector<SlicePlace> places_;
  std::string series_;
  double low_x_ = 0, high_x_ = 0, low_y_ = 0, high_y_ = 0, spacing_mm_ = 1, outside_ = 0;
  mutable std::array<Kept, 2> kept_;
  mutable std::size_t next_ = 0;
  mutable std::vector<double> other_;
};

}  // namespace

std::unique_ptr<VolumeReader> resample_stack(std::unique_ptr<VolumeReader> raw,
                                             std::vector<SlicePlace> places,
                                             const StackFindings& findings,
                                             const std::string& series) {
  return std::make_unique<RegularStack>(std::move(raw), std::move(places), findings, series);
}

}  // namespace headrace::imaging
