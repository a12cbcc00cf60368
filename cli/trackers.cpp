#include "cli/trackers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/read_file.hpp"

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

  /// 0, or an errno. `child`: the process.
  int start(std::vector<std::string> words, pid_t& child) const {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return posix_spawn(&child, words.front().c_str(), &actions_, &attributes_, arguments.data(),
                       environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

constexpr int kLookMs = 1000;  // between two looks at whether a follower has ended

/// What a follower that failed said last, without its end; where it said nothing, how it ended.
/// `begins`: where its lines do in the log.
std::string last_words(const std::string& log, std::uintmax_t begins, int status) {
  constexpr std::string_view kOwn = "headrace: ";
  const std::string all = read_file_if_there(log);
  std::istringstream file(all.substr(std::min<std::size_t>(begins, all.size())));
  std::string found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kOwn)) found = line.substr(kOwn.size());
  }
  while (found.ends_with('.')) found.pop_back();
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  return found.empty() ? fmt::format("exit code {}; see {}", WEXITSTATUS(status), log) : found;
}

/// Signals are for the thread that trains: what is started inside has all of them blocked.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Trackers::~Trackers() {
  alive_ = posix::Descriptor();
  if (watch_.joinable()) watch_.join();
}

void Trackers::start_all(bool group) {
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
  end_of_pipe_ = posix::Descriptor(ends[0]);
  alive_ = posix::Descriptor(ends[1]);
  const Json entries = config_.tracking_json();
  for (std::size_t i = 0; i < config_.tracking.size(); ++i) {
    if (!group || config_.tracking[i].to == config::TrackerKind::mlflow)
      start_one(config_.tracking[i], entries.at(i).dump(), ends[0]);
  }
  if (running_.empty()) return;
  const SignalsBlocked blocked;
  watch_ = std::thread([this] { watch(); });
}

void Trackers::start_one(const config::RunConfig::Tracker& tracker, const std::string& entry,
                         int end_of_pipe) {
  const std::string log = fs::path(run_) / "tracking" / (tracker.file_name() + ".log");
  const std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "headrace";
  std::error_code absent;
  const std::uintmax_t size = fs::file_size(log, absent);
  pid_t process = 0;
  const int error =
      SpawnRules(end_of_pipe, log).start({program, "track", run_, "--entry", entry}, process);
  if (error != 0) {
    log::warning("{} is not followed ({}). headrace track {} sends the run later",
                 tracker.file_name(), std::strerror(error), run_);
    return;
  }
  running_.push_back({tracker.file_name(), log, process, absent ? 0 : size});
  log::info("tracked by {}, which says more in {}", tracker.file_name(), log);
}

void Trackers::watch() {
  pollfd end{end_of_pipe_.get(), POLLIN, 0};
  bool over = false;
  while (!over && !running_.empty()) {
    over = poll(&end, 1, kLookMs) > 0;
    collect_ended();
  }
}

void Trackers::collect_ended() {
  std::erase_if(running_, [this](const Follower& one) {
    int status = 0;
    if (waitpid(one.process, &status, WNOHANG) == 0) return false;
    if (status != 0) {
      log::warning(
          "{} is not followed any more: {}. The training goes on. What is missing is sent by: "
          "headrace track {} (with --to and its options, where tracking: was wrong)",
          one.name, last_words(one.log, one.log_begins, status), run_);
    }
    return true;
  });
}

}  // namespace headrace::cli
