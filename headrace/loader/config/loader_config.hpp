#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/auto_switch.hpp"
#include "headrace/device/device_choice.hpp"
#include "headrace/loader/config/loader_options.hpp"
#include "headrace/storage/network_options.hpp"
#include "headrace/transform/slide/patch_spec.hpp"
#include "headrace/transform/slide/slide_transform_list.hpp"
#include "headrace/transform/volume/volume_patch_spec.hpp"
#include "headrace/transform/volume/volume_transform_list.hpp"
#include "headrace/zarr/device_decoder.hpp"

namespace headrace::loader {

/// What decides batches: the part of RUN.yaml (docs/runbook.md has every key) that ends where a
/// batch is handed over. What is trained and judged with batches is config::LoaderConfig's, which is
/// this and the rest. Everything but `task` and `data.store` has a default.
///
/// The lists of transforms are of types that are only declared here: who makes a list in C++ or
/// looks into one includes transform/slide/slide_spec.hpp or transform/volume/volume_spec.hpp.
struct LoaderConfig {
  Task task = Task::segmentation;
  struct Data {
    /// A relative path is looked for in the working directory, then beside the config file.
    std::string store;
    std::string labels = "annotation";         ///< name of the label images; empty (null): none
    std::string train = "train", val = "val";  ///< split names of the cohort table
    std::optional<std::string> expect_hash;    ///< refuse to run on another dataset
    /// For volumes: the channels of the store that the run reads, in this order; empty: all.
    std::vector<std::string> channels;
    std::string version;  ///< of the store: a dataset hash or its beginning; empty: the current one
    Outside outside = Outside::background;
    /// Cross-validation by patient (plan/folds.hpp): 0 takes the splits as they are; else `fold` of
    /// so many is judged, and the others are trained on.
    int folds = 0, fold = 0;
    SamePixels same_pixels = SamePixels::refuse;
    std::uint64_t folds_seed = 0;  ///< of the deal, so that it is the same for every sampling.seed
  } data;
  /// patch.mpp: null sets mpp = 1 and patch_in_level0_pixels: every "micrometre" is then a pixel of
  /// level 0.
  transform::PatchSpec patch;
  bool patch_in_level0_pixels = false;
  /// patch.size of three numbers: a run on volumes. patch.spacing_mm null sets
  /// patch_in_level0_pixels: every "millimetre" is then a voxel of level 0, axis by axis.
  bool volumes = false;
  transform::VolumePatchSpec volume_patch;
  struct Sampling {
    std::uint64_t seed = 0;
    std::int64_t batch = 16, batches_per_epoch = 100;
    /// Part of the samples drawn by `balance`; the rest lie on tissue, or in the body.
    double foreground = 0.9;
    Balance balance = Balance::automatic;
    /// Share of the samples for each cohort, whatever its size; empty: by the cohorts' own sizes.
    std::map<std::string, double> cohort_weights;
    /// Centres are moved so that a patch that is not turned lies inside its image.
    bool keep_inside = true;
    /// Chance of a region among those of one class in one image: its size to this power, 0 (all
    /// alike) to 1 (in proportion).
    double lesion_size_power = 0.5;
    double background = 0.1;  ///< part of the rest that lies anywhere in the image
    /// Part of the rest that lies near lesions but not on them: at most near_distance away along
    /// each axis, in micrometres or millimetres.
    double near_lesions = 0, near_distance = 500;
    std::vector<std::string> near_classes;  ///< the lesion classes; empty: every class above 0
    SampleOrder order = SampleOrder::random;
    /// Samples come from so many images at a time, so many of each; 0 images: from all at once.
    std::int64_t window_images = 0, patches_per_image = 16;
    /// Slides: least share of tissue under a patch that lies on tissue.
    double min_tissue = 0;
  } sampling;
  transform::TransformList transforms;  ///< of slides
  /// One way of looking at the place of a sample: so many patches of it, each drawn by itself.
  struct View {
    std::string name;
    int crops = 1;
    transform::PatchSpec patch;  ///< of context {1}
    transform::TransformList transforms;
  };
  /// Slides: what a sample is instead of one patch; of the first, a batch's `image` consists. Places
  /// are drawn for `patch`, whatever the sizes here. Empty: `patch` and `transforms` alone.
  std::vector<View> views;
  transform::VolumeTransformList volume_transforms;
  struct Loader {
    int threads = 0;   ///< 0: every core
    int prefetch = 4;  ///< batches
    device::DeviceChoice device = device::DeviceChoice::automatic;
    ElementChoice element = ElementChoice::automatic;
    LayoutChoice layout = LayoutChoice::automatic;
    std::int64_t device_memory_mib = 0;  ///< of the GPU, for batches; 0: at most half of the free
    zarr::DecodeOn decode = zarr::DecodeOn::automatic;       ///< for batches made on a GPU
    storage::GpuDirect gpudirect = storage::GpuDirect::off;  ///< for chunks decoded there
    /// Whether the model computes in mixed precision (the key train.amp): of a batch that is made
    /// on a GPU it decides the element, where `element` leaves that open.
    AutoSwitch amp = AutoSwitch::automatic;
  } loader;
  /// Patches that cover images in a fixed order: the keys eval.overlap and eval.batch.
  struct Tiles {
    double overlap = 0.5;  ///< part of the patch edge shared by neighbouring tiles
    std::int64_t batch = 16;
  } tiles;
  storage::NetworkOptions network;

  /// Reads the loader's part of a RUN.yaml: task, data, patch, sampling, transforms, loader,
  /// network, train.amp, eval.overlap and eval.batch. The sections behind the batch may be there, and are
  /// not looked into otherwise. Errors: usage, with file, line, key and the nearest valid key or
  /// value; of `load` also not_found and malformed.
  static LoaderConfig load(const std::string& file);
  static LoaderConfig parse(const std::string& text, const std::string& name);

  /// Allows connections to the hosts that it names, with its limits, for the process. `load` does it;
  /// a config that no user wrote for this process (of a run's folder) names none.
  void use_network() const;
};

}  // namespace headrace::loader
