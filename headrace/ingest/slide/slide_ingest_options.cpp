#include "headrace/ingest/slide/slide_ingest_options.hpp"

#include "headrace/ingest/inputs/common_options.hpp"

namespace headrace::ingest {

WorkOptions options_of(SlideIngestOptions& o) {
  const std::string cohort = "Cohort", store = "Store";
  return {
      WorkOption{
          "inputs", &o.inputs,
          "slides, images, and folders of them; URLs of slides, or one below which the table's names lie; PANDA's folder is recognised",
          ""}
          .as_argument("INPUT"),
      WorkOption{"out", &o.out, "the store, a folder ending in .zarr", ""}.must_be_given(),
      {"table", &o.table,
       "cohort table (CSV): file, image, case, cohort, scanner, split, primary, secondary, "
       "grade_group, gleason, isup_grade, negative (1: it holds no class above 0; without an "
       "annotation all of it is background), annotation, coding, mpp",
       cohort},
      {"annotations", &o.annotations,
       "folder of masks (PNG, TIFF), QuPath GeoJSON and XML of ASAP, named as the images or with "
       "_mask after it (x.png, x_mask.tif, x.svs.geojson)",
       cohort},
      columns_option(o.columns, cohort),
      {"classes", &o.classes,
       "class names by label value, separated by commas; tumour=2 and organ=1+2 state values of "
       "masks, tumour=Tumor|_0 other names in files of polygons",
       cohort},
      {"class_sets", &o.class_sets,
       "labels that stand for several classes, as cancer=pattern3+pattern4+pattern5, separated by "
       "commas; their label values follow those of the classes in the order of their names",
       cohort},
      {"coding", choice_variable(o.coding), "what values of mask images mean", cohort},
      {"objects", choices_variable(o.objects),
       "which objects of QuPath's GeoJSON are painted, separated by commas", cohort},
      WorkOption{"val_fraction", &o.val_fraction,
                 "share of the cases that the table puts in no split that go to val", cohort}
          .within(0, 1),
      {"mpp", &o.mpp, "micrometres a pixel, for files that do not say", cohort},
      WorkOption{"pixels", choice_variable(o.pixels),
                 "copy: into the store; reference: the slides' files keep them (tiled TIFF and SVS "
                 "with JPEG or JPEG 2000 tiles), and must stay as they are",
                 store}
          .hashed_if(o.pixels != PixelsBy::copy),
      WorkOption{
          "codec", choice_variable(o.codec),
          "auto copies JPEG and JPEG 2000 tiles where it can, else it is blosc-zstd; jpeg is "
          "lossy where it can't copy; jpeg2k only copies. Copied JPEG 2000 has the source's "
          "size and costs the most CPU to read",
          store}
          .hashed(),
      WorkOption{"chunk", &o.chunk,
                 "edge of a chunk in pixels; 0: the codec's default, or the source's tiles", store}
          .hashed(),
      WorkOption{"shard", &o.shard, "edge of a shard (one file) in pixels; 0: near 4096", store}
          .hashed(),
      align_option(o.align, store),
      WorkOption{"clevel", &o.clevel, "effort of the compressor, 0 to 9", store}
          .within(0, 9)
          .hashed(),
      WorkOption{"drop_glass", &o.drop_glass,
                 "make chunks white that lie wholly outside the tissue; says how many; copies no "
                 "tiles",
                 store}
          .hashed(),
      jobs_option(o.jobs),
      on_error_option(o.on_error),
      accept_option(o.accept),
  };
}

}  // namespace headrace::ingest
