#include "headrace/core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace headrace {
namespace {
constexpr std::int64_t kRedrawMs = 100;
constexpr int kWidth = 30;
}  // namespace

Progress::Progress(std::string title, std::uint64_t total, std::string unit,
                   std::chrono::milliseconds plain_every)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      start_(std::chrono::steady_clock::now()),
      visible_(isatty(STDERR_FILENO) == 1),
      every_ms_(visible_ ? kRedrawMs : plain_every.count()) {
  if (!visible_) next_draw_ms_ = every_ms_;
}

Progress::~Progress() {
  if (visible_) draw(true);
}

void Progress::begin_at(std::uint64_t done) { done_ = begun_at_ = done; }

void Progress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void Progress::advance(std::uint64_t count) {
  done_ += count;
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  const std::int64_t now_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  std::int64_t due = next_draw_ms_;
  if (now_ms >= due && next_draw_ms_.compare_exchange_strong(due, now_ms + every_ms_)) {
    visible_ ? draw(false) : say();
  }
}

/// "train: 120 of 1000 steps, loss 0.53, 3.1/s, about 4.7 min left".
void Progress::say() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t done = done_;
  const double seconds = std::max(
      1e-3, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  const double rate = static_cast<double>(done - begun_at_) / seconds;
  std::string line = fmt::format("{}: {}", title_, done);
  if (total_ > 0) line += fmt::format(" of {}", total_);
  line += fmt::format(" {}{}{}, {:.3g}/s", unit_, note_.empty() ? "" : ", ", note_, rate);
  if (total_ > done && rate > 0) {
    line += fmt::format(", about {:.1f} min left", static_cast<double>(total_ - done) / rate / 60);
  }
  std::fputs((line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

void Progress::draw(bool last) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t done = done_;
  const double seconds = std::max(
      1e-3, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  std::string line = fmt::format("\r{} ", title_);
  if (total_ > 0) {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    const int filled = static_cast<int>(part * kWidth);
    line += fmt::format("[{}{}] {:3.0f}% ", std::string(filled, '#'),
                        std::string(kWidth - filled, '.'), part * 100);
  }
  line +=
      fmt::format("{} {} ({:.1f}/s){}{}\x1b[K", done, unit_,
                  static_cast<double>(done - begun_at_) / seconds, note_.empty() ? "" : " ", note_);
  if (last) line += "\n";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace headrace
