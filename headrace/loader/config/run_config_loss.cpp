#include <fmt/format.h>

#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader::detail {

RunConfig::Train::Loss parse_loss(YamlMap map) {
  RunConfig::Train::Loss loss;
  loss.pixel = map.get_choice("pixel", loss.pixel, {"cross_entropy", "focal", "top_k"});
  loss.region = map.get_choice("region", loss.region, {"dice", "tversky"});
  const auto belongs = [&](const char* key, const char* term, const std::string& chosen,
                           const char* owner) {
    const auto value = map.find(key);
    if (!value || chosen == owner) return;
    value->reject(
        fmt::format("belongs to {}: {}, but {} is '{}'. Leave it out", term, owner, term, chosen));
  };
  belongs("gamma", "pixel", loss.pixel, "focal");
  belongs("k_percent", "pixel", loss.pixel, "top_k");
  belongs("alpha", "region", loss.region, "tversky");
  belongs("beta", "region", loss.region, "tversky");
  loss.gamma = map.get_double("gamma", loss.gamma, 1, 10);
  loss.k_percent = map.get_double("k_percent", loss.k_percent, 0.01, 100);
  loss.alpha = map.get_double("alpha", loss.alpha, 0.01, 10);
  loss.beta = map.get_double("beta", loss.beta, 0.01, 10);
  map.finish();
  return loss;
}

Json loss_json(const RunConfig::Train::Loss& loss) {
  Json json = {{"pixel", loss.pixel}, {"region", loss.region}};
  if (loss.pixel == "focal") json["gamma"] = loss.gamma;
  if (loss.pixel == "top_k") json["k_percent"] = loss.k_percent;
  if (loss.region == "tversky") {
    json["alpha"] = loss.alpha;
    json["beta"] = loss.beta;
  }
  return json;
}

}  // namespace headrace::loader::detail
