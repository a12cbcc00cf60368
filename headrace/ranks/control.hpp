#pragma once
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

/// What the processes of a team have in one small piece of shared memory. Every member writes its
/// own Member alone and rings the bell, so a process may die between any two instructions and leave
/// nothing half-done that others would wait for.
namespace headrace::ranks::detail {

inline constexpr std::size_t kNoteBytes = 1024, kTextBytes = 2048;
inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// Of a meeting. Two of them, taken in turns: who writes the one of meeting m + 2 has passed m + 1,
/// where everyone arrived who had read that of m.
struct Note {
  std::uint64_t meeting = 0;
  std::uint32_t size = 0;
  char bytes[kNoteBytes];
};

struct alignas(64) Member {
  /// Held by its thread as long as it is there: the kernel frees it when the thread ends, however
  /// it ends.
  pthread_mutex_t alive;
  std::atomic<std::uint32_t> process{0};           ///< 0: not here yet
  std::atomic<std::uint64_t> arrived{0};           ///< meetings; kNever: it comes to no more
  std::atomic<std::uint64_t> failed_from{kNever};  ///< the meeting that it comes to with an error
  std::int32_t code = 0;
  char text[kTextBytes];
  Note notes[2];
};

struct alignas(64) Control {
  std::uint64_t layout = 0;  ///< kLayout once everything is there
  std::uint32_t size = 0;
  std::atomic<std::uint32_t> bell{0};  ///< a futex: rung at every arrival

  Member* members() noexcept { return reinterpret_cast<Member*>(this + 1); }
  static std::size_t bytes(int size) noexcept {
    return sizeof(Control) + static_cast<std::size_t>(size) * sizeof(Member);
  }
};
static_assert(sizeof(Control) % alignof(Member) == 0);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Tells other versions' memory from this one's.
inline constexpr std::uint64_t kLayout = 0x48524b5300000000u + sizeof(Member);

}  // namespace headrace::ranks::detail
