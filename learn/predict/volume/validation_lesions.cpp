#include "learn/predict/volume/validation_lesions.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"

namespace headrace::predict {
namespace {

void add_scan(const Json& image, ValidationLesions& to) {
  const auto count = [&](const char* key) { return image.at(key).get<std::uint64_t>(); };
  if (count("voxels") + count("set_voxels") == 0) return;  // not annotated
  ValidationLesions::Scan scan;
  scan.lesions = image.at("lesions").size();
  for (const Json& call : image.at("calls")) {
    const auto score = call.at("score").get<double>();
    to.calls.push_back({score, call.at("hit").get<bool>()});
    scan.highest = std::max(scan.highest, score);
  }
  to.scans.push_back(scan);
}

ValidationLesions lesions_of(const Json& evaluation, const Json& lesion) {
  ValidationLesions out;
  out.lesions = lesion.at("lesions").get<std::uint64_t>();
  for (const Json& point : lesion.at("curve")) {
    out.curve.push_back(
        {point.at(0).get<double>(), point.at(1).get<double>(), point.at(2).get<double>()});
  }
  for (const Json& image : evaluation.at("images")) add_scan(image, out);
  return out;
}

}  // namespace

OrReason<ValidationLesions> read_validation_lesions(const Json& evaluation,
                                                    const std::string& origin) {
  using Result = OrReason<ValidationLesions>;
  const Json* lesion = find_at(evaluation, {"overall", "lesion"});
  if (lesion == nullptr) return Result::none("The run's validation did not search for lesions.");
  try {
    ValidationLesions out = lesions_of(evaluation, *lesion);
    if (out.lesions == 0) return Result::none("The run's validation has no annotated lesion.");
    return Result::of(std::move(out));
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed,
         "{}: its lesions cannot be read ({}). Evaluate the run again with this version.", origin,
         json_fault(error));
  }
}

}  // namespace headrace::predict
