#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/math/trigonometry.hpp"
#include "headrace/transform/entry_stream.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_params.hpp"

namespace headrace::transform {
namespace {

/// A value of a range; bg: as batchgenerators' BGContrast, half of the draws below 1.
double draw_factor(EntryStream& draw, const std::array<double, 2>& range, bool bg) {
  if (!bg) return draw.between(range[0], range[1]);
  const bool below = draw.chance(0.5) && range[0] < 1;
  return below ? draw.between(range[0], std::min(range[1], 1.0))
               : draw.between(std::max(range[0], 1.0), std::max(range[1], 1.0));
}

/// Puts stages into passes: a new one wherever statistics or neighbours are needed.
class PassBuilder {
 public:
  PassBuilder(VolumeParams& params, const SampleWords& words) : params_(params), words_(words) {
    begin();
  }

  void stage(const VolumeStage& s) {
    if (last().kind != VolumePass::Kind::stages || last().stages.count == VolumeStages::kMax) {
      begin();
    }
    last().stages.stage[last().stages.count++] = s;
  }
  /// Begins a pass that takes the statistics of the current values; returns the pass that gives
  /// them.
  std::int32_t statistics() {
    last().statistics = true;
    const auto input = static_cast<std::int32_t>(params_.passes.size()) - 1;
    begin();
    return input;
  }
  void neighbours(VolumePass::Kind kind, double sigma, std::array<std::int32_t, 3> small) {
    VolumePass pass;
    pass.kind = kind;
    pass.sigma = sigma;
    pass.small = small;
    params_.passes.push_back(pass);
  }

 private:
  VolumePass& last() { return params_.passes.back(); }
  void begin() {
    VolumePass pass;
    pass.stages.key0 = words_.key0;
    pass.stages.key1 = words_.key1;
    pass.stages.counter3 = words_.counter3;
    params_.passes.push_back(pass);
  }

  VolumeParams& params_;
  SampleWords words_;
};

/// (v - a) · b, limited.
VolumeStage linear(double a, double b, double low = -VolumeStage::kNoLimit,
                   double high = VolumeStage::kNoLimit) {
  VolumeStage s;
  s.a = static_cast<float>(a);
  s.b = static_cast<float>(b);
  s.low = static_cast<float>(low);
  s.high = static_cast<float>(high);
  return s;
}

/// A turn by `degrees` in the plane of two axes; see VolumeDrawer::affine.
Affine3 turn(double degrees, std::size_t a, std::size_t b) {
  double sine, cosine;
  math::sine_cosine(degrees / 360.0, sine, cosine);
  Affine3 t;
  t.m[4 * a + a] = t.m[4 * b + b] = cosine;
  t.m[4 * a + b] = sine;
  t.m[4 * b + a] = -sine;
  return t;
}

double tangent(double degrees) {
  double sine, cosine;
  math::sine_cosine(degrees / 360.0, sine, cosine);
  return sine / cosine;
}

/// Draws one entry after the other.
struct VolumeDrawer {
  const VolumePatchSpec& patch;
  const IntensityStats& patient;
  const IntensityStats& foreground;
  SampleWords words;
  bool random;
  VolumeParams& params;
  PassBuilder& passes;
  std::uint32_t channel;
  std::size_t entry = 0;

  /// For an entry that every channel draws on its own.
  EntryStream stream() const { return EntryStream(words, entry, channel); }
  /// For an entry that is drawn once for all channels.
  EntryStream geometry_stream() const { return EntryStream(words, entry); }
  void record(std::vector<std::pair<const char*, double>> values) {
    params.drawn.back().values = std::move(values);
  }

  /// Output → source: flip and size, then slant, then the turns about x, y and z, in millimetres;
  /// then the shift.
  void operator()(const VolumeAffineSpec& s) {
    if (!random) return;
    EntryStream draw = geometry_stream();
    const bool turned = draw.chance(s.rotate_probability);
    std::array<double, 3> angle{}, shear{}, shift{};
    for (double& a : angle) a = draw.between(s.rotate_deg[0], s.rotate_deg[1]);
    const bool scaled = draw.chance(s.scale_probability);
    double scale = draw.between(s.scale[0], s.scale[1]);
    for (double& a : shear) a = draw.between(s.shear_deg[0], s.shear_deg[1]);
    for (std::size_t i = 0; i < 3; ++i) {
      shift[i] = draw.between(-s.translate, s.translate) * patch.size_zyx[i];
    }
    std::array<bool, 3> flip{};
    for (bool& f : flip) f = draw.chance(0.5) && s.flip;
    if (!turned) angle = {0, 0, 0};
    if (s.in_plane) angle[1] = angle[2] = 0;
    if (!scaled) scale = 1;
    params.scale = scale;
    Affine3 size, slant;
    for (std::size_t i = 0; i < 3; ++i) size.m[5 * i] = (flip[i] ? -1.0 : 1.0) / scale;
    slant.m[9] = tangent(shear[0]);  // x with y
    slant.m[8] = tangent(shear[1]);  // x with z
    slant.m[4] = tangent(shear[2]);  // y with z
    const Affine3 mm =
        turn(angle[0], 1, 2) * turn(angle[1], 2, 0) * turn(angle[2], 0, 1) * slant * size;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        params.inverse.m[4 * i + j] =
            mm.m[4 * i + j] * (patch.spacing_mm_zyx[j] / patch.spacing_mm_zyx[i]);
      }
      params.inverse.m[4 * i + 3] = shift[i];
    }
    record({{"rotate_z_deg", angle[0]},
            {"rotate_y_deg", angle[1]},
            {"rotate_x_deg", angle[2]},
            {"scale", scale},
            {"shear_xy_deg", shear[0]},
            {"shear_xz_deg", shear[1]},
            {"shear_yz_deg", shear[2]},
            {"translate_z_voxels", shift[0]},
            {"translate_y_voxels", shift[1]},
            {"translate_x_voxels", shift[2]},
            {"flip_z", flip[0]},
            {"flip_y", flip[1]},
            {"flip_x", flip[2]}});
  }

  void operator()(const VolumeElasticSpec& s) {
    if (!random || s.magnitude_mm == 0) return;
    EntryStream draw = geometry_stream();
    if (!draw.chance(s.probability)) return;
    params.elastic.grid = s.grid;
    const auto edge = static_cast<std::size_t>(s.grid + 3);
    for (auto& axis : params.elastic.mm) axis.resize(edge * edge * edge);
    double most = 0;
    for (std::size_t i = 0; i < edge * edge * edge; ++i) {
      for (auto& axis : params.elastic.mm) {
        axis[i] = draw.between(-s.magnitude_mm, s.magnitude_mm);
        most = std::max(most, std::abs(axis[i]));
      }
    }
    record({{"grid", s.grid}, {"largest_control_mm", most}});
  }

  void operator()(const WindowHuSpec& s) { window(s.low, s.high); }
  void operator()(const WindowSuvSpec& s) { window(s.low, s.high); }

  void operator()(const ClipPercentilesSpec& s) {
    const IntensityStats& stats = s.of == "patient" ? known_patient() : foreground;
    passes.stage(linear(0, 1, stats.low, stats.high));
  }

  void operator()(const VolumeNormalizeSpec& s) {
    if (s.method == "fixed") {
      passes.stage(linear(s.mean, 1 / s.std));
    } else if (s.method == "zscore") {
      const IntensityStats& stats = known_patient();
      passes.stage(linear(stats.mean, 1 / std::max(stats.std, 1e-8)));
    } else if (s.method == "foreground") {
      const double scale = 1 / std::max(foreground.std, 1e-8);
      passes.stage(linear(foreground.mean, scale, (foreground.low - foreground.mean) * scale,
                          (foreground.high - foreground.mean) * scale));
    }
  }

  void operator()(const VolumeBrightnessSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double factor = draw_factor(draw, s.factor, s.bg);
    passes.stage(linear(0, factor));
    record({{"factor", factor}});
  }

  void operator()(const VolumeContrastSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double factor = draw_factor(draw, s.factor, s.bg);
    VolumeStage stage;
    stage.kind = VolumeStageKind::contrast;
    stage.power = static_cast<float>(factor);
    stage.flag = s.preserve_range;
    stage.input = passes.statistics();
    passes.stage(stage);
    record({{"factor", factor}});
  }

  void operator()(const VolumeGammaSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double gamma = draw_factor(draw, s.gamma, s.bg);
    VolumeStage stage;
    stage.kind = VolumeStageKind::stretch;
    stage.power = static_cast<float>(gamma);
    stage.flag = s.invert;
    stage.input = passes.statistics();
    passes.stage(stage);
    if (s.retain_stats) {
      VolumeStage restore;
      restore.kind = VolumeStageKind::restore;
      restore.before = stage.input;
      restore.input = passes.statistics();
      passes.stage(restore);
    }
    record({{"gamma", gamma}});
  }

  void operator()(const VolumeNoiseSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double drawn = draw.between(s.sigma[0], s.sigma[1]);
    const double sigma = s.variance ? std::sqrt(drawn) : drawn;
    if (sigma == 0) return;
    VolumeStage stage;
    stage.kind = VolumeStageKind::noise;
    stage.power = static_cast<float>(sigma);
    stage.stream = static_cast<std::uint32_t>(entry) << 16 | channel;
    passes.stage(stage);
    record({{"sigma", sigma}});
  }

  void operator()(const VolumeBlurSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double sigma = draw.between(s.sigma[0], s.sigma[1]);
    if (sigma == 0) return;
    passes.neighbours(VolumePass::Kind::blur, sigma, {});
    record({{"sigma_voxels", sigma}});
  }

  void operator()(const LowResolutionSpec& s) {
    EntryStream draw = stream();
    if (!random || !draw.chance(s.probability)) return;
    const double scale = draw.between(s.scale[0], s.scale[1]);
    std::array<std::int32_t, 3> small{};
    for (std::size_t i = 0; i < 3; ++i) {
      small[i] = std::max(1, static_cast<std::int32_t>(std::nearbyint(patch.size_zyx[i] * scale)));
    }
    passes.neighbours(VolumePass::Kind::low_resolution, 0, small);
    record({{"scale", scale}});
  }

 private:
  void window(double low, double high) { passes.stage(linear(low, 1 / (high - low), 0, 1)); }

  const IntensityStats& known_patient() const {
    if (patient.voxels == 0) {
      fail(
          ErrorCode::usage,
          "transforms[{}]: {} needs the intensities of this volume's body, and the store has none; "
          "ingest it again, or choose foreground or fixed",
          entry, params.drawn.back().transform);
    }
    return patient;
  }
};

}  // namespace

std::shared_ptr<const VolumeParams> VolumeGraph::draw(const SampleKey& key,
                                                      const IntensityStats& patient,
                                                      bool random) const {
  auto params = std::make_shared<VolumeParams>();
  const SampleWords words = words_of(key);
  PassBuilder passes(*params, words);
  params->outside = static_cast<float>(stored_outside(channel_.unit));
  if (const int parts = stored_per_unit(channel_.unit); parts > 1)
    passes.stage(linear(0, 1.0 / parts));
  VolumeDrawer drawer{patch_, patient, foreground_, words,
                      random, *params, passes,      channel_.number};
  for (const VolumeTransformSpec& spec : specs_) {
    params->drawn.push_back({name_of(spec), {}});
    if (applies(spec, channel_)) std::visit(drawer, spec);
    ++drawer.entry;
  }
  return params;
}

Json describe(const VolumeParams& params) { return describe(params.drawn); }

}  // namespace headrace::transform
