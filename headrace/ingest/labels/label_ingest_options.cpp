#include "headrace/ingest/labels/label_ingest_options.hpp"

#include "headrace/ingest/inputs/common_options.hpp"

namespace headrace::ingest {

WorkOptions options_of(LabelIngestOptions& o) {
  return {
      WorkOption{"store", &o.store, "the store's folder", ""}.as_argument("STORE").must_be_given(),
      {"table", &o.table,
       "CSV with the column image (or file), and any of case, cohort, scanner, split, primary, "
       "secondary, grade_group, gleason, isup_grade, negative (1: it holds no class above 0; "
       "without an annotation all of it is background), annotation, coding; of volumes case, "
       "cohort, scanner, split, phase, negative, labels",
       ""},
      WorkOption{"annotations", &o.annotations,
                 "folder of label files named as the images, or with _mask after it: masks, "
                 "GeoJSON, XML of ASAP; of volumes NIfTI, NRRD, MetaImage, DICOM SEG, RTSTRUCT",
                 ""}
          .named({"annotations", "labels"}),
      {"set", &o.set, "the label set that they are of: a reader, a round, consensus", ""},
      columns_option(o.columns, ""),
      {"classes", &o.classes,
       "class names by label value: those of the store, and new ones after them; of volumes also "
       "NAME=5 or NAME=1+2+3 for the values of masks, in any order, and ignore=7",
       ""},
      {"structure_set", choice_variable(o.structure_set),
       "several structure sets, segmentations or masks of one volume with the same class; newest: "
       "by their dates",
       ""},
      {"objects", choices_variable(o.objects),
       "which objects of QuPath's GeoJSON are painted, separated by commas", ""},
      {"coding", choice_variable(o.coding), "what values of mask images mean", ""},
      {"withdraw", &o.withdraw,
       "images, separated by commas, whose labels of the set go; all: of every image", ""},
      {"message", &o.message, "what the log of versions says of it", ""},
      {"key_file", &o.key, "file of the site's key, for DICOM labels (STORE.key)", ""},
      accept_option(o.accept),
      {"jobs", &o.jobs, "threads; 0: every core", ""},
  };
}

}  // namespace headrace::ingest
