#include "headrace/ranks/team.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "headrace/core/log.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/ranks/control.hpp"

namespace headrace::ranks {
namespace {

using detail::Control;
using detail::kNever;
using detail::Member;
using Clock = std::chrono::steady_clock;

/// How long a sleep lasts before the others are checked: a dead process wakes no one.
constexpr long kLookEveryNs = 250'000'000;

void sleep_until_rung(std::atomic<std::uint32_t>& bell, std::uint32_t seen) {
  const timespec limit{0, kLookEveryNs};
  syscall(SYS_futex, &bell, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void ring(std::atomic<std::uint32_t>& bell) {
  bell.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void make_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

/// Whether its thread still holds the member's mutex.
bool is_alive(Member& member) {
  const int taken = pthread_mutex_trylock(&member.alive);
  if (taken == EBUSY) return true;
  if (taken == EOWNERDEAD) pthread_mutex_consistent(&member.alive);
  if (taken == 0 || taken == EOWNERDEAD) pthread_mutex_unlock(&member.alive);
  return false;
}

/// A file descriptor with a lock on its file, for as long as it lives.
struct Locked {
  explicit Locked(int descriptor) : fd(descriptor) {
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Locked() {
    if (fd < 0) return;
    flock(fd, LOCK_UN);  // a mapping of the file would keep the lock
    close(fd);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  int fd;
};

}  // namespace

struct Team::State {
  Place place;
  std::string name;  ///< of the shared object, while others may still join by it
  Control* control = nullptr;
  Member* self = nullptr;
  std::uint64_t meetings = 0;
  bool over = false;    ///< an error ended it
  bool speaks = false;  ///< set after an error

  ~State() { leave(); }

  Member& member(int rank) const { return control->members()[rank]; }
  bool try_join(const std::string& what);
  Control* open_control(int fd, bool& fresh) const;
  void await_all(Team::Patience patience);
  bool arrived_or_gone(int rank, std::uint64_t meeting) const;
  void come(std::string_view note);
  std::optional<int> lowest_failure() const;
  [[noreturn]] void throw_failure(int rank);
  void leave() noexcept;
};

/// The memory behind `fd`, set up if it is new. Its lock is held.
Control* Team::State::open_control(int fd, bool& fresh) const {
  struct stat status {};
  fstat(fd, &status);
  const std::size_t bytes = Control::bytes(place.size);
  fresh = status.st_size == 0;
  if (!fresh && static_cast<std::size_t>(status.st_size) != bytes) {
    headrace::fail(
        ErrorCode::usage,
        "Another start of this training is under way, with another number of processes than {}. "
        "Wait for it, or give another --out.",
        place.size);
  }
  if (const int error = fresh ? posix_fallocate(fd, 0, static_cast<off_t>(bytes)) : 0; error != 0) {
    ftruncate(fd, 0);
    headrace::fail(ErrorCode::memory, "/dev/shm has no room for {} KiB ({}). Make room there.",
                   bytes >> 10, std::strerror(error));
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    headrace::fail(ErrorCode::memory, "{} KiB of /dev/shm can't be mapped ({}).", bytes >> 10,
                   std::strerror(errno));
  }
  auto* shared = static_cast<Control*>(data);
  // A process that was killed while setting it up has written no layout.
  fresh |= shared->layout != detail::kLayout;
  if (fresh) {
    new (shared) Control;
    for (int r = 0; r < place.size; ++r) make_mutex((new (shared->members() + r) Member)->alive);
    shared->size = static_cast<std::uint32_t>(place.size);
    shared->layout = detail::kLayout;
  }
  return shared;
}

/// One try to take this rank's place; false where the object belonged to a start that is over, and
/// was removed.
bool Team::State::try_join(const std::string& object) {
  const Locked file(shm_open(object.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file.fd < 0) {
    headrace::fail(
        ErrorCode::io,
        "/dev/shm{} can't be opened ({}), and processes of a training meet there. Mount /dev/shm, "
        "or train in one process.",
        object, std::strerror(errno));
  }
  struct stat status {};
  fstat(file.fd, &status);
  if (status.st_nlink == 0)
    return false;  // its last member came while this process waited for the
                   // lock
  bool fresh = false;
  Control* shared = open_control(file.fd, fresh);
  bool stale = false;
  int here = 0;
  for (int r = 0; r < place.size; ++r) {
    Member& other = shared->members()[r];
    if (other.process == 0) continue;
    ++here;
    stale |= !is_alive(other);
  }
  Member& mine = shared->members()[place.rank];
  const std::uint32_t holder = mine.process;
  if (stale || holder != 0) {
    munmap(shared, Control::bytes(place.size));
    if (stale) {
      shm_unlink(object.c_str());
      return false;
    }
    headrace::fail(
        ErrorCode::usage,
        "Process {} already trains into this run folder as rank {} of {}. Wait for it, give "
        "another --out, or give every process its own RANK.",
        holder, place.rank, place.size);
  }
  control = shared;
  self = &mine;
  pthread_mutex_lock(&mine.alive);
  mine.process = static_cast<std::uint32_t>(getpid());
  name = object;
  if (here + 1 == place.size) {
    shm_unlink(object.c_str());  // no other process is to come, and nothing remains however it ends
    name.clear();
  }
  ring(shared->bell);
  return true;
}

void Team::State::await_all(Patience patience) {
  const Clock::time_point start = Clock::now();
  bool told = false;
  for (;;) {
    const std::uint32_t seen = control->bell.load(std::memory_order_acquire);
    std::vector<int> missing;
    for (int r = 0; r < place.size; ++r) {
      if (member(r).process == 0) {
        missing.push_back(r);
      } else if (r != place.rank && member(r).arrived != kNever && !is_alive(member(r)) &&
                 member(r).arrived != kNever) {
        headrace::fail(ErrorCode::io, "Process {} of {} ended before the training began.", r,
                       place.size);
      }
    }
    if (missing.empty()) break;
    const auto waited = Clock::now() - start;
    if (!told && waited > patience.tell) {
      log::warning("process {} of {} waits for processes {}", place.rank, place.size,
                   fmt::join(missing, ", "));
      told = true;
    }
    if (waited > patience.give_up) {
      headrace::fail(
          ErrorCode::io,
          "Process {} waited for processes {} of {}, who did not come. Start as many as WORLD_SIZE "
          "says, with the same --out.",
          place.rank, fmt::join(missing, ", "), place.size);
    }
    sleep_until_rung(control->bell, seen);
  }
  name.clear();
}

bool Team::State::arrived_or_gone(int rank, std::uint64_t meeting) const {
  Member& other = member(rank);
  if (other.arrived.load(std::memory_order_acquire) >= meeting) return true;
  // Read again: it may have arrived and left in order in between.
  return !is_alive(other) && other.arrived.load(std::memory_order_acquire) < meeting;
}

/// Arrives at the next meeting and waits for all.
void Team::State::come(std::string_view note) {
  const std::uint64_t meeting = ++meetings;
  detail::Note& mine = self->notes[meeting % 2];
  mine.size = static_cast<std::uint32_t>(note.size());
  std::copy(note.begin(), note.end(), mine.bytes);
  mine.meeting = meeting;
  self->arrived.store(meeting, std::memory_order_release);
  ring(control->bell);
  for (int r = 0; r < place.size; ++r) {
    for (;;) {
      const std::uint32_t seen = control->bell.load(std::memory_order_acquire);
      // Only after a sleep: checking a living member's mutex costs a little.
      if (member(r).arrived.load(std::memory_order_acquire) >= meeting) break;
      sleep_until_rung(control->bell, seen);
      if (arrived_or_gone(r, meeting)) break;
    }
  }
}

/// For this meeting: who came with an error, or did not come.
std::optional<int> Team::State::lowest_failure() const {
  for (int r = 0; r < place.size; ++r) {
    Member& other = member(r);
    if (other.failed_from.load(std::memory_order_acquire) <= meetings ||
        other.arrived.load(std::memory_order_acquire) < meetings)
      return r;
  }
  return std::nullopt;
}

void Team::State::throw_failure(int rank) {
  Member& other = member(rank);
  if (other.failed_from.load(std::memory_order_acquire) <= meetings) {
    const auto code = static_cast<ErrorCode>(other.code);
    if (rank == 0) throw Error(code, other.text);
    throw Error(code, fmt::format("process {} of {}: {}", rank, place.size, other.text));
  }
  headrace::fail(
      ErrorCode::io,
      "Process {} of {} (pid {}) ended without a word: it was killed, or the machine ran "
      "out of memory. Go on with --resume.",
      rank, place.size, other.process.load());
}

void Team::State::leave() noexcept {
  if (self == nullptr) return;
  self->arrived.store(kNever, std::memory_order_release);
  pthread_mutex_unlock(&self->alive);
  ring(control->bell);
  if (!name.empty()) {
    // Not all had come. The object that others may still find under the name is no longer valid.
    const Locked file(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
    struct stat status {};
    if (file.fd >= 0 && fstat(file.fd, &status) == 0 && status.st_nlink > 0)
      shm_unlink(name.c_str());
  }
  munmap(control, Control::bytes(place.size));
  self = nullptr;
}

Team::Team() : state_(std::make_unique<State>()) {}
Team::Team(std::unique_ptr<State> state) : state_(std::move(state)) {}
Team::~Team() = default;
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&&) noexcept = default;

Team Team::join(const Place& place, const std::string& what, Patience patience) {
  auto state = std::make_unique<State>();
  state->place = place;
  if (place.size > 1) {
    const std::string of = fmt::format("{}\n{}\n{}", geteuid(), what, place.start);
    const std::string object = "/headrace-" + sha256_hex(of).substr(0, 32);
    while (!state->try_join(object)) {
    }
    state->await_all(patience);
  }
  return Team(std::move(state));
}

int Team::rank() const noexcept { return state_->place.rank; }
int Team::size() const noexcept { return state_->place.size; }

std::vector<std::string> Team::gather(std::string_view note) {
  State& state = *state_;
  if (state.place.size == 1) return {std::string(note)};
  if (note.size() > detail::kNoteBytes) {
    headrace::fail(ErrorCode::internal, "A note of {} bytes; {} at most.", note.size(),
                   detail::kNoteBytes);
  }
  state.come(note);
  if (const auto failed = state.lowest_failure()) {
    state.over = true;
    int speaker = 0;
    while (state.member(speaker).arrived.load(std::memory_order_acquire) < state.meetings)
      ++speaker;
    state.speaks = speaker == state.place.rank;
    state.throw_failure(*failed);
  }
  std::vector<std::string> notes;
  for (int r = 0; r < state.place.size; ++r) {
    const detail::Note& other = state.member(r).notes[state.meetings % 2];
    notes.emplace_back(other.bytes, other.meeting == state.meetings ? other.size : 0);
  }
  return notes;
}

SharedMemory Team::share(std::size_t bytes) {
  SharedMemory memory;
  if (first()) memory = SharedMemory::create(bytes);
  const std::string handle = gather(first() ? memory.handle() : "").front();
  if (!first()) memory = SharedMemory::open(handle, bytes);
  meet();
  memory.close_handle();
  return memory;
}

void Team::fail(ErrorCode code, const std::string& text) noexcept {
  State& state = *state_;
  if (state.place.size == 1 || state.over) return;
  state.over = true;
  Member& self = *state.self;
  self.code = static_cast<std::int32_t>(code);
  const std::size_t length = std::min(text.size(), detail::kTextBytes - 1);
  std::memcpy(self.text, text.data(), length);
  self.text[length] = '\0';
  self.failed_from.store(state.meetings + 1, std::memory_order_release);
  state.come({});
  int speaker = 0;
  while (state.member(speaker).arrived.load(std::memory_order_acquire) < state.meetings) ++speaker;
  state.speaks = speaker == state.place.rank;
}

bool Team::speaks() const noexcept { return state_->over ? state_->speaks : first(); }

int share_of_cores(Team& team) {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  const auto notes = team.gather({reinterpret_cast<const char*>(&own), sizeof own});
  double share = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &own)) continue;
    int takers = 0;
    for (const std::string& note : notes) {
      cpu_set_t other;
      if (note.size() != sizeof other) continue;
      std::memcpy(&other, note.data(), sizeof other);
      takers += CPU_ISSET(core, &other) ? 1 : 0;
    }
    share += 1.0 / std::max(takers, 1);
  }
  return std::max(1, static_cast<int>(share + 1e-6));
}

}  // namespace headrace::ranks
