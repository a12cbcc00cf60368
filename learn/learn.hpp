#pragma once

/// What programs that work with batches include besides headrace/headrace.hpp: configs of runs,
/// figures, and processing of whole images. Training, and evaluation of a run, are in
/// learn/train/trainer.hpp and learn/train/evaluate_run.hpp, in builds with LibTorch.
/// docs/library.md has examples.

#include "headrace/headrace.hpp"
#include "learn/config/run_config.hpp"
#include "learn/measure/slide/slide_metrics.hpp"
#include "learn/measure/volume/volume_metrics.hpp"
#include "learn/process/process.hpp"
