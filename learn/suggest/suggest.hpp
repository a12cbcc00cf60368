#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/suggest/greedy_choice.hpp"
#include "learn/suggest/image_pool.hpp"

namespace headrace::suggest {

struct SuggestRequest {
  PoolRequest pool;
  std::size_t count = 20;  ///< images to suggest, at most
  CaseOrder cases = CaseOrder::each_first;
  int threads = 0;  ///< 0: one for each core
};

/// How uncertain the prediction of an image is: 1 - (1 - entropy) · (1 - disputed) · (1 - open), so
/// each kind of doubt adds to it, and none can hide another.
struct Uncertainty {
  double entropy = 0;                    ///< MapSummary::tail_entropy
  std::optional<double> disputed_share;  ///< of an ensemble (disputed_share())
  double open = 0;                       ///< OpenDoubt::value

  double total() const;  ///< 0 to 1
};

/// A line of the worklist.
struct Suggestion {
  std::size_t rank = 0;  ///< from 1
  std::string id, case_id, scanner;
  std::string source;  ///< path that was predicted (result::ImageFacts::source)
  Uncertainty uncertainty;
  /// To the nearest image that is labelled or above it in the list, and its id; none for the first
  /// where nothing is labelled.
  std::optional<double> distance;
  std::optional<std::string> nearest;
  std::string why, look_first;        ///< in words
  std::vector<std::uint64_t> places;  ///< regions (slides) or lesions (CT) to look at first
  std::vector<std::string> warnings;  ///< codes of quality remarks
};

struct Worklist {
  std::vector<Suggestion> suggestions;
  std::size_t candidates = 0;  ///< predicted images without labels
  std::size_t labelled = 0;    ///< predicted images with labels, from which distances count
  std::size_t labelled_without_result = 0, of_other_splits = 0;
  /// Ids that take no part: images of the store without a prediction, predictions of images that
  /// the store does not have, and those in which nothing was predicted (glass, air).
  std::vector<std::string> not_predicted, not_in_store, empty;

  /// RFC 4180, one line for each suggestion (docs/labelling.md, "The worklist").
  std::string csv() const;
  Json to_json() const;
};

/// Which images to label next: uncertain ones that are unlike each other and unlike what is
/// labelled already. Reads predictions and the metadata of stores, no pixels of images. The same
/// input gives the same list; equal ones are in the order of their ids.
///
/// time    that of reading all maps
/// errors  those of open_pool and summarise_maps; usage (nothing was predicted in any image)
Worklist suggest(const SuggestRequest& request);

}  // namespace headrace::suggest
