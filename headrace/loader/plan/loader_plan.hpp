#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/cohort/label_view.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/loader/config/loader_config.hpp"
#include "headrace/loader/plan/decode_choice.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/loader/plan/share.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/tensor_format.hpp"
#include "headrace/transform/volume/volume_graph.hpp"

namespace headrace::loader::detail {

/// A channel of a run on volumes.
struct ChannelPlan {
  std::size_t stored = 0;  ///< its number in the store
  transform::VolumeGraph graph;
};

/// A view of a run on slides (LoaderConfig::View).
struct ViewPlan {
  std::string name;
  transform::Graph graph;
  std::int64_t crops = 1;          ///< patches of a sample
  std::uint64_t first_crop = 0;    ///< number of the first among those of all views
  std::int64_t values_before = 0;  ///< of one sample, in the views before it
  std::int64_t pixels() const {    ///< of one patch
    return std::int64_t{graph.patch().height} * graph.patch().width;
  }
};

/// The common inputs of all batches of a loader. Immutable.
struct LoaderPlan {
  std::shared_ptr<const cohort::Cohort> cohort;
  LoaderConfig config;
  std::shared_ptr<const SamplePlan> plan;
  std::shared_ptr<const Preprocessing> preprocessing;
  std::vector<ImageColour> colours;  ///< for slides, by image: colour facts for the transforms
  bool with_labels = false;
  /// By image: the labels of an image that is known to be negative and has no label image; else
  /// null.
  std::vector<std::shared_ptr<const zarr::Array>> background;
  std::vector<cohort::LabelView> label_views;  ///< by image, where there are labels
  std::int64_t batch = 0;                      ///< samples of a full batch that this loader makes
  std::int64_t whole_batch = 0;                ///< samples of a full batch, over all processes
  std::int64_t first_sample = 0;               ///< beginning of this loader's share of a batch
  std::uint64_t turn = 0, every = 1;           ///< the batches that this loader makes
  std::vector<ViewPlan> views;                 ///< for slides, at least one
  std::vector<ChannelPlan> volume_channels;    ///< for volumes; all draw one geometry

  // Shape of one sample; depth 0: slides, and of these the first view, with its crops as contexts.
  std::int64_t contexts = 1, channels = 3, depth = 0, height = 0, width = 0;
  transform::TensorFormat format;
  int device_index = -1;               ///< the GPU on which batches are made; -1: the CPU
  std::size_t device_limit_bytes = 0;  ///< bound on the loader's memory there
  DecodeChoice decoding;

  std::int64_t plane() const;                          ///< pixels or voxels of a sample
  std::size_t image_bytes() const;                     ///< of one sample, all contexts and views
  std::size_t view_bytes(const ViewPlan& view) const;  ///< of one sample
  std::size_t view_at(const ViewPlan& view) const;     ///< bytes of a batch before it
  std::size_t label_bytes() const;                     ///< of one sample
  std::size_t batch_bytes() const;
  std::size_t labels_at() const;  ///< bytes of a batch before its labels
};

/// How the values of a batch are stored: loader.element and loader.layout. auto is float32,
/// channels first, on a CPU; on a GPU bfloat16 where the model takes it (train.amp is not off),
/// channels last.
transform::TensorFormat choose_format(const LoaderConfig& config, bool on_device);
/// Bytes of a batch's windows where they are as large as the patches.
std::size_t least_window_bytes(const LoaderPlan& loader_plan);
/// The minimum of a GPU's memory that a ring of such batches takes, in bytes: with windows as large
/// as the patches, and two batches held by the consumer.
std::size_t least_device_bytes(const LoaderPlan& loader_plan);

/// `preprocessing`: of a run; null: fitted on the cohort's own training split.
/// Errors: usage (a dataset other than the expected one, transforms that lack their data, a share
/// outside the batch), unsupported (a missing device), memory (the ring does not fit), and those of
/// choose_decoding.
LoaderPlan make_loader_plan(std::shared_ptr<const cohort::Cohort> cohort,
                            const LoaderConfig& config, std::shared_ptr<const SamplePlan> plan,
                            std::shared_ptr<const Preprocessing> preprocessing, bool with_labels,
                            Share share = {});

}  // namespace headrace::loader::detail
