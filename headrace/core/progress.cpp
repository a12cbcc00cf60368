#include "headrace/core/progress.hpp"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

std::mutex make_mutex;

MakeProgressDisplay& make_display() {
  static MakeProgressDisplay instance;
  return instance;
}

std::unique_ptr<ProgressDisplay> new_display() {
  MakeProgressDisplay make;
  {
    const std::lock_guard lock(make_mutex);
    make = make_display();
  }
  return make ? make() : nullptr;
}

}  // namespace

void show_progress_by(MakeProgressDisplay make) {
  const std::lock_guard lock(make_mutex);
  make_display() = std::move(make);
}

Progress::Progress(std::string title, std::uint64_t total, std::string unit)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      start_(std::chrono::steady_clock::now()),
      display_(new_display()) {
  if (!display_) return;
  next_show_ms_ = display_->first().count();
  every_ms_ = display_->every().count();
}

Progress::~Progress() {
  if (display_) show(true);
}

void Progress::begin_at(std::uint64_t done) { done_ = begun_at_ = done; }

void Progress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void Progress::advance(std::uint64_t count) {
  done_ += count;
  if (!display_) return;
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  const std::int64_t now_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count();
  std::int64_t due = next_show_ms_;
  if (now_ms >= due && next_show_ms_.compare_exchange_strong(due, now_ms + every_ms_)) show(false);
}

void Progress::show(bool last) {
  const std::lock_guard lock(mutex_);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  display_->show({title_, unit_, note_, done_, begun_at_, total_, std::max(1e-3, seconds)}, last);
}

}  // namespace headrace
