#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::loader {

/// One of n slots, all drawn equally often.
struct AliasSlot {
  std::uint32_t keep_below = 0;  ///< coins below it keep the slot's own index
  std::uint32_t alias = 0;       ///< the others take this one; a full slot's alias is itself
};

/// The slots of AliasTable, for tables that keep many of them in one piece of memory.
std::vector<AliasSlot> alias_slots(std::span<const double> weights);

/// Draws an index with probability weight / sum of weights in constant time.
///
/// in      weights  not negative, finite, at least one above 0
/// errors  internal (weights)
/// source  Vose, A linear algorithm for generating random numbers with a given distribution, IEEE
///         TSE 17 (9), 1991
/// error   each probability is within 2^-31 of weight / sum; a weight of 0 is never drawn
class AliasTable {
 public:
  AliasTable() = default;
  explicit AliasTable(std::span<const double> weights) : slots_(alias_slots(weights)) {}

  bool empty() const noexcept { return slots_.empty(); }
  std::size_t size() const noexcept { return slots_.size(); }
  std::size_t draw(std::uint32_t slot_word, std::uint32_t coin) const noexcept {
    const std::size_t i = (std::uint64_t{slot_word} * slots_.size()) >> 32;
    return coin < slots_[i].keep_below ? i : slots_[i].alias;
  }
  /// The probability that draw gives `index`, from the table itself.
  std::vector<double> probabilities() const;
  std::size_t size_bytes() const noexcept { return slots_.capacity() * sizeof(AliasSlot); }

 private:
  std::vector<AliasSlot> slots_;
};

}  // namespace headrace::loader
