#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::runs {

/// log.jsonl of a registry: one line a promotion, only ever added to. Each line has its number from
/// 1 and, as `before`, the SHA-256 of the line before it (without its line feed; null in the
/// first), so that a line that was changed, moved or taken out shows. A rest without a line feed is
/// a promotion that was killed while it wrote, and does not count.
class RegistryLog {
 public:
  /// The lines that there are; an absent file has none. Errors: corrupt (a line does not follow the
  /// one before; names it), malformed, io.
  static RegistryLog load(const std::filesystem::path& file);

  const std::vector<Json>& lines() const noexcept { return lines_; }
  /// SHA-256 of the last line; null without lines. It stands for all of them.
  Json head() const;
  /// The last line of this name; null where there is none.
  const Json* latest(const std::string& name) const;
  bool has_rest() const noexcept { return rest_; }

  /// Adds a line, to which `number` and `before` are added, and syncs it; what a killed writer left
  /// is cut off. When it returns the line is on the disk; when it throws nothing was added. One
  /// writer at a time. Errors: io.
  void append(Json line);

 private:
  std::filesystem::path file_;
  std::vector<Json> lines_;
  std::string last_;        ///< the text of the last line
  std::uint64_t size_ = 0;  ///< bytes of whole lines
  bool rest_ = false;
};

}  // namespace headrace::runs
