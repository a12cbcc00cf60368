#include "headrace/transform/volume/volume_draw.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace headrace::transform {

PassBuilder::PassBuilder(VolumeParams& params, const SampleWords& words)
    : params_(params), words_(words) {
  begin();
}

void PassBuilder::stage(const VolumeStage& s) {
  if (last().kind != VolumePass::Kind::stages || last().stages.count == VolumeStages::kMax) {
    begin();
  }
  last().stages.stage[last().stages.count++] = s;
}

std::int32_t PassBuilder::statistics() {
  last().statistics = true;
  const auto input = static_cast<std::int32_t>(params_.passes.size()) - 1;
  begin();
  return input;
}

void PassBuilder::neighbours(VolumePass::Kind kind, double sigma,
                             std::array<std::int32_t, 3> small) {
  VolumePass pass;
  pass.kind = kind;
  pass.sigma = sigma;
  pass.small = small;
  params_.passes.push_back(pass);
}

VolumePass& PassBuilder::last() { return params_.passes.back(); }

void PassBuilder::begin() {
  VolumePass pass;
  pass.stages.key0 = words_.key0;
  pass.stages.key1 = words_.key1;
  pass.stages.counter3 = words_.counter3;
  params_.passes.push_back(pass);
}

const IntensityStats& VolumeDraw::known_patient() const {
  if (patient.voxels == 0) {
    fail(ErrorCode::usage,
         "transforms[{}]: {} needs the intensities of this volume's body, and the store has none; "
         "ingest it again, or choose foreground or fixed",
         entry, params.drawn.back().transform);
  }
  return patient;
}

VolumeStage linear_stage(double a, double b, double low, double high) {
  VolumeStage s;
  s.a = static_cast<float>(a);
  s.b = static_cast<float>(b);
  s.low = static_cast<float>(low);
  s.high = static_cast<float>(high);
  return s;
}

double draw_factor(EntryStream& numbers, const std::array<double, 2>& range, bool bg) {
  if (!bg) return numbers.between(range[0], range[1]);
  const bool below = numbers.chance(0.5) && range[0] < 1;
  return below ? numbers.between(range[0], std::min(range[1], 1.0))
               : numbers.between(std::max(range[0], 1.0), std::max(range[1], 1.0));
}

std::shared_ptr<const VolumeParams> VolumeGraph::draw(const SampleKey& key,
                                                      const IntensityStats& patient,
                                                      bool random) const {
  auto params = std::make_shared<VolumeParams>();
  const SampleWords words = words_of(key);
  PassBuilder passes(*params, words);
  params->outside = static_cast<float>(stored_outside(channel_.unit));
  if (const int parts = stored_per_unit(channel_.unit); parts > 1)
    passes.stage(linear_stage(0, 1.0 / parts));
  VolumeDraw sample{patch_, patient, foreground_, words, random, *params, passes, channel_.number};
  for (const VolumeTransformSpec& spec : specs_) {
    params->drawn.push_back({name_of(spec), {}});
    if (applies(spec, channel_)) std::visit([&](const auto& s) { s.draw(sample); }, spec);
    ++sample.entry;
  }
  return params;
}

Json describe(const VolumeParams& params) { return describe(params.drawn); }

}  // namespace headrace::transform
