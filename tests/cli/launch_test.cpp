#include "cli/launch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "headrace/core/error.hpp"

namespace headrace::cli {
namespace {

class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                fmt::format("launch-{}-{}", getpid(),
                            ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~LaunchTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string text(const std::string& name) const {
    std::ifstream file(path(name));
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  int run(int count, std::string script) const {
    script = "cd " + folder_.string() + "\n" + script;
    std::string shell = "sh", option = "-c";
    char* arguments[] = {shell.data(), option.data(), script.data(), nullptr};
    return run_processes(count, "/bin/sh", arguments);
  }
  /// The wait status of a process that runs the script in two processes, and gets `signal` when
  /// both have made the file "ready-RANK".
  int signalled(int signal, const std::string& script) const {
    const pid_t parent = fork();
    if (parent == 0) {
      try {
        _exit(run(2, script));
      } catch (const Error& error) {
        std::ofstream(path("error")) << error.what();
        _exit(99);
      }
    }
    while (!std::filesystem::exists(path("ready-0")) || !std::filesystem::exists(path("ready-1")))
      usleep(1000);
    kill(parent, signal);
    int status = 0;
    waitpid(parent, &status, 0);
    return status;
  }

  std::filesystem::path folder_;
};

TEST_F(LaunchTest, EveryProcessHasItsPlaceAndOneStart) {
  EXPECT_EQ(run(3,
                "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE > place-$RANK\n"
                "echo $HEADRACE_START > start-$RANK"),
            0);
  for (const std::string rank : {"0", "1", "2"}) {
    EXPECT_EQ(text("place-" + rank), rank + " " + rank + " 3 3\n");
    EXPECT_EQ(text("start-" + rank), text("start-0"));
  }
  EXPECT_GT(text("start-0").size(), 5u);
}

TEST_F(LaunchTest, TheCodeIsThatOfTheFirstThatFailed) {
  EXPECT_EQ(run(2, "test $RANK = 0 || exit 7; while ! kill -0 $$; do :; done; sleep 0.2; exit 3"),
            7);
  EXPECT_EQ(run(2, "exit 2"), 2);
}

TEST_F(LaunchTest, AKilledProcessIsTold) {
  try {
    run(2, "test $RANK = 1 && kill -9 $$; exit 0");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Process 1 of 2 was killed by signal 9 (Killed).");
  }
  // One that knows has told it already.
  EXPECT_EQ(run(2, "test $RANK = 1 && kill -9 $$; sleep 0.3; exit 1"), 1);
}

TEST_F(LaunchTest, AProgramThatIsNotThereIsNamed) {
  char name[] = "nothing";
  char* arguments[] = {name, nullptr};
  try {
    run_processes(2, "/nowhere/nothing", arguments);
    ADD_FAILURE() << "started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("/nowhere/nothing can't be started"),
              std::string::npos);
  }
}

/// The shell's name of the signal depends on the shell; its number does not.
std::string on_request(const std::string& command) {
  return fmt::format("trap '{}' {}\n", command, stop_request_signal());
}

TEST_F(LaunchTest, ASignalIsHandedOnOnceAndTheEndIsTheirs) {
  const int status = signalled(SIGTERM, on_request("echo asked >> asked-$RANK; exit 1") +
                                            "touch ready-$RANK; while :; do sleep 0.01; done");
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(text("asked-0"), "asked\n");
  EXPECT_EQ(text("asked-1"), "asked\n");
}

TEST_F(LaunchTest, WhoDoesNotListenDiesAsOneProcessWould) {
  const int status = signalled(SIGTERM, "touch ready-$RANK; while :; do sleep 0.01; done");
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST_F(LaunchTest, AKilledParentTakesItsProcessesAlong) {
  const int status = signalled(SIGKILL,
                               "trap 'touch ended-$RANK; exit 1' TERM\n"
                               "touch ready-$RANK; while :; do sleep 0.01; done");
  EXPECT_TRUE(WIFSIGNALED(status));
  while (!std::filesystem::exists(path("ended-0")) || !std::filesystem::exists(path("ended-1")))
    usleep(1000);
}

}  // namespace
}  // namespace headrace::cli
