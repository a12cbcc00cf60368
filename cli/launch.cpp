#include "cli/launch.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <vector>

#include "headrace/core/error.hpp"
#include "learn/ranks/rank_info.hpp"

namespace headrace::cli {
namespace {

using Clock = std::chrono::steady_clock;
/// By then the processes that trained with the failed one know it; those that have not come that
/// far do not.
constexpr std::chrono::seconds kGrace{10};
constexpr int kNotStarted = 127;

/// This process's variables with those of one rank among `count`.
std::vector<std::string> environment_of(int rank, int count, const std::string& start) {
  const std::vector<std::pair<std::string, std::string>> own{
      {"RANK", std::to_string(rank)},
      {"LOCAL_RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(count)},
      {"LOCAL_WORLD_SIZE", std::to_string(count)},
      {ranks::kStartVariable, start}};
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "="));
    const auto same = [&](const auto& pair) { return pair.first == name; };
    if (std::none_of(own.begin(), own.end(), same)) all.emplace_back(*entry);
  }
  for (const auto& [name, value] : own) all.push_back(name + "=" + value);
  return all;
}

class Processes {
 public:
  Processes(int count, const std::string& program, char* const* arguments);
  ~Processes() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  int wait();
  bool asked() const { return asked_ != 0; }

 private:
  struct Process {
    pid_t pid;
    bool running = true;
    int status = 0;
  };
  void start(const std::string& program, char* const* arguments,
             std::vector<std::string> variables);
  void on_signal(int signal);
  void reap();
  void send(int signal, bool as_request);
  int verdict() const;

  std::string program_;
  sigset_t before_, awaited_;
  std::vector<Process> processes_;
  std::optional<std::size_t> failed_;  ///< the first to fail
  Clock::time_point failed_at_;
  int asked_ = 0;       ///< the user's signal
  bool ended_ = false;  ///< the remaining ones got SIGTERM
};

Processes::Processes(int count, const std::string& program, char* const* arguments)
    : program_(program) {
  sigemptyset(&awaited_);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&awaited_, signal);
  sigprocmask(SIG_BLOCK, &awaited_, &before_);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string name = fmt::format("{}-{}-{}", getpid(), now.tv_sec, now.tv_nsec);
  std::fflush(nullptr);
  for (int rank = 0; rank < count; ++rank) {
    start(program, arguments, environment_of(rank, count, name));
  }
}

void Processes::start(const std::string& program, char* const* arguments,
                      std::vector<std::string> variables) {
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    execve(program.c_str(), arguments, environment.data());
    _exit(kNotStarted);
  }
  if (child > 0) {
    processes_.push_back({child});
    return;
  }
  const int error = errno;
  send(SIGKILL, false);
  for (Process& process : processes_) waitpid(process.pid, &process.status, 0);
  fail(ErrorCode::io, "Process {} can't be started ({}).", processes_.size(), std::strerror(error));
}

void Processes::send(int signal, bool as_request) {
  sigval value{};
  value.sival_int = signal;
  for (const Process& process : processes_) {
    if (!process.running) continue;
    if (as_request) {
      sigqueue(process.pid, stop_request_signal(), value);
    } else {
      kill(process.pid, signal);
    }
  }
}

void Processes::on_signal(int signal) {
  if (signal == SIGCHLD) return;
  if (asked_ == 0) {
    send(signal, true);
  } else {
    send(SIGKILL, false);
  }
  asked_ = signal;
}

void Processes::reap() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    Process& process = processes_[i];
    if (!process.running || waitpid(process.pid, &process.status, WNOHANG) != process.pid) continue;
    process.running = false;
    if (process.status != 0 && !failed_) {
      failed_ = i;
      failed_at_ = Clock::now();
    }
  }
}

int Processes::wait() {
  const auto running = [](const Process& process) { return process.running; };
  while (std::any_of(processes_.begin(), processes_.end(), running)) {
    const timespec limit{1, 0};
    const int signal = sigtimedwait(&awaited_, nullptr, &limit);
    if (signal > 0) on_signal(signal);
    reap();
    if (failed_ && !ended_ && Clock::now() - failed_at_ > kGrace) {
      send(SIGTERM, false);
      ended_ = true;
    }
  }
  return verdict();
}

int Processes::verdict() const {
  if (!failed_) return 0;
  const Process& first = processes_[*failed_];
  if (WIFEXITED(first.status) && WEXITSTATUS(first.status) == kNotStarted) {
    fail(ErrorCode::unsupported, "{} can't be started. Keep it beside headrace, or build again.",
         program_);
  }
  if (WIFEXITED(first.status)) return WEXITSTATUS(first.status);
  if (asked_ != 0) {
    // As if the user's signal had come to the process itself.
    signal(asked_, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    raise(asked_);
  }
  // A process that ended in order has reported it already.
  for (const Process& process : processes_) {
    if (WIFEXITED(process.status) && process.status != 0) return 1;
  }
  const int killer = WTERMSIG(first.status);
  fail(ErrorCode::cancelled, "Process {} of {} was killed by signal {} ({}).", *failed_,
       processes_.size(), killer, strsignal(killer));
}

}  // namespace

int run_processes(int count, const std::string& program, char* const* arguments, bool* asked) {
  Processes processes(count, program, arguments);
  const int code = processes.wait();
  if (asked != nullptr) *asked = processes.asked();
  return code;
}

bool started_here() noexcept { return std::getenv(ranks::kStartVariable) != nullptr; }

int stop_request_signal() noexcept { return SIGRTMIN; }

}  // namespace headrace::cli
