#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/core/ignore_label.hpp"
#include "headrace/loader/decode_choice.hpp"
#include "headrace/loader/preprocessing.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/loader/share.hpp"
#include "headrace/source/cohort.hpp"
#include "headrace/source/label_view.hpp"
#include "headrace/transform/graph.hpp"
#include "headrace/transform/tensor_format.hpp"
#include "headrace/transform/volume/graph.hpp"

namespace headrace::loader::detail {

/// A channel of a run on volumes.
struct ChannelRecipe {
  std::size_t stored = 0;  ///< its number in the store
  transform::VolumeGraph graph;
};

/// What every batch of a loader is made from. Immutable.
struct Recipe {
  std::shared_ptr<const source::Cohort> cohort;
  RunConfig config;
  std::shared_ptr<const SamplePlan> plan;
  std::shared_ptr<const Preprocessing> preprocessing;
  std::vector<ImageColour> colours;  ///< of slides, by image: what their transforms are told
  bool with_labels = false;
  /// By image: the labels of one that is known to be negative and has no label image; else null.
  std::vector<std::shared_ptr<const zarr::Array>> background;
  std::vector<source::LabelView> label_views;  ///< by image, where there are labels
  std::int64_t batch = 0;                      ///< samples that this loader makes of a full batch
  std::int64_t whole_batch = 0;                ///< samples of a full batch, whoever makes them
  std::int64_t first_sample = 0;               ///< of a batch: where this loader's share begins
  std::uint64_t turn = 0, every = 1;           ///< of the batches: those that this loader makes
  transform::Graph graph;                      ///< of slides
  std::vector<ChannelRecipe> volume_channels;  ///< of volumes; all draw one geometry

  // Shape of one sample; depth 0: slides.
  std::int64_t contexts = 1, channels = 3, depth = 0, height = 0, width = 0;
  transform::TensorFormat format;
  int device_index = -1;               ///< the GPU that batches are made on; -1: the CPU
  std::size_t device_limit_bytes = 0;  ///< what the loader may take of its memory
  DecodeChoice decoding;

  std::int64_t plane() const;       ///< pixels or voxels of a sample
  std::size_t image_bytes() const;  ///< of one sample, all contexts
  std::size_t label_bytes() const;  ///< of one sample
  std::size_t batch_bytes() const;
  std::size_t labels_at() const;  ///< bytes of a batch in front of its labels
};

/// How the values of a batch are stored: loader.element and loader.layout. auto is float32,
/// channels first, on a CPU; on a GPU bfloat16 where the model takes it (train.amp is not off),
/// channels last.
transform::TensorFormat choose_format(const RunConfig& config, bool on_device);
/// Bytes of a GPU that a ring of such batches takes at the very least, windows as large as the
/// patches and two batches with the consumer.
std::size_t least_device_bytes(const Recipe& recipe);

/// `preprocessing`: of a run; null: fitted on the cohort's own training split.
/// Errors: usage (another dataset than expected, transforms that the data can't serve, a share that
/// is not in the batch), unsupported (a device that is not there), memory (the ring does not fit),
/// and those of choose_decoding.
Recipe make_recipe(std::shared_ptr<const source::Cohort> cohort, const RunConfig& config,
                   std::shared_ptr<const SamplePlan> plan,
                   std::shared_ptr<const Preprocessing> preprocessing, bool with_labels,
                   Share share = {});

}  // namespace headrace::loader::detail
