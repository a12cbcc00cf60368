#include "tests/learn/ranks/together.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

namespace headrace::fixtures {
namespace {

std::string run(const ranks::RankInfo& rank_info,
                const std::function<void(ranks::ProcessGroup&)>& body) {
  try {
    ranks::ProcessGroup process_group = ranks::ProcessGroup::join(rank_info, "together");
    try {
      body(process_group);
    } catch (const Error& error) {
      process_group.fail(error.code(), error.what());
      return error.what() + std::string(process_group.reports() ? " (said)" : "");
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

std::string new_start() {
  static std::atomic<int> count{0};
  return fmt::format("{}-{}", getpid(), count++);
}

std::vector<std::string> in_threads(int size,
                                    const std::function<void(ranks::ProcessGroup&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  const std::string start = new_start();
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      errors[static_cast<std::size_t>(r)] = run({r, size, start}, body);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

std::vector<std::string> in_processes(int size,
                                      const std::function<void(ranks::ProcessGroup&)>& body) {
  const std::string start = new_start();
  struct Child {
    pid_t pid;
    int pipe;
  };
  std::vector<Child> children;
  for (int r = 0; r < size; ++r) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorCode::io, "no pipe");
    const pid_t pid = fork();
    if (pid == 0) {
      const std::string error = run({r, size, start}, body);
      const bool written =
          write(ends[1], error.data(), error.size()) == static_cast<ssize_t>(error.size());
      _exit(written ? 0 : 1);
    }
    close(ends[1]);
    children.push_back({pid, ends[0]});
  }
  std::vector<std::string> errors;
  for (const Child& child : children) {
    std::string& text = errors.emplace_back();
    char bytes[4096];
    for (ssize_t n; (n = read(child.pipe, bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(n));
    close(child.pipe);
    int status = 0;
    waitpid(child.pid, &status, 0);
    if (WIFSIGNALED(status)) text = fmt::format("signal {}", WTERMSIG(status));
  }
  return errors;
}

std::vector<std::string> left_behind() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("headrace-")) names.push_back(name);
  }
  return names;
}

}  // namespace headrace::fixtures
