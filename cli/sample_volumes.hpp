#pragma once
#include "cli/open_run.hpp"
#include "headrace/pixels/image.hpp"

namespace headrace::cli {

/// The montage of `headrace sample` for volumes: for each sample the axial, coronal and sagittal
/// plane through the middle of the patch, as stored and as the model gets it, with labels outlined.
/// The first batch of inputs.plan is shown whole.
pixels::Image8 montage_of_volumes(const RunInputs& inputs);

}  // namespace headrace::cli
