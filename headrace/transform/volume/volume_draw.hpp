#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "headrace/transform/entry_stream.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_params.hpp"

namespace headrace::transform {

/// Puts stages into passes: a new one wherever statistics or neighbours are needed.
class PassBuilder {
 public:
  PassBuilder(VolumeParams& params, const SampleWords& words);

  void stage(const VolumeStage& s);
  /// Begins a pass that takes the statistics of the current values; returns the pass that gives
  /// them.
  std::int32_t statistics();
  void neighbours(VolumePass::Kind kind, double sigma, std::array<std::int32_t, 3> small);

 private:
  VolumePass& last();
  void begin();

  VolumeParams& params_;
  SampleWords words_;
};

/// One sample of a channel while it is drawn, entry after entry: what an operation may read, and
/// what it adds to.
struct VolumeDraw {
  const VolumePatchSpec& patch;
  const IntensityStats& patient;     ///< known_patient() checks that there are some
  const IntensityStats& foreground;  ///< of the training set
  SampleWords words;
  bool random;  ///< false: random operations add nothing
  VolumeParams& params;
  PassBuilder& passes;
  std::uint32_t channel;
  std::size_t entry = 0;  ///< place in the list

  /// The random numbers of an entry that every channel draws on its own.
  EntryStream stream() const { return EntryStream(words, entry, channel); }
  /// Those of an entry that is drawn once for all channels.
  EntryStream geometry_stream() const { return EntryStream(words, entry); }
  /// What this entry drew, for describe().
  void record(std::vector<std::pair<const char*, double>> values) {
    params.drawn.back().values = std::move(values);
  }
  /// Intensities of the volume's body. Errors: usage, where the store has none.
  const IntensityStats& known_patient() const;
};

/// The largest value that a store of int16 holds.
inline constexpr double kMostStored = 32767;

/// (v - a) · b, limited.
VolumeStage linear_stage(double a, double b, double low = -VolumeStage::kNoLimit,
                         double high = VolumeStage::kNoLimit);
/// A value of a range; bg: as batchgenerators' BGContrast, half of the draws below 1.
double draw_factor(EntryStream& numbers, const std::array<double, 2>& range, bool bg);

}  // namespace headrace::transform
