#pragma once

/// What programs that use the library include: stores, reading, batches, transforms and ingest.
/// learn/learn.hpp has figures, configs of runs and processing besides. docs/library.md has examples.

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/labels/ingest_labels.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/ingest/versions/verify.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"
#include "headrace/loader/dlpack.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_spec.hpp"
#include "headrace/version.hpp"
