#pragma once
#include <string>
#include <vector>

#include "learn/view/inputs/view_item.hpp"

namespace headrace::view {

struct ViewInputs {
  std::vector<ViewItem> items;  ///< by id
  std::string store;            ///< that reviewed labels go to; empty: none
};

/// The images that are named by
///
///     a store                its images
///     a run folder           the validation images of its store, with the annotation
///     a folder of predict    the predictions, with their images where these are still there
///     a file or a folder     what items_of_path finds
///
/// Images of one id are one item: a store and predictions of it show image, annotation and
/// prediction together. `store`: shows and takes labels for the items whose id it has; empty: the
/// only store among the inputs.
/// errors  not_found, usage, those of Cohort::open and ImageResult::open; each names the input
ViewInputs find_view_inputs(const std::vector<std::string>& inputs, const std::string& store);

}  // namespace headrace::view
