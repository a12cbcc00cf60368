#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/math/trigonometry.hpp"
#include "headrace/transform/entry_stream.hpp"
#include "headrace/transform/slide/colour_affine.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_graph.hpp"

namespace headrace::transform {
namespace {

/// Builds the two colour programs: runs of operations of one kind become one stage.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(SampleParams& params) : params_(params) {}

  void density(const ColourAffine& od) {
    if (pending_ == Pending::linear) flush();
    pending_ = Pending::density;
    affine_ = od * affine_;
    coloured_ = true;
  }
  void linear(const ColourAffine& rgb) {
    if (pending_ == Pending::density) flush();
    pending_ = Pending::linear;
    affine_ = within_255(rgb) * affine_;
    coloured_ = true;
  }
  void noise(double sigma) {
    limit();
    Stage stage{StageKind::noise, {}};
    stage.map.m[0] = static_cast<float>(255.0 * sigma);
    add(stage);
    (blurred_ ? params_.noise_after_blur : params_.noise_before_blur) = true;
  }
  void blur(double sigma) {
    limit();
    params_.blur_sigma = sigma;
    blurred_ = true;
  }
  void finish(const ColourAffine& to_output) {
    limit();
    add({StageKind::scale, from_255(to_output).rounded()});
  }

 private:
  enum class Pending { none, density, linear };

  void flush() {
    if (pending_ == Pending::density) {
      add({StageKind::density, density_to_log2(affine_).rounded()});
    } else if (pending_ == Pending::linear) {
      add({StageKind::linear, affine_.rounded()});
    }
    pending_ = Pending::none;
    affine_ = {};
  }
  /// Ends a run of colour operations: its output is a colour again.
  void limit() {
    flush();
    if (coloured_) add({StageKind::limit, {}});
    coloured_ = false;
  }
  void add(const Stage& stage) {
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

  SampleParams& params_;
  Pending pending_ = Pending::none;
  ColourAffine affine_;
  bool coloured_ = false, blurred_ = false;
};

/// Draws one entry after the other.
struct Drawer {
  const PatchSpec& patch;
  const ImageColour& colour;
  const ImageColour& reference;
  SampleWords words;
  bool random;
  SampleParams& params;
  ProgramBuilder& builder;
  std::size_t entry = 0;
  ColourAffine to_output{};  // values 0..1 → output values

  EntryStream stream() const { return EntryStream(words, entry); }
  void record(std::vector<std::pair<const char*, double>> values) {
    params.drawn.back().values = std::move(values);
  }

  void operator()(const AffineSpec& s) {
    if (!random) return;
    EntryStream draw = stream();
    const double rotate = draw.between(s.rotate_deg[0], s.rotate_deg[1]);
    const double scale = draw.between(s.scale[0], s.scale[1]);
    const double shear = draw.between(s.shear_deg[0], s.shear_deg[1]);
    const double ty = draw.between(-s.translate, s.translate) * patch.height;
    const double tx = draw.between(-s.translate, s.translate) * patch.width;
    const bool flip_y = draw.chance(0.5) && s.flip, flip_x = draw.chance(0.5) && s.flip;
    double sine, cosine, shear_sine, shear_cosine;
    math::sine_cosine(rotate / 360.0, sine, cosine);
    math::sine_cosine(shear / 360.0, shear_sine, shear_cosine);
    const Affine2 size{{(flip_y ? -1.0 : 1.0) / scale, 0, 0, 0, (flip_x ? -1.0 : 1.0) / scale, 0}};
    const Affine2 slant{{1, 0, 0, shear_sine / shear_cosine, 1, 0}};
    const Affine2 turn{{cosine, sine, ty, -sine, cosine, tx}};
    params.inverse = turn * slant * size;
    record({{"rotate_deg", rotate},
            {"scale", scale},
            {"shear_deg", shear},
            {"translate_y_px", ty},
            {"translate_x_px", tx},
            {"flip_y", flip_y},
            {"flip_x", flip_x}});
  }

  void operator()(const ElasticSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability) || s.magnitude_um == 0) return;
    ElasticField& field = params.elastic;
    field.grid = s.grid;
    const std::size_t count = static_cast<std::size_t>(s.grid + 3) * (s.grid + 3);
    field.y_um.resize(count);
    field.x_um.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      field.y_um[i] = draw.between(-s.magnitude_um, s.magnitude_um);
      field.x_um[i] = draw.between(-s.magnitude_um, s.magnitude_um);
    }
    record({{"grid", s.grid}, {"magnitude_um", s.magnitude_um}});
  }

  void operator()(const StainNormalizeSpec&) {
    if (!colour.has_stain) {
      fail(ErrorCode::usage,
           "transforms: stain_normalize needs the image's stain estimate, and it has none; ingest "
           "it with enough tissue, or "
           "leave stain_normalize out");
    }
    builder.density(stain_normalization(colour, reference));
  }

  void operator()(const ScannerColorSpec&) {
    if (!colour.has_scanner) {
      fail(ErrorCode::usage,
           "transforms: scanner_color needs the scanner's colour statistics, and the store has "
           "none for this image; name the "
           "scanner in the cohort table at ingest, or leave scanner_color out");
    }
    builder.density(scanner_standardization(colour));
  }

  void operator()(const HedJitterSpec& s) {
    if (!random) return;
    EntryStream draw = stream();
    std::array<double, 3> factor, shift;
    for (int stain = 0; stain < 3; ++stain) {
      factor[stain] = draw.between(-s.sigma, s.sigma);
      shift[stain] = draw.between(-s.sigma, s.sigma);
    }
    builder.density(hed_jitter(factor, shift));
    record({{"h_factor", 1 + factor[0]},
            {"h_shift", shift[0]},
            {"e_factor", 1 + factor[1]},
            {"e_shift", shift[1]},
            {"d_factor", 1 + factor[2]},
            {"d_shift", shift[2]}});
  }

  void operator()(const ColorJitterSpec& s) {
    if (!random) return;
    EntryStream draw = stream();
    const double brightness = draw.between(1 - s.brightness, 1 + s.brightness);
    const double contrast = draw.between(1 - s.contrast, 1 + s.contrast);
    const double saturation = draw.between(1 - s.saturation, 1 + s.saturation);
    const double hue = draw.between(-s.hue, s.hue);
    builder.linear(color_jitter(brightness, contrast, saturation, hue));
    record({{"brightness", brightness},
            {"contrast", contrast},
            {"saturation", saturation},
            {"hue", hue}});
  }

  void operator()(const GaussianNoiseSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double sigma = draw.between(s.sigma[0], s.sigma[1]);
    if (sigma == 0) return;
    params.noise = {words.key0, words.key1, static_cast<std::uint32_t>(entry) << 16,
                    words.counter3};
    builder.noise(sigma);
    record({{"sigma", sigma}});
  }

  void operator()(const BlurSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double sigma = draw.between(s.sigma[0], s.sigma[1]);
    if (sigma == 0) return;
    builder.blur(sigma);
    record({{"sigma_px", sigma}});
  }

  void operator()(const NormalizeSpec& s) { to_output = normalization(s.mean, s.std); }
};

}  // namespace

std::shared_ptr<const SampleParams> Graph::draw(const SampleKey& key, const ImageColour& colour,
                                                bool random) const {
  auto params = std::make_shared<SampleParams>();
  ProgramBuilder builder(*params);
  Drawer drawer{patch_, colour, reference_, words_of(key), random, *params, builder};
  for (const TransformSpec& spec : specs_) {
    params->drawn.push_back({name_of(spec), {}});
    std::visit(drawer, spec);
    ++drawer.entry;
  }
  builder.finish(drawer.to_output);
  return params;
}

Json describe(const SampleParams& params) { return describe(params.drawn); }

}  // namespace headrace::transform
