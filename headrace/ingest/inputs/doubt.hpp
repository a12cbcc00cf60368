#pragma once
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/error.hpp"

namespace headrace::ingest {

/// What is more likely an error than meant. It is refused, unless the user states that it is meant.
enum class Doubt {
  unmatched,      ///< no file of a folder of annotations or labels fits an image
  outside,        ///< all of an annotation lies outside its image
  no_area,        ///< an annotation that should hold a class paints nothing
  ignore_only,    ///< every pixel or voxel of an annotation is ignore
  colour_mask,    ///< a mask image in colours
  values,         ///< values that can't be of their unit
  invented,       ///< more slices would be filled in than are there
  enlarged,       ///< an image is predicted at more than twice its own resolution
  same_pixels,    ///< images of different splits are the same picture
  similar_cases,  ///< cases of different splits whose names differ by how they are written
  grades          ///< grades of a row that contradict each other
};

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::Doubt> =
    names<ingest::Doubt>({{ingest::Doubt::unmatched, "unmatched"},
                          {ingest::Doubt::outside, "outside"},
                          {ingest::Doubt::no_area, "no-area"},
                          {ingest::Doubt::ignore_only, "ignore-only"},
                          {ingest::Doubt::colour_mask, "colour-mask"},
                          {ingest::Doubt::values, "values"},
                          {ingest::Doubt::invented, "invented"},
                          {ingest::Doubt::enlarged, "enlarged"},
                          {ingest::Doubt::same_pixels, "same-pixels"},
                          {ingest::Doubt::similar_cases, "similar-cases"},
                          {ingest::Doubt::grades, "grades"}});
}  // namespace headrace

namespace headrace::ingest {

/// The doubts that the user states to be meant.
using Accepted = std::vector<Doubt>;

bool accepts(const Accepted& accepted, Doubt doubt) noexcept;

/// Refuses what is doubtful, or reports it as a warning where it is accepted.
/// sentence: what, where, found against expected; without a full stop.
/// Errors: code; the sentence, and the option that accepts it.
void refuse_unless(const Accepted& accepted, Doubt doubt, ErrorCode code,
                   const std::string& sentence);

}  // namespace headrace::ingest
