#include "cli/terminal_progress.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "headrace/core/progress.hpp"

namespace headrace::cli {
namespace {

/// Standard error led to another descriptor while it lives.
class ErrorTo {
 public:
  explicit ErrorTo(int descriptor) : kept_(dup(STDERR_FILENO)) { dup2(descriptor, STDERR_FILENO); }
  ~ErrorTo() {
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }

 private:
  int kept_;
};

void count_to_ten() {
  show_progress_on_standard_error();
  Progress progress("reading", 10, "tiles");
  std::thread other([&] {
    for (int i = 0; i < 5; ++i) progress.advance();
  });
  for (int i = 0; i < 5; ++i) progress.advance();
  other.join();
}

std::string read_some(int descriptor) {
  char text[4096];
  const ssize_t count = read(descriptor, text, sizeof text);
  return count > 0 ? std::string(text, static_cast<std::size_t>(count)) : std::string();
}

TEST(TerminalProgress, IsSilentWhereThereIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    const ErrorTo pipe_end(ends[1]);
    count_to_ten();
  }
  close(ends[1]);
  EXPECT_EQ(read_some(ends[0]), "");
  close(ends[0]);
}

TEST(TerminalProgress, SaysPlainLinesWhereThereIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    const ErrorTo pipe_end(ends[1]);
    show_progress_on_standard_error(std::chrono::milliseconds(0));
    Progress progress("train", 10, "steps");
    progress.begin_at(4);
    progress.note("loss 0.53");
    progress.advance();
  }
  close(ends[1]);
  const std::string text = read_some(ends[0]);
  close(ends[0]);
  EXPECT_EQ(text.find("train: 5 of 10 steps, loss 0.53, "), 0u) << text;
  EXPECT_NE(text.find(" min left\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(TerminalProgress, ShowsTheWholeOnATerminal) {
  int terminal = -1, program = -1;
  ASSERT_EQ(openpty(&terminal, &program, nullptr, nullptr, nullptr), 0);
  {
    const ErrorTo terminal_end(program);
    count_to_ten();
  }
  std::string text;
  while (text.find('\n') == std::string::npos) {
    const std::string more = read_some(terminal);
    ASSERT_FALSE(more.empty());
    text += more;
  }
  EXPECT_NE(text.find("reading ["), std::string::npos) << text;
  EXPECT_NE(text.find("100% 10 tiles"), std::string::npos) << text;
  close(program);
  close(terminal);
}

}  // namespace
}  // namespace headrace::cli
