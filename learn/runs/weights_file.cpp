#include "learn/runs/weights_file.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::runs {

std::string weights_file(const RunFolder& folder, const std::string& weights) {
  const std::string file = weights == "best" ? kBestWeights : kFinalWeights;
  if (folder.has(file)) return file;
  const std::string path = folder.path().string();
  if (!folder.has(kFinalWeights)) {
    fail(ErrorCode::not_found,
         "{} is missing; the training has not come that far. Finish the training ({}).",
         folder.describe(file), Option{"resume"});
  }
  if (RunFolder::is_promoted(folder.path())) {
    fail(ErrorCode::not_found,
         "{} is a promoted model, which has no best weights beside those that were promoted. Leave "
         "{} out.",
         path, Option{"weights"});
  }
  fail(ErrorCode::not_found,
       "{} has no best weights: the training has ended, but in none of its validations the figure "
       "that they are chosen by (train.best, else the mean Dice) was defined. Take the final "
       "weights ({} final).",
       path, Option{"weights"});
}

}  // namespace headrace::runs
