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

Progress::Progress(std::string title, std::uint64_t total, std::string unit)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      start_(std::chrono::steady_clock::now()),
      visible_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (visible_) draw(true);
}

void Progress::advance(std::uint64_t count) {
  done_ += count;
  if (!visible_) return;
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  const std::int64_t now_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  std::int64_t due = next_draw_ms_;
  if (now_ms >= due && next_draw_ms_.compare_exchange_strong(due, now_ms + kRedrawMs)) draw(false);
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
  line += fmt::format("{} {} ({:.1f}/s)\x1b[K", done, unit_, static_cast<double>(done) / seconds);
  if (last) line += "\n";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace headrace
