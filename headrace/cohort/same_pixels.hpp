#pragma once
#include <string>
#include <vector>

#include "headrace/cohort/store_version.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::cohort {

/// Images whose level 0 is the same to the last byte, whatever their names; two or more ids each,
/// ascending, the groups too. By the hashes that the lists of objects have: nothing else is read.
/// An image that is all one fill value has no objects, and is in none. Errors: io, malformed (a
/// list of objects).
std::vector<std::vector<std::string>> same_pixels(const storage::Store& store,
                                                  const StoreVersion& version);

/// An image and the part of the data that it belongs to.
struct ImageOfSplit {
  std::string id, split;
};
/// What to say of images with the same pixels.
struct SamePixels {
  std::string between;  ///< a sentence on those of different splits, which is an error; or empty
  std::vector<std::string> within;  ///< sentences on those of one split
};
SamePixels judge_same_pixels(const std::vector<std::vector<ImageOfSplit>>& groups);

}  // namespace headrace::cohort
