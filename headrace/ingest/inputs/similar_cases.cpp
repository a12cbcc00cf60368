#include "headrace/ingest/inputs/similar_cases.hpp"

#include <map>
#include <set>

#include "headrace/core/log.hpp"
#include "headrace/core/unicode_text.hpp"

namespace headrace::ingest {

void refuse_similar_cases(const std::vector<StatedCase>& cases, const Accepted& accept) {
  std::map<std::u32string, std::vector<const StatedCase*>> groups;
  for (const StatedCase& one : cases) {
    auto& group = groups[loosely_written(one.name)];
    bool known = false;
    for (const StatedCase* other : group) known |= other->name == one.name;
    if (!known) group.push_back(&one);
  }
  for (const auto& [name, group] : groups) {
    for (std::size_t i = 1; i < group.size(); ++i) {
      const StatedCase &first = *group[0], &second = *group[i];
      const std::string alike = fmt::format(
          "{}: case '{}' differs from '{}' at {} only by how it is written (blanks, capitals, "
          "leading zeros, the form of Unicode)",
          second.where, second.name, first.name, first.where);
      if (first.split == second.split) {
        log::warning("{}: they are two cases here; where they are one patient, write them alike",
                     alike);
        continue;
      }
      refuse_unless(accept, Doubt::similar_cases, ErrorCode::usage,
                    fmt::format("{}, and is in split '{}', the other in '{}': most likely they are "
                                "one patient. Write them alike",
                                alike, second.split, first.split));
    }
  }
}

}  // namespace headrace::ingest
