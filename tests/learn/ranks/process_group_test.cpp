#include "learn/ranks/process_group.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/learn/ranks/together.hpp"

namespace headrace::ranks {
namespace {

using Errors = std::vector<std::string>;
using Run = Errors (*)(int, const std::function<void(ProcessGroup&)>&);

/// The same in threads, which ThreadSanitizer sees, and in processes.
class ProcessGroupTest : public ::testing::TestWithParam<Run> {
 protected:
  static Errors run(int size, const std::function<void(ProcessGroup&)>& body) {
    return GetParam()(size, body);
  }
};

void expect(bool true_, const std::string& what) {
  if (!true_) fail(ErrorCode::internal, "{}", what);
}

TEST_P(ProcessGroupTest, EveryNoteComesToEveryone) {
  for (const int size : {1, 2, 3, 7}) {
    const auto errors = run(size, [size](ProcessGroup& process_group) {
      expect(process_group.size() == size, "size");
      for (int meeting = 0; meeting < 200; ++meeting) {
        const auto note = [&](int rank) {
          return fmt::format("{} of meeting {}", rank, meeting) +
                 std::string(static_cast<std::size_t>(meeting % 3 * 400), 'x');
        };
        const auto notes = process_group.all_gather(note(process_group.rank()));
        expect(notes.size() == static_cast<std::size_t>(size), "count");
        for (int r = 0; r < size; ++r)
          expect(notes[static_cast<std::size_t>(r)] == note(r), "note " + note(r));
      }
    });
    EXPECT_EQ(errors, Errors(static_cast<std::size_t>(size)));
  }
}

TEST_P(ProcessGroupTest, SharedMemoryIsOneAndZero) {
  const auto errors = run(3, [](ProcessGroup& process_group) {
    SharedMemory memory = process_group.share(3 * sizeof(int) + 100'000);
    for (const std::byte value : memory.bytes()) expect(value == std::byte{0}, "not zero");
    process_group.barrier();
    auto* numbers = reinterpret_cast<int*>(memory.bytes().data());
    numbers[process_group.rank()] = process_group.rank() + 7;
    process_group.barrier();
    for (int r = 0; r < 3; ++r) expect(numbers[r] == r + 7, "number");
    process_group.barrier();
  });
  EXPECT_EQ(errors, Errors(3));
}

TEST_P(ProcessGroupTest, AnErrorOfOneIsEveryonesAndRankZeroTellsIt) {
  const auto errors = run(3, [](ProcessGroup& process_group) {
    process_group.barrier();
    if (process_group.rank() == 1) fail(ErrorCode::corrupt, "chunk 7 is damaged");
    process_group.barrier();
    process_group.barrier();
  });
  EXPECT_EQ(errors, (Errors{"process 1 of 3: chunk 7 is damaged (said)", "chunk 7 is damaged",
                            "process 1 of 3: chunk 7 is damaged"}));
}

TEST_P(ProcessGroupTest, OfSeveralErrorsTheLowestRanksCounts) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto errors = run(4, [](ProcessGroup& process_group) {
      process_group.barrier();
      if (process_group.rank() != 0) fail(ErrorCode::io, "mine: {}", process_group.rank());
      process_group.barrier();
    });
    EXPECT_EQ(errors, (Errors{"process 1 of 4: mine: 1 (said)", "mine: 1", "mine: 2", "mine: 3"}));
  }
}

TEST_P(ProcessGroupTest, AnErrorOfAMeetingKeepsItsCode) {
  const auto errors = run(2, [](ProcessGroup& process_group) {
    if (process_group.rank() == 0) fail(ErrorCode::usage, "no such file");
    try {
      process_group.barrier();
    } catch (const Error& error) {
      expect(error.code() == ErrorCode::usage, "code");
      throw;
    }
  });
  EXPECT_EQ(errors, (Errors{"no such file (said)", "no such file"}));
}

TEST_P(ProcessGroupTest, WhoLeavesInOrderKeepsNobodyWaiting) {
  const auto errors = run(3, [](ProcessGroup& process_group) {
    process_group.barrier();
    if (process_group.first()) return;  // its work is done; the others wait for its end
    const auto notes = process_group.all_gather("here");
    expect(notes == std::vector<std::string>({"", "here", "here"}), "notes");
  });
  EXPECT_EQ(errors, Errors(3));
}

TEST_P(ProcessGroupTest, NotesThatAreTooLongAreABug) {
  const auto errors =
      run(2, [](ProcessGroup& process_group) { process_group.all_gather(std::string(1025, 'x')); });
  EXPECT_NE(errors[0].find("1024 at most"), std::string::npos) << errors[0];
}

TEST_P(ProcessGroupTest, CoresAreTakenOnce) {
  cpu_set_t own;
  sched_getaffinity(0, sizeof own, &own);
  const int cores = CPU_COUNT(&own);
  const auto errors = run(2, [cores](ProcessGroup& process_group) {
    expect(share_of_cores(process_group) == std::max(1, cores / 2), "share");
  });
  EXPECT_EQ(errors, Errors(2));
}

INSTANTIATE_TEST_SUITE_P(In, ProcessGroupTest,
                         ::testing::Values(&fixtures::in_threads, &fixtures::in_processes),
                         [](const auto& info) {
                           return info.index == 0 ? "threads" : "processes";
                         });

/// A thread that ends without leaving counts as a process that was killed: the kernel reports it.
TEST(TeamOfProcesses, OneThatIsKilledIsNoticedByAll) {
  for (const int victim : {0, 2}) {
    const auto errors = fixtures::in_processes(3, [victim](ProcessGroup& process_group) {
      process_group.barrier();
      if (process_group.rank() == victim) kill(getpid(), SIGKILL);
      process_group.barrier();
    });
    const int speaker = victim == 0 ? 1 : 0;
    for (int r = 0; r < 3; ++r) {
      const std::string& error = errors[static_cast<std::size_t>(r)];
      if (r == victim) {
        EXPECT_EQ(error, "signal 9");
        continue;
      }
      EXPECT_NE(error.find(fmt::format("Process {} of 3 (pid ", victim)), std::string::npos)
          << error;
      EXPECT_NE(error.find("ended without a word"), std::string::npos) << error;
      EXPECT_EQ(error.ends_with("(said)"), r == speaker) << error;
    }
  }
}

TEST(TeamOfProcesses, NothingIsLeftBehind) {
  const auto before = fixtures::left_behind();
  fixtures::in_processes(4, [](ProcessGroup& process_group) {
    const SharedMemory memory = process_group.share(1 << 20);
    process_group.barrier();
    kill(getpid(), SIGKILL);
  });
  EXPECT_EQ(fixtures::left_behind(), before);
}

/// A process that was killed while it waited for others leaves the name behind; this does not harm
/// the next start with that name.
TEST(TeamOfProcesses, AStartThatWasKilledDoesNotDisturbTheNext) {
  const std::string start = fixtures::new_start();
  const auto before = fixtures::left_behind();
  const pid_t alone = fork();
  if (alone == 0) {
    try {
      ProcessGroup::join({1, 2, start}, "killed");
    } catch (const Error&) {
    }
    _exit(0);
  }
  while (fixtures::left_behind() == before) std::this_thread::yield();
  kill(alone, SIGKILL);
  int status = 0;
  waitpid(alone, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  std::thread other([&] { ProcessGroup::join({1, 2, start}, "killed").barrier(); });
  ProcessGroup::join({0, 2, start}, "killed").barrier();
  other.join();
  EXPECT_EQ(fixtures::left_behind(), before);
}

TEST(ProcessGroup, ARankThatIsTakenIsRefused) {
  const std::string start = fixtures::new_start();
  const auto before = fixtures::left_behind();
  std::thread waiting([&] { ProcessGroup::join({0, 2, start}, "run"); });
  while (fixtures::left_behind() == before) std::this_thread::yield();
  std::string error = "accepted";
  // The name is there a moment before its first member is.
  while (error == "accepted" || error.find("ended before") != std::string::npos) {
    try {
      ProcessGroup::join({0, 2, start}, "run",
                         {std::chrono::milliseconds(1), std::chrono::milliseconds(1)});
    } catch (const Error& refused) {
      error = refused.what();
    }
  }
  EXPECT_NE(error.find("already trains into this run folder as rank 0 of 2"), std::string::npos)
      << error;
  ProcessGroup::join({1, 2, start}, "run");
  waiting.join();
}

TEST(ProcessGroup, OtherFoldersAndStartsDoNotMeet) {
  const std::string start = fixtures::new_start();
  const auto give_up = std::chrono::milliseconds(1);
  for (const char* what : {"a", "b"}) {
    try {
      ProcessGroup::join({0, 2, start}, what, {give_up, give_up});
      ADD_FAILURE() << "somebody came";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("waited for processes 1 of 2, who did not come"), std::string::npos)
          << text;
    }
  }
}

TEST(ProcessGroup, AnotherNumberOfProcessesIsRefused) {
  const std::string start = fixtures::new_start();
  const auto before = fixtures::left_behind();
  std::thread waiting([&] { ProcessGroup::join({0, 2, start}, "run"); });
  while (fixtures::left_behind() == before) std::this_thread::yield();
  try {
    ProcessGroup::join({1, 3, start}, "run");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("another number of processes than 3"),
              std::string::npos)
        << error.what();
  }
  ProcessGroup::join({1, 2, start}, "run");
  waiting.join();
}

}  // namespace
}  // namespace headrace::ranks
