#include <fmt/format.h>

#include <numeric>

#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader::detail {
namespace {

/// For a key of a built-in part: why it does not belong beside a function in Python.
std::function<std::string()> only_without(const PythonFunction& own, const char* section) {
  return [&own, section] {
    if (!own.given()) return std::string();
    return fmt::format("belongs to the built-in one, but train.{}.module is given. Leave it out",
                       section);
  };
}

/// For a number of one term: why it does not belong beside the chosen one.
template <typename Term>
std::function<std::string()> only_of(const char* key, const Term& chosen, Term owner,
                                     const PythonFunction& own) {
  return [key, &chosen, owner, without = only_without(own, "loss")] {
    if (std::string problem = without(); !problem.empty()) return problem;
    if (chosen == owner) return std::string();
    return fmt::format("belongs to {}: {}, but {} is '{}'. Leave it out", key, name_of(owner), key,
                       name_of(chosen));
  };
}

Fields loss_fields(RunConfig::Train& train) {
  using Pixel = LossKind::Pixel;
  using Region = LossKind::Region;
  LossKind& loss = train.loss;
  const PythonFunction& own = train.own_loss;
  Fields fields = python_function_fields(train.own_loss, "a loss");
  const Fields built_in = {
      Field{"pixel", form::choice(loss.pixel), "loss of single pixels"}.unless(
          only_without(own, "loss")),
      Field{"region", form::choice(loss.region), "loss of regions"}.unless(
          only_without(own, "loss")),
      Field{"gamma", form::number(loss.gamma, 1, 10),
            "focal: the higher, the less do pixels count that are sure"}
          .unless(only_of("pixel", loss.pixel, Pixel::focal, own)),
      Field{"k_percent", form::number(loss.k_percent, 0.01, 100),
            "top_k: percent of the pixels, those with the largest loss"}
          .unless(only_of("pixel", loss.pixel, Pixel::top_k, own)),
      Field{"alpha", form::number(loss.alpha, 0.01, 10), "tversky: weight of invented pixels"}
          .unless(only_of("region", loss.region, Region::tversky, own)),
      Field{"beta", form::number(loss.beta, 0.01, 10), "tversky: weight of missed pixels"}.unless(
          only_of("region", loss.region, Region::tversky, own)),
  };
  fields.insert(fields.end(), built_in.begin(), built_in.end());
  return fields;
}

bool is_default(const RunConfig::Train& train) {
  return !train.own_loss.given() && train.loss.pixel == LossKind::Pixel::cross_entropy &&
         train.loss.region == LossKind::Region::dice;
}

}  // namespace

Fields train_fields(RunConfig& config) {
  RunConfig::Train& train = config.train;
  return {
      {"epochs", form::number(train.epochs, 1, 1'000'000), "of sampling.batches_per_epoch steps"},
      {"lr", form::number(train.lr, 1e-9, 10), "learning rate"},
      Field{"optimizer", form::section(python_function_fields(train.own_optimiser, "an optimizer")),
            "AdamW unless given"}
          .written_if(train.own_optimiser.given()),
      Field{"weight_decay", form::number(train.weight_decay, 0, 10), "of AdamW"}.unless(
          only_without(train.own_optimiser, "optimizer")),
      {"schedule", form::choice(train.schedule), "of the learning rate"},
      {"amp", form::choice(train.amp), "mixed precision; auto: on a GPU"},
      Field{"deterministic", form::flag(train.deterministic),
            "on a GPU: only algorithms that give the same bytes from run to run"}
          .hashed_if(!train.deterministic),
      Field{"gradient_parts", form::number(train.gradient_parts, 1, 4096),
            "equal parts of a batch whose gradients are averaged"}
          .hashed_if(train.gradient_parts != 1),
      {"checkpoint_every", form::number(train.checkpoint_every, 1, 100'000'000),
       "steps between checkpoints"},
      {"threads", form::number(train.threads, 0, 1024),
       "LibTorch's; 0: the cores divided by gradient_parts"},
      {"warmup_steps", form::number(train.warmup_steps, 0, 100'000'000),
       "in which the learning rate rises"},
      {"clip_norm", form::number(train.clip_norm, 0, 1e6), "of the whole gradient; 0: no clipping"},
      Field{"loss", form::section(loss_fields(train)), ""}.hashed_if(!is_default(train)),
      Field{"dice_weight", form::number(train.dice_weight, 0, 1e3),
            "loss = pixel + this · (1 - region)"}
          .unless(only_without(train.own_loss, "loss")),
      Field{"class_weights", form::numbers(train.class_weights, 0, 1e6),
            "of the pixels' loss, one for each class of the store", "all 1"}
          .unless(only_without(train.own_loss, "loss")),
      {"log_every", form::number(train.log_every, 1, 100'000'000),
       "steps between lines of metrics.jsonl"},
      {"validate_every", form::number(train.validate_every, 0, 1'000'000),
       "epochs; 0: only after the last"},
      Field{"ema", form::number(train.ema, 0, 0.999999),
            "decay of the average of weights that is judged and kept; 0: none"}
          .hashed_if(train.ema != 0),
      Field{"freeze", form::texts(train.freeze), "beginnings of names of tensors not trained"}
          .hashed_if(!train.freeze.empty()),
  };
}

void read_train(YamlMap map, RunConfig& config) {
  read_fields(map, train_fields(config));
  const RunConfig::Train& train = config.train;
  if (config.sampling.batch % train.gradient_parts != 0) {
    map.find("gradient_parts")
        ->reject(fmt::format("{} parts can't be equal: sampling.batch is {}. Take a divisor of it",
                             train.gradient_parts, config.sampling.batch));
  }
  const auto& weights = train.class_weights;
  if (!weights.empty() && std::accumulate(weights.begin(), weights.end(), 0.0) <= 0)
    map.find("class_weights")->reject("every weight is 0; at least one must be above 0");
  map.finish();
}

}  // namespace headrace::loader::detail
