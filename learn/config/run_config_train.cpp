#include <fmt/format.h>

#include <numeric>

#include "learn/config/run_config_parts.hpp"

namespace headrace::config::detail {
namespace {

constexpr const char* kMeanDice = "mean_dice";

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

/// mean_dice is the same as none.
Form figure_form(std::string& figure) {
  Form form = form::text(figure);
  form.read = [&figure](const YamlValue& value) {
    figure = value.as_string();
    if (figure == kMeanDice) figure.clear();
  };
  form.json = [&figure] { return figure.empty() ? Json(kMeanDice) : Json(figure); };
  form.accepts = "path of a figure";
  return form;
}

Fields best_fields(RunConfig::Train::Best& best) {
  return {
      {"figure", figure_form(best.figure),
       "figure of eval.json, as lesion.froc or dice.tumour, that chooses the best weights"},
      {"over", form::choice(best.over), "all images, or the group that is worst in it"},
      {"better", form::choice(best.better), "auto: less for distances and errors, else more"},
  };
}

bool is_default(const RunConfig::Train::Best& best) {
  return best.figure.empty() && best.over == BestOver::overall &&
         best.better == BetterWhen::automatic;
}

/// Training ends early only by validations that there are.
void check_patience(YamlMap& map, const RunConfig::Train& train) {
  if (train.patience == 0) {
    if (const auto delta = map.find("min_delta"); delta && train.min_delta > 0)
      delta->reject("needs train.patience; give it, or leave this out");
    return;
  }
  if (train.validate_every > 0) return;
  map.find("patience")
      ->reject(
          "needs validations during training, but train.validate_every is 0. Give it a number of "
          "epochs, or leave this out");
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
      loader::detail::amp_field(config),
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
      Field{"patience", form::number(train.patience, 0, 1'000'000),
            "validations in a row without improvement after which training ends; 0: it never does"}
          .written_if(train.patience != 0),
      Field{"min_delta", form::number(train.min_delta, 0, 1e9),
            "what a validation must be better by to count as improvement"}
          .written_if(train.min_delta != 0),
      Field{"best", form::section(best_fields(train.best)), ""}.written_if(!is_default(train.best)),
      Field{"keep_checkpoints", form::number(train.keep_checkpoints, 1, 1'000'000),
            "newest checkpoints that are kept"}
          .written_if(train.keep_checkpoints != RunConfig::Train().keep_checkpoints)
          .decides_nothing(),
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
  check_patience(map, train);
  map.finish();
}

}  // namespace headrace::config::detail
