#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learn/result/image_result.hpp"

namespace headrace::suggest {

/// What the findings of one image leave open: how much of what they say about the patient may be
/// otherwise, and which regions or lesions it hangs on.
///
/// Slides: the greater of two. The greatest doubt of an equivocal region that would change the
/// grade group; and Σ doubt · area of the equivocal regions / area of the tumour. (The doubt is a
/// margin between two classes, Settles 2009, section 3.1; docs/formats.md, "findings.json of
/// slides".) 0 without tumour.
///
/// CT of a run that looks for lesions: the greatest 1 - |score - t| / max(t, 1 - t) of a lesion,
/// where t is the operating point's threshold, or 1/2 without one. 0 without lesions, and for runs
/// that look for none.
struct OpenDoubt {
  double value = 0;  ///< 0 to 1
  /// Numbers of regions (regions.csv) or lesions (lesions.csv) to look at first, at most
  /// kMostPlaces.
  std::vector<std::uint64_t> places;
  std::string why;  ///< empty where nothing is open
};

inline constexpr std::size_t kMostPlaces = 5;

/// Errors: malformed (findings.json lacks a key).
OpenDoubt open_doubt(const result::ImageResult& image);

/// Part of the predicted pixels on which the networks of an ensemble do not agree (vote entropy's
/// simplest case, query by committee: Settles 2009, section 3.2); none of one network.
std::optional<double> disputed_share(const result::ImageResult& image);

/// Codes of the quality remarks that are warnings.
std::vector<std::string> warnings_of(const result::ImageResult& image);

}  // namespace headrace::suggest
