#include "cli/terminal_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "headrace/core/progress.hpp"

namespace headrace::cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kRedraw{100};
constexpr int kWidth = 30;

void write(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

double rate_of(const ProgressState& state) {
  return static_cast<double>(state.done - state.begun_at) / state.seconds;
}

/// "train [######........]  20% 120 steps (3.1/s) loss 0.53", drawn over itself.
class Bar : public ProgressDisplay {
 public:
  milliseconds first() const override { return milliseconds(0); }
  milliseconds every() const override { return kRedraw; }
  void show(const ProgressState& state, bool last) override {
    std::string line = fmt::format("\r{} ", state.title);
    if (state.total > 0) {
      const double part =
          std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
      const int filled = static_cast<int>(part * kWidth);
      line += fmt::format("[{}{}] {:3.0f}% ", std::string(filled, '#'),
                          std::string(kWidth - filled, '.'), part * 100);
    }
    line += fmt::format("{} {} ({:.1f}/s){}{}\x1b[K", state.done, state.unit, rate_of(state),
                        state.note.empty() ? "" : " ", state.note);
    if (last) line += "\n";
    write(line);
  }
};

/// "train: 120 of 1000 steps, loss 0.53, 3.1/s, about 4.7 min left".
class PlainLines : public ProgressDisplay {
 public:
  explicit PlainLines(milliseconds every) : every_(every) {}
  milliseconds first() const override { return every_; }
  milliseconds every() const override { return every_; }
  void show(const ProgressState& state, bool last) override {
    if (last) return;
    const double rate = rate_of(state);
    std::string line = fmt::format("{}: {}", state.title, state.done);
    if (state.total > 0) line += fmt::format(" of {}", state.total);
    line += fmt::format(" {}{}{}, {:.3g}/s", state.unit, state.note.empty() ? "" : ", ", state.note,
                        rate);
    if (state.total > state.done && rate > 0) {
      line += fmt::format(", about {:.1f} min left",
                          static_cast<double>(state.total - state.done) / rate / 60);
    }
    write(line + "\n");
  }

 private:
  milliseconds every_;
};

}  // namespace

void show_progress_on_standard_error(milliseconds plain_every) {
  show_progress_by([plain_every]() -> std::unique_ptr<ProgressDisplay> {
    if (isatty(STDERR_FILENO) == 1) return std::make_unique<Bar>();
    return std::make_unique<PlainLines>(plain_every);
  });
}

}  // namespace headrace::cli
