#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "learn/result/image_result.hpp"
#include "learn/view/review/finding_list.hpp"
#include "learn/view/review/review_file.hpp"

namespace headrace::view {

struct SavedLabels {
  std::string file;          ///< the label file, beside the verdicts
  std::string set;           ///< the store's label set
  std::uint64_t pixels = 0;  ///< with a label, of level 0; all others are ignore
  std::string dataset_hash;  ///< of the store's new version
};

/// The label set of a reviewer's verdicts: "review", with a name "review-NAME".
std::string review_set(const std::string& reviewer);

/// Makes the verdicts on one prediction labels of the image of its id in `store`, as a new version.
///
///     accepted    the predicted class (a lesion without one: the first that the run looks for)
///     rejected    0, the store's background
///     reclassed   the class of the verdict
///     the rest    255, ignore: nobody looked at it
///
/// Outlines on slices of a volume lie over these, with the value of their class; that of the run's
/// value 0 is background.
///
/// Classes are matched by name, as those of annotations. The label file stays beside the verdicts
/// (reviews/labels/ID/), for `ingest labels` into another store.
/// errors  usage (no verdict and no outline; no store, or one without the class or the image), those of
///         ingest::ingest_labels
SavedLabels save_labels(const result::ImageResult& result, const std::vector<Finding>& findings,
                        const ReviewFile& reviews, const std::string& store,
                        const std::string& set);

}  // namespace headrace::view
