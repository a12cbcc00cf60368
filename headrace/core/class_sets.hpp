#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace {

/// A label value that stands for several classes, where an annotator did not state which one:
/// "cancer" for patterns 3, 4 and 5. Values 0 to C - 1 are the classes, C, C + 1, … the sets in the
/// order of their names; 255 is ignore.
struct ClassSet {
  std::string name;
  std::vector<std::uint8_t> classes;  ///< label values below C, rising, two at least
  bool operator==(const ClassSet&) const = default;
};

/// texts: "cancer=pattern3+pattern4+pattern5", as in options. Returns the sets sorted by name.
/// Errors: usage, with `origin` in front (no name, a name twice or that of a class, an unknown
/// class (with the nearest name), fewer than two classes, more than 255 values in all).
std::vector<ClassSet> parse_class_sets(const std::vector<std::string>& texts,
                                       const std::vector<std::string>& classes,
                                       const std::string& origin);

/// To {"cancer": ["pattern3", …]}, and back. Errors of the way back: malformed, with `origin` in
/// front.
Json to_json(const std::vector<ClassSet>& sets, const std::vector<std::string>& classes);
std::vector<ClassSet> class_sets_of(const Json& json, const std::vector<std::string>& classes,
                                    const std::string& origin);

/// Names by label value: the classes, then the sets.
std::vector<std::string> label_names(const std::vector<std::string>& classes,
                                     const std::vector<ClassSet>& sets);

/// Classes that may be true; an integer converts, bit c being class c.
using ClassMask = std::bitset<256>;
/// For each of the 256 label values: its class, or the classes of its set; no bit where it is
/// neither.
std::vector<ClassMask> classes_by_value(std::size_t classes, const std::vector<ClassSet>& sets);

/// What a label tells about a region that is made of some classes.
enum class Membership : std::uint8_t { outside, inside, undecided };

/// For each of the 256 label values: whether a pixel of that value lies in the region made of the
/// classes for which `region` is true. A set is inside when all its classes are, and outside when
/// none is. All else is undecided: other sets, ignore, and values that are neither class nor set.
std::vector<Membership> region_membership(const std::vector<bool>& region,
                                          const std::vector<ClassSet>& sets);

}  // namespace headrace
