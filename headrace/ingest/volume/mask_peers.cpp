#include "headrace/ingest/volume/mask_peers.hpp"

#include <algorithm>

#include "headrace/core/ignore_label.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::ingest {
namespace {

bool has_class(const std::string& path) {
  const auto reader = imaging::open_volume(path);
  const auto& grid = reader->info().grid;
  std::vector<double> slice(static_cast<std::size_t>(grid.slice_voxels()));
  for (std::int64_t z = 0; z < grid.shape_zyx[0]; ++z) {
    reader->read_slice(z, slice.data());
    const bool any = std::any_of(slice.begin(), slice.end(), [](double value) {
      return value > 0.5 && value < kIgnoreLabel - 0.5;
    });
    if (any) return true;
  }
  return false;
}

}  // namespace

MaskPeers::MaskPeers(std::vector<std::string> paths) : paths_(std::move(paths)) {
  std::sort(paths_.begin(), paths_.end());
}

bool MaskPeers::have_classes() const {
  const std::scoped_lock lock(mutex_);
  if (!found_) found_ = std::any_of(paths_.begin(), paths_.end(), has_class);
  return *found_;
}

}  // namespace headrace::ingest
