#include "learn/train/train_state.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "headrace/core/error.hpp"

namespace headrace::train {
namespace {

constexpr double kNoDice = -1;  ///< as a checkpoint says that there is none

}  // namespace

TrainState::Metadata TrainState::save() const {
  const auto text = [](double value) { return fmt::format("{:a}", value); };
  Metadata out = {{"step", std::to_string(step)},
                  {"loss", text(loss)},
                  {"cross_entropy", text(cross_entropy)},
                  {"dice", text(dice)},
                  {"since_log", std::to_string(since_log)},
                  {"last_loss", text(last_loss)},
                  {"best_dice", text(best_dice.value_or(kNoDice))},
                  {"best_step", std::to_string(best_step)},
                  {"judged_by", judged_by}};
  if (best_value && best_value != best_dice) out["best_value"] = text(*best_value);
  if (to_beat) out["to_beat"] = text(*to_beat);
  if (since_better > 0) out["since_better"] = std::to_string(since_better);
  if (to_validate) out["to_validate"] = "1";
  return out;
}

TrainState TrainState::load(const Metadata& metadata, const std::string& origin) {
  const auto get = [&](const char* key) -> const std::string& {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
      fail(ErrorCode::malformed, "{}: the metadata has no {}; this is not a checkpoint.", origin,
           key);
    }
    return found->second;
  };
  const auto real = [&](const char* key) { return std::strtod(get(key).c_str(), nullptr); };
  const auto whole = [&](const char* key) {
    return static_cast<std::int64_t>(std::strtoll(get(key).c_str(), nullptr, 10));
  };
  TrainState out{whole("step"), real("loss"),       real("cross_entropy"),
                 real("dice"),  whole("since_log"), real("last_loss")};
  if (const double dice = real("best_dice"); dice != kNoDice) out.best_dice = dice;
  out.best_step = whole("best_step");
  out.judged_by = get("judged_by");
  if (out.best_step > 0)
    out.best_value = metadata.contains("best_value") ? real("best_value") : out.best_dice;
  if (metadata.contains("to_beat")) out.to_beat = real("to_beat");
  if (metadata.contains("since_better")) out.since_better = whole("since_better");
  out.to_validate = metadata.contains("to_validate");
  return out;
}

}  // namespace headrace::train
