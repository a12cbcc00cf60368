#include "learn/train/schedule.hpp"

#include <cmath>
#include <numbers>

namespace headrace::train {

double learning_rate(const config::RunConfig::Train& config, std::int64_t step,
                     std::int64_t total_steps) {
  if (step < config.warmup_steps) {
    return config.lr * static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
  }
  if (config.schedule == config::Schedule::constant) return config.lr;
  const auto span = static_cast<double>(total_steps - config.warmup_steps);
  const double part = static_cast<double>(step - config.warmup_steps) / span;
  if (config.schedule == config::Schedule::poly) return config.lr * std::pow(1 - part, 0.9);
  return config.lr * 0.5 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace headrace::train
