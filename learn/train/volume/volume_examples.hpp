#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "headrace/cohort/cohort.hpp"
#include "learn/config/run_config.hpp"
#include "learn/train/evaluate/examples.hpp"

namespace headrace::train {

/// Keeps, of the slices of a volume's level 0, the one with the most wrong voxels and the one with
/// the most voxels of shown classes; the lower of equal ones; without any the middle one.
class SliceChooser {
 public:
  /// `shown`: label values of classes to be shown; `classes`: how many plain classes there are.
  SliceChooser(std::array<bool, 256> shown, std::size_t classes)
      : shown_(shown), classes_(classes) {}
  void start(const std::array<std::int64_t, 3>& shape_zyx);
  /// predicted: (y, x) class; truth: (y, x), empty where nothing is known.
  void add(std::int64_t z, std::span<const std::uint8_t> predicted,
           std::span<const std::uint8_t> truth);
  /// Fills labels and slices.
  void finish(ShownImage& image);

 private:
  struct Slice {
    std::int64_t z = 0;
    std::uint64_t count = 0;
    LabelPicture labels;
  };
  std::array<bool, 256> shown_;
  std::size_t classes_;
  std::array<std::int64_t, 3> shape_zyx_{};
  Slice wrong_, true_, middle_;
};

/// An axial slice with the outlines of truth and prediction, in the patient's proportions, its
/// longer side 512 pixels, in radiological convention. HU from -160 to 240, other units from 0 to
/// the slice's percentile 99.5. Reads that slice of the run's first channel.
ExamplePictures volume_pictures(const cohort::Cohort& cohort, const config::RunConfig& config,
                                const ShownImage& image, bool worst);

}  // namespace headrace::train
