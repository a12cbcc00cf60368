#pragma once
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"

namespace headrace::cohort {

/// A note that a store holds about an image or one of its label images.
struct StoredNote {
  std::string image;
  std::string labels;  ///< the label set; empty: a note about the image itself
  std::string text;    ///< a sentence
};

/// All notes of a store's version: by image, those of the image before those of its labels. A note
/// of a newer version, or a damaged one, reads as a sentence that says so. Errors: io, malformed.
std::vector<StoredNote> notes_of(const Cohort& cohort);

}  // namespace headrace::cohort
