#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::suggest {

/// Where the images are and which of them have labels. Images are matched by their ids.
struct PoolRequest {
  std::vector<std::string> results;  ///< output folders of headrace predict, or of one image
  std::string store;                 ///< to be labelled: its images alone are suggested; empty: any
  std::string labelled;              ///< another store whose labelled images count; empty: none
  std::string split;                 ///< of the store: only its images of this split; empty: all
  /// The label sets that decide, in both stores: labels of one of them will do.
  std::vector<std::string> labels{"annotation"};
};

/// A predicted image.
struct PooledImage {
  result::ImageResult result;
  std::string case_id;  ///< of the store, else of the prediction; the id where it states none
  bool labelled = false;
  /// What a store knows of it; null where no store has it. Kept alive by the pool.
  const cohort::ImageRecord* record = nullptr;
};

struct ImagePool {
  std::vector<std::shared_ptr<const cohort::Cohort>> stores;
  std::vector<PooledImage> images;  ///< sorted by id
  /// Ids of unlabelled images of the store that have no prediction.
  std::vector<std::string> not_predicted;
  /// Ids of predictions of images that are in no store that was named.
  std::vector<std::string> not_in_store;
  std::size_t of_other_splits = 0;  ///< predicted images without labels of another split
  /// Labelled images without a prediction: distances can't regard them.
  std::size_t labelled_without_result = 0;

  std::size_t candidates() const;
};

/// An image has labels when its label image of a set has a class above 0, or when it is known to
/// hold none (cohort::Annotation).
///
/// errors  not_found (no finished predictions); usage (predictions by other weights, of both kinds,
///         or twice of one id; a store of the other kind; a set that the store does not have beside
///         others; a split without images, or without a store; nothing is left to be labelled), those of Cohort::open
ImagePool open_pool(const PoolRequest& request);

}  // namespace headrace::suggest
