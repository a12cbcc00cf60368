#include "headrace/transform/slide/slide_draw.hpp"

#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_spec.hpp"

namespace headrace::transform {

void ProgramBuilder::density(const ColourAffine& od) {
  if (pending_ == Pending::linear) flush();
  pending_ = Pending::density;
  affine_ = od * affine_;
  coloured_ = true;
}

void ProgramBuilder::linear(const ColourAffine& rgb) {
  if (pending_ == Pending::density) flush();
  pending_ = Pending::linear;
  affine_ = within_255(rgb) * affine_;
  coloured_ = true;
}

void ProgramBuilder::noise(double sigma) {
  limit();
  Stage stage{StageKind::noise, {}};
  stage.map.m[0] = static_cast<float>(255.0 * sigma);
  add(stage);
  (blurred_ ? params_.noise_after_blur : params_.noise_before_blur) = true;
}

void ProgramBuilder::blur(double sigma) {
  limit();
  params_.blur_sigma = sigma;
  blurred_ = true;
}

void ProgramBuilder::finish(const ColourAffine& to_output) {
  limit();
  add({StageKind::scale, from_255(to_output).rounded()});
}

void ProgramBuilder::flush() {
  if (pending_ == Pending::density) {
    add({StageKind::density, density_to_log2(affine_).rounded()});
  } else if (pending_ == Pending::linear) {
    add({StageKind::linear, affine_.rounded()});
  }
  pending_ = Pending::none;
  affine_ = {};
}

void ProgramBuilder::limit() {
  flush();
  if (coloured_) add({StageKind::limit, {}});
  coloured_ = false;
}

void ProgramBuilder::add(const Stage& stage) {
  ColourProgram& program = blurred_ ? params_.after_blur : params_.before_blur;
  if (program.count == ColourProgram::kMaxStages) {
    fail(ErrorCode::usage,
         "transforms: the colour operations change between optical density and RGB so often that "
         "they need more than {} "
         "steps; put those of one kind next to each other",
         ColourProgram::kMaxStages);
  }
  program.stages[program.count++] = stage;
}

std::shared_ptr<const SampleParams> Graph::draw(const SampleKey& key, const ImageColour& colour,
                                                bool random) const {
  auto params = std::make_shared<SampleParams>();
  ProgramBuilder program(*params);
  SlideDraw sample{patch_, colour, reference_, words_of(key), random, *params, program};
  for (const TransformSpec& spec : specs_) {
    params->drawn.push_back({name_of(spec), {}});
    std::visit([&](const auto& s) { s.draw(sample); }, spec);
    ++sample.entry;
  }
  program.finish(sample.to_output);
  return params;
}

Json describe(const SampleParams& params) { return describe(params.drawn); }

}  // namespace headrace::transform
