#pragma once
#include <string>

namespace headrace::cli {

/// Predicts the images that a finished run was judged on, into RUN/predictions, as `headrace predict`
/// does it: from the store's images, with the final weights. Images that are there already stay, so
/// an interrupted call is gone on with. Errors: those of predict::predict; cancelled (a signal).
void predict_validation(const std::string& run, const std::string& store);

}  // namespace headrace::cli
