#include "headrace/core/log.hpp"

#include <atomic>
#include <memory>
#include <mutex>

#include "headrace/core/utf8.hpp"

namespace headrace::log {
namespace {

std::atomic<Level> lowest{Level::info};

struct Target {
  std::mutex mutex;
  std::shared_ptr<const Sink> sink;
};

/// Never destroyed: what ends after main may still have something to say.
Target& target() {
  static Target& instance = *new Target;
  return instance;
}

}  // namespace

void set_sink(Sink sink) {
  auto next = sink ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
  const std::lock_guard lock(target().mutex);
  target().sink.swap(next);
}

void set_level(Level level) noexcept { lowest = level; }

void write(Level level, const std::string& line) {
  if (level < lowest.load() || level == Level::off) return;
  std::shared_ptr<const Sink> sink;
  {
    const std::lock_guard lock(target().mutex);
    sink = target().sink;
  }
  if (sink) (*sink)(level, shown_text(line));
}

}  // namespace headrace::log
