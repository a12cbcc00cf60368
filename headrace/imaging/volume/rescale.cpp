#include "headrace/imaging/volume/rescale.hpp"

namespace headrace::imaging {
namespace {

class RescaledVolume : public VolumeReader {
 public:
  RescaledVolume(std::unique_ptr<VolumeReader> volume, const Rescale& rescale)
      : volume_(std::move(volume)), rescale_(rescale) {
    info_ = volume_->info();
    name_ = volume_->name();
    info_.notes.push_back(make_note(NoteCode::rescale_stated, {rescale.slope, rescale.intercept}));
  }

  bool concurrent() const noexcept override { return volume_->concurrent(); }

  void read_slice(std::int64_t z, double* dst) const override {
    volume_->read_slice(z, dst);
    const std::int64_t count = info_.grid.slice_voxels();
    for (std::int64_t i = 0; i < count; ++i) dst[i] = dst[i] * rescale_.slope + rescale_.intercept;
  }

 private:
  std::unique_ptr<VolumeReader> volume_;
  Rescale rescale_;
};

}  // namespace

std::unique_ptr<VolumeReader> rescaled(std::unique_ptr<VolumeReader> volume,
                                       const Rescale& rescale) {
  return std::make_unique<RescaledVolume>(std::move(volume), rescale);
}

}  // namespace headrace::imaging
