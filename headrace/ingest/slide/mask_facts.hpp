#pragma once
#include <cstdint>
#include <string>

#include "headrace/ingest/inputs/doubt.hpp"

namespace headrace::ingest {

/// What the pixels of a mask image are, as far as it decides how the mask is read.
struct MaskFacts {
  std::uint64_t background = 0;  ///< pixels of the mask
  std::uint64_t painted = 0;     ///< those of a class above 0, or of a class set
  std::uint64_t ignored = 0;     ///< those of ignore, or of full_scale
  /// 255 or 65535 where the mask has that value and could mean its only class by it; else 0.
  std::uint16_t full_scale = 0;
  bool plain_values = false;         ///< values are label values: coding `classes`, none stated
  bool full_scale_is_class = false;  ///< settled by RunOfMasks
};

/// All masks of a run, which together show what 255 means in masks of 0 and 255, as most programs
/// write them: where any has the value of a class, it is ignore, as documented; where none has, it
/// is the class of a store that has one. Adding: one thread.
class RunOfMasks {
 public:
  void add(const MaskFacts& facts);
  /// A mask that an earlier run read: it may have classes.
  void add_earlier() noexcept { any_class_ = true; }
  /// Settles full_scale_is_class. Accepting Doubt::ignore_only states that 255 is ignore. Errors:
  /// malformed, for a mask without a class that is not all background (`file` names it).
  void settle(const std::string& file, const Accepted& accepted, MaskFacts& facts) const;

 private:
  bool any_class_ = false, any_binary_ = false;
};

}  // namespace headrace::ingest
