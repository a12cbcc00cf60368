#pragma once
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

/// The contents of the small piece of shared memory of a group. Every rank writes only its own
/// RankState and wakes the others, so a process may die between any two instructions without
/// leaving anything half-done that others would wait for.
namespace headrace::ranks::detail {

inline constexpr std::size_t kNoteBytes = 1024, kTextBytes = 2048;
inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// Notes of a collective. There are two, used in turns: a process that writes the note of
/// collective m + 2 has passed m + 1, where all arrived only after they had read that of m.
struct Note {
  std::uint64_t collective = 0;
  std::uint32_t size = 0;
  char bytes[kNoteBytes];
};

struct alignas(64) RankState {
  /// Held by the rank's thread during its life: the kernel frees it when the thread ends, however
  /// it ends.
  pthread_mutex_t alive;
  std::atomic<std::uint32_t> process{0};  ///< 0: not arrived yet
  std::atomic<std::uint64_t> arrived{0};  ///< number of collectives; kNever: it comes to no
                                          ///< more
  std::atomic<std::uint64_t> failed_from{
      kNever};  ///< the collective that it comes to with an error
  std::int32_t code = 0;
  char text[kTextBytes];
  Note notes[2];
};

struct alignas(64) Control {
  std::uint64_t layout = 0;  ///< kLayout once everything is there
  std::uint32_t size = 0;
  std::atomic<std::uint32_t> bell{0};  ///< a futex, signalled at every arrival

  RankState* states() noexcept { return reinterpret_cast<RankState*>(this + 1); }
  static std::size_t bytes(int size) noexcept {
    return sizeof(Control) + static_cast<std::size_t>(size) * sizeof(RankState);
  }
};
static_assert(sizeof(Control) % alignof(RankState) == 0);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Distinguishes this version's memory from that of others.
inline constexpr std::uint64_t kLayout = 0x48524b5300000000u + sizeof(RankState);

}  // namespace headrace::ranks::detail
