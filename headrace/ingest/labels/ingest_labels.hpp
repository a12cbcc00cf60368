#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/imaging/slide/geojson.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/slide/annotation_counts.hpp"
#include "headrace/ingest/slide/mask_coding.hpp"
#include "headrace/ingest/store/store_report.hpp"
#include "headrace/ingest/volume/structure_sets.hpp"

namespace headrace::ingest {

struct LabelIngestOptions {
  std::string store;
  std::string table;                 ///< CSV with the column `image` and the columns to change; or
                                     ///< empty
  std::string annotations;           ///< folder of label files named like the images; or empty
  std::vector<std::string> columns;  ///< further columns of the table that are kept
  std::string set = "annotation";    ///< their label set: a reader, a round, …
  std::vector<std::string>
      classes;  ///< the store's classes, and more after them, as in SlideIngestOptions; empty: the
                ///< store's
  MaskCoding coding = MaskCoding::classes;  ///< of mask images of slides
  /// Objects of GeoJSON that are painted.
  std::vector<imaging::ObjectKind> objects{imaging::ObjectKind::annotation};
  std::vector<std::string> withdraw;  ///< images whose labels of the set are withdrawn; "all": all
                                      ///< images
  std::string message;                ///< for the log of versions, checked by the rules of names
  std::string key;                    ///< site key of DICOM labels; empty: <store>.key
  StructureSets structure_set =
      StructureSets::refuse;  ///< several files of a volume with one class
  int jobs = 0;               ///< threads; 0: every core
  Accepted accept;            ///< doubts that are meant
};

struct LabelIngestResult {
  std::string before, after;  ///< dataset hashes; the same where nothing changed
  std::uint64_t added = 0, replaced = 0, withdrawn = 0, unchanged = 0;  ///< label images
  std::uint64_t columns = 0;  ///< fields of the table that changed
  std::uint64_t classes_added = 0;
  std::uint64_t label_bytes = 0;    ///< written: label images and their lists
  std::uint64_t version_bytes = 0;  ///< also written: the version, the log, memories
  std::vector<std::string> notes;
  AnnotationCounts annotations;  ///< of the files that were read
  StoreReport report;            ///< notes of the images whose labels were named
  UnusedFiles unused;            ///< of the folder of labels
  double seconds = 0;
};

/// Adds, replaces or withdraws label images of a finished store, classes, splits and other columns,
/// as a new version of it. No source of pixels is opened; of slides not even stored pixels are
/// read, of volumes the stored values under the labels. Label files are opened and compared with
/// their image's grid before anything is written; a value in the middle of a mask that is no class
/// shows only then, and leaves the version as it was. Killed at any moment, the store has the
/// version before or the new one, and the same again finishes. Labels with the content of stored
/// ones are not stored again, and files that were read before are not read again.
///
/// errors  usage (no such image, class or set; a case in two splits; classes in another order),
///         not_found, malformed, as the readers of labels; io
LabelIngestResult ingest_labels(const LabelIngestOptions& options);

}  // namespace headrace::ingest
