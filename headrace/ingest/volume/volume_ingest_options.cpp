#include "headrace/ingest/volume/volume_ingest_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "headrace/ingest/inputs/common_options.hpp"

namespace headrace::ingest {
namespace {

const std::string kCohort = "Cohort", kChannels = "Channels", kStore = "Store";

WorkOptions inputs_of(VolumeIngestOptions& o) {
  return {
      WorkOption{"inputs", &o.inputs,
                 "files, folders and trees of them; nnU-Net's and the Decathlon's folders are "
                 "recognised",
                 ""}
          .as_argument("INPUT")
          .must_be_given(),
      WorkOption{"out", &o.out, "the store, a folder ending in .zarr", ""}.must_be_given(),
      {"table", &o.table,
       "cohort table (CSV): file, image, case, cohort, scanner, split, phase, negative (1: it "
       "holds no class above 0; without an annotation all of it is background), series, channel, "
       "labels",
       kCohort},
      {"labels", &o.labels, "folder of label files, named as the volumes", kCohort},
      columns_option(o.columns, kCohort),
      {"classes", &o.classes,
       "class names by label value, separated by commas; NAME=TEXT|TEXT takes texts of DICOM for "
       "it, NAME=5 or NAME=1+2+3 values of masks, ignore=7 the value of what is unknown",
       kCohort},
      {"structure_set", choice_variable(o.structure_set),
       "several structure sets, segmentations or masks of one image with the same class; newest: "
       "by their dates",
       kCohort},
      {"number_images", &o.number_images,
       "images of files are named image-0001, image-0002, … in the order of their names, which do "
       "not enter the store",
       kCohort},
      {"class_sets", &o.class_sets,
       "labels that stand for several classes, as lesion=cyst+tumour, separated by commas; their "
       "label values follow those of the classes in the order of their names",
       kCohort},
      WorkOption{"lesion_classes", &o.lesion_classes,
                 "classes whose components are lesions; without: all but the first", kCohort}
          .hashed(),
      // Hashed are the names and units that come of it.
      {"channels", &o.channels,
       "names of the series of one study that become channels of one volume, in order: of files "
       "named case_0000, case_0001, or contrast phases of DICOM series; PET (a name with PET or "
       "SUV in it, or NAME=SUV) beside CT",
       kChannels},
      {"missing_channels", choice_variable(o.missing_channels),
       "images that lack a channel other than the first; zero: it reads as 0 in batches",
       kChannels},
      {"shared_frame", &o.shared_frame,
       "files of one image lie in one world (scanned or registered so): channels on other grids "
       "are resampled onto that of the first",
       kChannels},
      WorkOption{"val_fraction", &o.val_fraction,
                 "share of the cases that nothing puts in a split that go to val", kCohort}
          .within(0, 1),
      {"key_file", &o.key_file,
       "secret of the site for pseudonyms, at least 16 bytes; without: one is made and kept beside "
       "the store",
       kCohort},
  };
}

WorkOptions store_options_of(VolumeIngestOptions& o) {
  const int highest = o.codec == VolumeCodec::zstd ? 22 : 9;
  return {
      WorkOption{"codec", choice_variable(o.codec),
                 "blosc-zstd is smaller, blosc-lz4 is read faster; all are lossless", kStore}
          .hashed(),
      WorkOption{"chunk", &o.chunk, "edge of a chunk in voxels; 0: the default", kStore}.hashed(),
      WorkOption{"shard", &o.shard, "edge of a shard (one file) in voxels; 0: near 192", kStore}
          .hashed(),
      align_option(o.align, kStore),
      WorkOption{"clevel", &o.clevel,
                 "effort of the compressor, 0 to 9 (zstd: 22); -1: the codec's default", kStore}
          .within(-1, highest, fmt::format("0 to {}, or -1 for the default", highest))
          .hashed(),
      jobs_option(o.jobs),
      on_error_option(o.on_error),
      accept_option(o.accept),
  };
}

}  // namespace

WorkOptions source_options_of(VolumeSourceOptions& o, const std::string& group) {
  return {
      WorkOption{"irregular", choice_variable(o.irregular),
                 "missing, doubled or unevenly spaced slices and gantry tilt; resample: to the "
                 "finest step, and slices that are not there are ignore in labels",
                 group}
          .hashed(),
      WorkOption{"rescale", &o.rescale,
                 "SLOPE,INTERCEPT that make Hounsfield units of CT whose DICOM headers state none, "
                 "and of the values of other files, as 1,-1024",
                 group}
          .takes(2)
          .hashed_if(!o.rescale.empty()),
      {"acquisition", &o.acquisition,
       "of DICOM series that hold several acquisitions, time points or reconstructions of the same "
       "places: a number, first, last, all (each is an image), together (one stack)",
       group},
      {"join_series", &o.join_series,
       "DICOM series of one study with one number whose slices fit each other are one: of programs "
       "that give each slice a series of its own",
       group},
  };
}

WorkOptions options_of(VolumeIngestOptions& options) {
  return joined(joined(inputs_of(options), source_options_of(options, "Sources")),
                store_options_of(options));
}

}  // namespace headrace::ingest
