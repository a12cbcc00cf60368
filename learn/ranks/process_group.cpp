#include "learn/ranks/process_group.hpp"

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
#include "headrace/core/option_name.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/ranks/control.hpp"

namespace headrace::ranks {
namespace {

using detail::Control;
using detail::kNever;
using detail::RankState;
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

/// Whether its thread still holds the rank's mutex.
bool is_alive(RankState& member) {
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

struct ProcessGroup::State {
  RankInfo rank_info;
  std::string name;  ///< of the shared object, while others may still join by it
  Control* control = nullptr;
  RankState* self = nullptr;
  std::uint64_t collectives = 0;
  bool over = false;     ///< an error ended it
  bool reports = false;  ///< set after an error

  ~State() { leave(); }

  RankState& state_of(int rank) const { return control->states()[rank]; }
  bool try_join(const std::string& what);
  Control* open_control(int fd, bool& fresh) const;
  void await_all(ProcessGroup::Patience patience);
  bool arrived_or_gone(int rank, std::uint64_t collective) const;
  void come(std::string_view note);
  std::optional<int> lowest_failure() const;
  [[noreturn]] void throw_failure(int rank);
  void leave() noexcept;
};

/// The memory behind `fd`, set up if it is new. Its lock is held.
Control* ProcessGroup::State::open_control(int fd, bool& fresh) const {
  struct stat status {};
  fstat(fd, &status);
  const std::size_t bytes = Control::bytes(rank_info.size);
  fresh = status.st_size == 0;
  if (!fresh && static_cast<std::size_t>(status.st_size) != bytes) {
    headrace::fail(
        ErrorCode::usage,
        "Another start of this training is under way, with another number of processes than {}. "
        "Wait for it, or give another {}.",
        rank_info.size, Option{"out"});
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
    for (int r = 0; r < rank_info.size; ++r)
      make_mutex((new (shared->states() + r) RankState)->alive);
    shared->size = static_cast<std::uint32_t>(rank_info.size);
    shared->layout = detail::kLayout;
  }
  return shared;
}

/// One try to take the place of this rank; false where the object belonged to a start that is over,
/// and was removed.
bool ProcessGroup::State::try_join(const std::string& object) {
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
    return false;  // its last rank came while this process waited for the
                   // lock
  bool fresh = false;
  Control* shared = open_control(file.fd, fresh);
  bool stale = false;
  int here = 0;
  for (int r = 0; r < rank_info.size; ++r) {
    RankState& other = shared->states()[r];
    if (other.process == 0) continue;
    ++here;
    stale |= !is_alive(other);
  }
  RankState& mine = shared->states()[rank_info.rank];
  const std::uint32_t holder = mine.process;
  if (stale || holder != 0) {
    munmap(shared, Control::bytes(rank_info.size));
    if (stale) {
      shm_unlink(object.c_str());
      return false;
    }
    headrace::fail(
        ErrorCode::usage,
        "Process {} already trains into this run folder as rank {} of {}. Wait for it, give "
        "another {}, or give every process its own RANK.",
        holder, rank_info.rank, rank_info.size, Option{"out"});
  }
  control = shared;
  self = &mine;
  pthread_mutex_lock(&mine.alive);
  mine.process = static_cast<std::uint32_t>(getpid());
  name = object;
  if (here + 1 == rank_info.size) {
    shm_unlink(object.c_str());  // no other process is to come, and nothing remains however it ends
    name.clear();
  }
  ring(shared->bell);
  return true;
}

void ProcessGroup::State::await_all(Patience patience) {
  const Clock::time_point start = Clock::now();
  bool told = false;
  for (;;) {
    const std::uint32_t seen = control->bell.load(std::memory_order_acquire);
    std::vector<int> missing;
    for (int r = 0; r < rank_info.size; ++r) {
      if (state_of(r).process == 0) {
        missing.push_back(r);
      } else if (r != rank_info.rank && state_of(r).arrived != kNever && !is_alive(state_of(r)) &&
                 state_of(r).arrived != kNever) {
        headrace::fail(ErrorCode::io, "Process {} of {} ended before the training began.", r,
                       rank_info.size);
      }
    }
    if (missing.empty()) break;
    const auto waited = Clock::now() - start;
    if (!told && waited > patience.tell) {
      log::warning("process {} of {} waits for processes {}", rank_info.rank, rank_info.size,
                   fmt::join(missing, ", "));
      told = true;
    }
    if (waited > patience.give_up) {
      headrace::fail(
          ErrorCode::io,
          "Process {} waited for processes {} of {}, who did not come. Start as many as WORLD_SIZE "
          "says, with the same {}.",
          rank_info.rank, fmt::join(missing, ", "), rank_info.size, Option{"out"});
    }
    sleep_until_rung(control->bell, seen);
  }
  name.clear();
}

bool ProcessGroup::State::arrived_or_gone(int rank, std::uint64_t collective) const {
  RankState& other = state_of(rank);
  if (other.arrived.load(std::memory_order_acquire) >= collective) return true;
  // Read again: it may have arrived and left in order in between.
  return !is_alive(other) && other.arrived.load(std::memory_order_acquire) < collective;
}

/// Arrives at the next collective and waits for all.
void ProcessGroup::State::come(std::string_view note) {
  const std::uint64_t collective = ++collectives;
  detail::Note& mine = self->notes[collective % 2];
  mine.size = static_cast<std::uint32_t>(note.size());
  std::copy(note.begin(), note.end(), mine.bytes);
  mine.collective = collective;
  self->arrived.store(collective, std::memory_order_release);
  ring(control->bell);
  for (int r = 0; r < rank_info.size; ++r) {
    for (;;) {
      const std::uint32_t seen = control->bell.load(std::memory_order_acquire);
      // Only after a sleep: checking a living rank's mutex costs a little.
      if (state_of(r).arrived.load(std::memory_order_acquire) >= collective) break;
      sleep_until_rung(control->bell, seen);
      if (arrived_or_gone(r, collective)) break;
    }
  }
}

/// For this collective: who came with an error, or did not come.
std::optional<int> ProcessGroup::State::lowest_failure() const {
  for (int r = 0; r < rank_info.size; ++r) {
    RankState& other = state_of(r);
    if (other.failed_from.load(std::memory_order_acquire) <= collectives ||
        other.arrived.load(std::memory_order_acquire) < collectives)
      return r;
  }
  return std::nullopt;
}

void ProcessGroup::State::throw_failure(int rank) {
  RankState& other = state_of(rank);
  if (other.failed_from.load(std::memory_order_acquire) <= collectives) {
    const auto code = static_cast<ErrorCode>(other.code);
    if (rank == 0) throw Error(code, other.text);
    throw Error(code, fmt::format("process {} of {}: {}", rank, rank_info.size, other.text));
  }
  headrace::fail(
      ErrorCode::io,
      "Process {} of {} (pid {}) ended without a word: it was killed, or the machine ran "
      "out of memory. Go on with {}.",
      rank, rank_info.size, other.process.load(), Option{"resume"});
}

void ProcessGroup::State::leave() noexcept {
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
  munmap(control, Control::bytes(rank_info.size));
  self = nullptr;
}

ProcessGroup::ProcessGroup() : state_(std::make_unique<State>()) {}
ProcessGroup::ProcessGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProcessGroup::~ProcessGroup() = default;
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;
ProcessGroup& ProcessGroup::operator=(ProcessGroup&&) noexcept = default;

ProcessGroup ProcessGroup::join(const RankInfo& rank_info, const std::string& what,
                                Patience patience) {
  auto state = std::make_unique<State>();
  state->rank_info = rank_info;
  if (rank_info.size > 1) {
    const std::string of = fmt::format("{}\n{}\n{}", geteuid(), what, rank_info.start);
    const std::string object = "/headrace-" + sha256_hex(of).substr(0, 32);
    while (!state->try_join(object)) {
    }
    state->await_all(patience);
  }
  return ProcessGroup(std::move(state));
}

int ProcessGroup::rank() const noexcept { return state_->rank_info.rank; }
int ProcessGroup::size() const noexcept { return state_->rank_info.size; }

std::vector<std::string> ProcessGroup::all_gather(std::string_view note) {
  State& state = *state_;
  if (state.rank_info.size == 1) return {std::string(note)};
  if (note.size() > detail::kNoteBytes) {
    headrace::fail(ErrorCode::internal, "A note of {} bytes; {} at most.", note.size(),
                   detail::kNoteBytes);
  }
  state.come(note);
  if (const auto failed = state.lowest_failure()) {
    state.over = true;
    int reporter = 0;
    while (state.state_of(reporter).arrived.load(std::memory_order_acquire) < state.collectives)
      ++reporter;
    state.reports = reporter == state.rank_info.rank;
    state.throw_failure(*failed);
  }
  std::vector<std::string> notes;
  for (int r = 0; r < state.rank_info.size; ++r) {
    const detail::Note& other = state.state_of(r).notes[state.collectives % 2];
    notes.emplace_back(other.bytes, other.collective == state.collectives ? other.size : 0);
  }
  return notes;
}

SharedMemory ProcessGroup::share(std::size_t bytes) {
  SharedMemory memory;
  if (first()) memory = SharedMemory::create(bytes);
  const std::string handle = all_gather(first() ? memory.handle() : "").front();
  if (!first()) memory = SharedMemory::open(handle, bytes);
  barrier();
  memory.close_handle();
  return memory;
}

void ProcessGroup::fail(ErrorCode code, const std::string& text) noexcept {
  State& state = *state_;
  if (state.rank_info.size == 1 || state.over) return;
  state.over = true;
  RankState& self = *state.self;
  self.code = static_cast<std::int32_t>(code);
  const std::size_t length = std::min(text.size(), detail::kTextBytes - 1);
  std::memcpy(self.text, text.data(), length);
  self.text[length] = '\0';
  self.failed_from.store(state.collectives + 1, std::memory_order_release);
  state.come({});
  int reporter = 0;
  while (state.state_of(reporter).arrived.load(std::memory_order_acquire) < state.collectives)
    ++reporter;
  state.reports = reporter == state.rank_info.rank;
}

bool ProcessGroup::reports() const noexcept { return state_->over ? state_->reports : first(); }

int share_of_cores(ProcessGroup& process_group) {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  const auto notes = process_group.all_gather({reinterpret_cast<const char*>(&own), sizeof own});
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
