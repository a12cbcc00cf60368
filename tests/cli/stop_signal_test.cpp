#include "cli/stop_signal.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch.hpp"

namespace headrace::cli {
namespace {

TEST(StopSignal, TellsTheSignalInsteadOfDying) {
  for (const int signal : {SIGINT, SIGTERM}) {
    StopSignal stop;
    EXPECT_EQ(stop.asked(), 0);
    raise(signal);
    EXPECT_EQ(stop.asked(), signal);
  }
}

TEST(StopSignal, TellsTheSignalThatTheParentWasSent) {
  StopSignal stop;
  sigval value{};
  value.sival_int = SIGTERM;
  sigqueue(getpid(), stop_request_signal(), value);
  while (stop.asked() == 0) usleep(1000);
  EXPECT_EQ(stop.asked(), SIGTERM);
  sigqueue(getpid(), stop_request_signal(), value);  // never kills
  EXPECT_EQ(stop.asked(), SIGTERM);
}

/// The signal that ends a process in which `body` runs, or 0.
template <typename Body>
int killer_of(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(StopSignal, ASecondSignalKills) {
  EXPECT_EQ(killer_of([] {
              const StopSignal stop;
              raise(SIGTERM);
              raise(SIGTERM);
            }),
            SIGTERM);
}

TEST(StopSignal, AfterItsLifeASignalKillsAsUsual) {
  EXPECT_EQ(killer_of([] {
              { const StopSignal stop; }
              raise(SIGTERM);
            }),
            SIGTERM);
}

}  // namespace
}  // namespace headrace::cli
