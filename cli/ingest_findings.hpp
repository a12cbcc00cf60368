#pragma once
#include "headrace/ingest/inputs/unused_files.hpp"
#include "headrace/ingest/slide/annotation_counts.hpp"
#include "headrace/ingest/store/store_report.hpp"

namespace headrace::cli {

/// Prints which objects of annotations were left out.
void print_annotations(const ingest::AnnotationCounts& counts);

/// Prints what an ingest left out, guessed or resolved, and what its labels teach, as lines on
/// standard output.
void print_findings(const ingest::StoreReport& report, const ingest::UnusedFiles& unused);
/// Of these only what labels teach, and notes of images.
void print_findings(const ingest::StoreReport& report);

}  // namespace headrace::cli
