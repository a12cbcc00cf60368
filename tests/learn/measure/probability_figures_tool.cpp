// AUC, sensitivity and calibration of predictions, for the comparison with other implementations.
// Usage: probability_figures_tool FILE CLASSES
// FILE: truth (n bytes: classes), then probabilities (n, CLASSES) float32. Prints one JSON object:
// of class 1 against the rest, and of the most probable class.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/base/calibration.hpp"
#include "learn/measure/base/roc.hpp"

int main(int argc, char** argv) {
  using headrace::Json;
  if (argc != 3) return 2;
  const auto classes = static_cast<std::size_t>(std::atoll(argv[2]));
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t count = bytes.size() / (1 + 4 * classes);
  std::vector<float> probabilities(count * classes);
  std::memcpy(probabilities.data(), bytes.data() + count, 4 * probabilities.size());
  headrace::measure::ScoreCounter counter;
  headrace::measure::Calibration top;
  for (std::size_t i = 0; i < count; ++i) {
    const auto truth = static_cast<unsigned char>(bytes[i]);
    counter.add(headrace::measure::score_of(probabilities[i * classes + 1]), truth == 1);
    top.add_classes(probabilities.data() + i * classes, 1, classes,
                    headrace::ClassMask().set(truth));
  }
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  const auto counts = counter.counts();
  Json out = {{"auc", number(area_under_roc(counts))},
              {"calibration", calibration_of(counts).to_json()},
              {"top", top.to_json()}};
  for (const double specificity : {0.5, 0.9, 0.95, 1.0})
    out["sensitivity"].push_back(number(sensitivity_at_specificity(counts, specificity)));
  fmt::print("{}\n", out.dump());
}
