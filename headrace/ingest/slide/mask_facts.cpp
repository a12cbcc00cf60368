#include "headrace/ingest/slide/mask_facts.hpp"

#include <fmt/format.h>

#include "headrace/core/ignore_label.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {

void RunOfMasks::add(const MaskFacts& facts) {
  any_class_ |= facts.painted > 0;
  any_binary_ |= facts.full_scale > 0 && facts.background > 0;
}

void RunOfMasks::settle(const std::string& file, const Accepted& accepted, MaskFacts& facts) const {
  if (facts.painted > 0 || facts.ignored == 0) return;
  const bool may_be_class = facts.plain_values && facts.full_scale > 0 && !any_class_ &&
                            any_binary_ && !accepts(accepted, Doubt::ignore_only);
  if (may_be_class) {
    facts.full_scale_is_class = true;
    return;
  }
  if (facts.full_scale > kIgnoreLabel) {
    fail(ErrorCode::malformed,
         "mask {}: value {} ({} pixels) is no class; state what it is: {} NAME={}", file,
         facts.full_scale, facts.ignored, Option{"classes"}, facts.full_scale);
  }
  if (facts.background == 0) {
    refuse_unless(accepted, Doubt::ignore_only, ErrorCode::malformed,
                  fmt::format("mask {}: all of its {} pixels are ignore, so it teaches nothing; "
                              "where 255 is a class, state it: {} NAME=255",
                              file, facts.ignored, Option{"classes"}));
  } else if (facts.plain_values && !any_class_) {
    refuse_unless(
        accepted, Doubt::ignore_only, ErrorCode::malformed,
        fmt::format("mask {}: its values are 0 ({} pixels) and 255 ({} pixels), which is ignore, "
                    "so it teaches no class; where 255 is a class, state it: {} NAME=255",
                    file, facts.background, facts.ignored, Option{"classes"}));
  }
}

}  // namespace headrace::ingest
