#include "cli/scratch_work.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/storage/lock_file.hpp"

namespace headrace::cli {
namespace {

namespace fs = std::filesystem;

volatile pid_t the_child = 0;
volatile std::sig_atomic_t the_signal = 0;  ///< the last one, also where no child was there yet

void pass_on(int signal) {
  the_signal = signal;
  if (the_child > 0) kill(the_child, signal);
}

/// The folder, empty, and locked while this lives; removed at the end.
class Scratch {
 public:
  explicit Scratch(const fs::path& path) : path_(path) {
    std::error_code error;
    fs::create_directory(path, error);
    if (error) {
      fail(ErrorCode::io,
           "{} can't be made ({}). The work needs a folder there for a while, which is removed: "
           "name another place for it, where there is room and files may be written ({}).",
           path.string(), error.message(), Option{"out"});
    }
    lock_ = storage::try_lock_file(path / kLock);
    if (!lock_.valid())
      fail(ErrorCode::usage, "Another process works in {}. Wait for it.", path.string());
    empty_but_lock(error);
    if (error) fail(ErrorCode::io, "{} can't be emptied ({}).", path.string(), error.message());
  }
  ~Scratch() {
    if (!lock_.valid()) return;
    std::error_code error;
    empty_but_lock(error);
    // The lock last: who takes the folder then makes a new one.
    std::error_code taken;
    fs::remove(path_ / kLock, taken);
    fs::remove(path_, taken);
    if (error)
      std::fprintf(stderr, "headrace: %s can't be removed (%s)\n", path_.c_str(),
                   error.message().c_str());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  static constexpr const char* kLock = ".lock";

  void empty_but_lock(std::error_code& error) const {
    for (const auto& entry : fs::directory_iterator(path_, error)) {
      if (entry.path().filename() == kLock) continue;
      std::error_code one;
      fs::remove_all(entry.path(), one);
      if (one) error = one;
    }
    // A child that ends by an exception has removed it already.
    if (error == std::errc::no_such_file_or_directory) error.clear();
  }

  fs::path path_;
  posix::Descriptor lock_;
};

/// While it lives, the signals that end a program go on to the child. One that was ignored, as
/// SIGHUP under nohup, stays so.
class PassedOn {
 public:
  PassedOn() {
    the_signal = 0;
    struct sigaction action {};
    action.sa_handler = pass_on;
    for (std::size_t i = 0; i < kCount; ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~PassedOn() { restore(); }
  PassedOn(const PassedOn&) = delete;
  PassedOn& operator=(const PassedOn&) = delete;
  void restore() {
    for (std::size_t i = 0; i < kCount; ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  static constexpr std::size_t kCount = std::size(kSignals);
  struct sigaction before_[kCount] {};
};

}  // namespace

int work_in_scratch(const fs::path& scratch, const std::function<int()>& work) {
  PassedOn signals;  // also while the folder is removed
  const Scratch folder(scratch);
  const pid_t parent = getpid();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    signals.restore();
    if (the_signal != 0) raise(the_signal);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int code = work();
    std::fflush(nullptr);
    _exit(code);
  }
  if (child < 0) fail(ErrorCode::io, "A process can't be started ({}).", std::strerror(errno));
  the_child = child;
  if (the_signal != 0) kill(child, the_signal);  // it came before there was a child to pass it to
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  the_child = 0;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fail(ErrorCode::cancelled, "Stopped by signal {} ({}); {} is removed.", WTERMSIG(status),
       strsignal(WTERMSIG(status)), scratch.string());
}

}  // namespace headrace::cli
