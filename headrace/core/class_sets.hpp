#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace {

/// A label value that stands for several classes, of which an annotator did not say which one:
/// "cancer" for patterns 3, 4 and 5. Values 0 to C - 1 are the classes, C, C + 1, … the sets in the
/// order of their names; 255 is ignore.
struct ClassSet {
  std::string name;
  std::vector<std::uint8_t> classes;  ///< label values below C, rising, two at least
  bool operator==(const ClassSet&) const = default;
};

/// texts: "cancer=pattern3+pattern4+pattern5", as options say it. Returns them sorted by name.
/// Errors: usage, `origin` in front (no name, a name twice or a class's, an unknown class with the
/// nearest, fewer than two classes, more than 255 values in all).
std::vector<ClassSet> parse_class_sets(const std::vector<std::string>& texts,
                                       const std::vector<std::string>& classes,
                                       const std::string& origin);

/// {"cancer": ["pattern3", …]}, and back. Errors of the way back: malformed, `origin` in front.
Json to_json(const std::vector<ClassSet>& sets, const std::vector<std::string>& classes);
std::vector<ClassSet> class_sets_of(const Json& json, const std::vector<std::string>& classes,
                                    const std::string& origin);

/// Names by label value: the classes, then the sets.
std::vector<std::string> label_names(const std::vector<std::string>& classes,
                                     const std::vector<ClassSet>& sets);

/// What a label says of a region, some classes taken together.
enum class Membership : std::uint8_t { outside, inside, undecided };

/// By label value (256 of them): whether a pixel of that value lies in the region made of the
/// classes that `region` has as true. A set is inside when all its classes are, outside when none
/// is; else, as ignore and values that are neither class nor set, it decides nothing.
std::vector<Membership> region_membership(const std::vector<bool>& region,
                                          const std::vector<ClassSet>& sets);

}  // namespace headrace
