#include "cli/trackers.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"

namespace headrace::cli {
namespace {

namespace fs = std::filesystem;

/// What a follower is started with: descriptors, a session of its own, no signal blocked.
class SpawnRules {
 public:
  SpawnRules(int in, const std::string& log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    // What the training inherited may be locks, such as a sweep's on its cores.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnRules() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnRules(const SpawnRules&) = delete;
  SpawnRules& operator=(const SpawnRules&) = delete;

  /// 0, or an errno.
  int start(std::vector<std::string> words) const {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    return posix_spawn(&child, words.front().c_str(), &actions_, &attributes_, arguments.data(),
                       environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

void Trackers::start() {
  if (started_ || config_.tracking.empty()) return;
  started_ = true;
  int ends[2] = {-1, -1};
  std::error_code error;
  fs::create_directories(fs::path(run_) / "tracking", error);
  if (error || pipe2(ends, O_CLOEXEC) != 0) {
    log::warning("the run is not tracked: {}. headrace track {} sends it later",
                 error ? error.message() : std::strerror(errno), run_);
    return;
  }
  const storage::posix::Descriptor end_of_pipe(ends[0]);
  alive_ = storage::posix::Descriptor(ends[1]);
  const Json entries = config_.tracking_json();
  for (std::size_t i = 0; i < config_.tracking.size(); ++i)
    start_one(config_.tracking[i], entries.at(i).dump(), end_of_pipe.get());
}

void Trackers::start_one(const loader::RunConfig::Tracker& tracker, const std::string& entry,
                         int end_of_pipe) const {
  const std::string log = fs::path(run_) / "tracking" / (tracker.file_name() + ".log");
  const std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "headrace";
  const int error = SpawnRules(end_of_pipe, log).start({program, "track", run_, "--entry", entry});
  if (error != 0) {
    log::warning("{} is not followed ({}). headrace track {} sends the run later",
                 tracker.file_name(), std::strerror(error), run_);
    return;
  }
  log::info("tracked by {}, which says more in {}", tracker.file_name(), log);
}

}  // namespace headrace::cli
