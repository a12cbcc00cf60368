#include "learn/train/evaluate/baseline.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headrace/loader/plan/plan_images.hpp"
#include "headrace/loader/plan/volume_tile_plan.hpp"
#include "learn/measure/base/confusion.hpp"

namespace headrace::train {
namespace {

using Box = std::array<std::array<std::int64_t, 3>, 2>;

/// The box around the body, whatever is annotated.
Box body_of(const cohort::Cohort& cohort, std::uint32_t image) {
  const auto& shape = cohort.images()[image].volume->levels.front().shape_zyx;
  return loader::detail::body_box(cohort.volume_cells(image, ""), shape);
}

/// Amounts and places of a class, summed over volumes.
struct Sums {
  double volume_mm3 = 0, volumes = 0;
  std::array<double, 3> centre{};
};

void add_volume(const cohort::Cohort& cohort, std::uint32_t image, const std::string& labels,
                std::vector<Sums>& sums) {
  const cohort::VolumeLevel& level = cohort.images()[image].volume->levels.front();
  const auto [low, high] = body_of(cohort, image);
  const cohort::VolumeCellIndex cells = cohort.volume_cells(image, labels);
  const auto& spacing = level.spacing_mm_zyx;
  for (std::size_t c = 1; c < sums.size() && c < cells.class_voxels.size(); ++c) {
    double voxels = 0;
    std::array<double, 3> place{};
    for (std::size_t i = 0; i < cells.cell_zyx.size(); ++i) {
      const double count = cells.class_voxels[c][i];
      voxels += count;
      for (std::size_t axis = 0; axis < 3; ++axis)
        place[axis] += count * (cells.cell_zyx[i][axis] + 0.5) * cells.cell_size_zyx[axis];
    }
    if (voxels == 0) continue;
    sums[c].volume_mm3 += voxels * spacing[0] * spacing[1] * spacing[2];
    ++sums[c].volumes;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto edge = static_cast<double>(high[axis] - low[axis]);
      sums[c].centre[axis] +=
          std::clamp((place[axis] / voxels - static_cast<double>(low[axis])) / edge, 0.0, 1.0);
    }
  }
}

Baseline of_volumes(const cohort::Cohort& cohort, const std::vector<std::uint32_t>& images,
                    const std::string& labels) {
  std::vector<Sums> sums(cohort.classes().size());
  for (const std::uint32_t image : images) add_volume(cohort, image, labels, sums);
  Baseline out{cohort.classes(), std::vector<std::optional<Baseline::Ball>>(sums.size()), {}};
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (sums[c].volumes == 0) continue;
    Baseline::Ball& ball = out.balls[c].emplace();
    ball.volume_mm3 = sums[c].volume_mm3 / sums[c].volumes;
    for (std::size_t axis = 0; axis < 3; ++axis)
      ball.centre_zyx[axis] = sums[c].centre[axis] / sums[c].volumes;
  }
  return out;
}

/// Kappa of one grade for every slide: 0, and undefined where all slides have one grade.
Json constant_kappa(const Json& gleason) {
  std::size_t grades = 0;
  for (const Json& row : gleason.at("matrix")) {
    grades += std::any_of(row.begin(), row.end(),
                          [](const Json& count) { return count.get<std::uint64_t>() > 0; })
                  ? 1
                  : 0;
  }
  return grades > 1 ? Json(0.0) : Json(nullptr);
}

/// For one class for every pixel: its tumour Dice, and the fact that it ranks nothing.
Json constant_tumour(const Json& tumour, const std::vector<std::string>& classes,
                     const std::vector<bool>& untold, const std::optional<std::size_t>& majority) {
  const Json& region = tumour.at("classes");
  const bool said =
      std::find(region.begin(), region.end(), classes[majority.value_or(0)]) != region.end();
  const auto pixels = tumour.at("pixels").get<std::uint64_t>(),
             positives = tumour.at("positives").get<std::uint64_t>();
  bool told = region.empty();
  for (std::size_t c = 0; c < classes.size(); ++c)
    told |= !untold[c] && std::find(region.begin(), region.end(), classes[c]) != region.end();
  measure::Confusion constant(2, {false, !told});
  constant.add(0, said ? 1 : 0, pixels - positives);
  constant.add(1, said ? 1 : 0, positives);
  return {{"dice", or_null(constant.dice(1))},
          {"auc", tumour.at("auc").is_null() ? Json(nullptr) : Json(0.5)}};
}

Baseline of_slides(const cohort::Cohort& cohort, const std::vector<std::uint32_t>& images,
                   const std::string& labels) {
  std::vector<std::uint64_t> pixels(cohort.classes().size(), 0);
  for (const std::uint32_t image : images) {
    const cohort::CellIndex cells = cohort.cells(image, labels);
    for (std::size_t c = 1; c < pixels.size() && c < cells.class_px.size(); ++c) {
      for (const std::uint32_t count : cells.class_px[c]) pixels[c] += count;
    }
  }
  Baseline out{cohort.classes(), {}, {}};
  const auto most = std::max_element(pixels.begin(), pixels.end());
  if (*most > 0) out.majority = static_cast<std::size_t>(most - pixels.begin());
  return out;
}

}  // namespace

Baseline fit_baseline(const cohort::Cohort& cohort, const config::RunConfig& config) {
  const auto images =
      loader::detail::images_of_split(cohort, config, config.data.train, "data.train");
  return (config.volumes ? of_volumes : of_slides)(cohort, images, config.data.labels);
}

Json Baseline::to_json() const {
  Json out = Json::object();
  if (balls.empty()) {
    out["majority"] = majority ? Json(classes[*majority]) : Json(nullptr);
    return out;
  }
  out["balls"] = Json::object();
  for (std::size_t c = 0; c < balls.size(); ++c) {
    if (balls[c]) {
      out["balls"][classes[c]] = {{"volume_mm3", balls[c]->volume_mm3},
                                  {"centre_zyx", balls[c]->centre_zyx}};
    }
  }
  return out;
}

Baseline Baseline::from_json(const Json& json, const std::vector<std::string>& classes) {
  Baseline out{classes, {}, {}};
  if (!json.contains("balls")) {
    const auto found = std::find(classes.begin(), classes.end(), json.at("majority"));
    if (found != classes.end()) out.majority = static_cast<std::size_t>(found - classes.begin());
    return out;
  }
  out.balls.resize(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (!json.at("balls").contains(classes[c])) continue;
    const Json& ball = json.at("balls").at(classes[c]);
    out.balls[c] = {ball.at("volume_mm3").get<double>(),
                    ball.at("centre_zyx").get<std::array<double, 3>>()};
  }
  return out;
}

BallSlices::BallSlices(const Baseline& baseline, const cohort::Cohort& cohort,
                       std::uint32_t image) {
  const cohort::VolumeLevel& level = cohort.images()[image].volume->levels.front();
  shape_ = level.shape_zyx;
  spacing_ = level.spacing_mm_zyx;
  const auto [low, high] = body_of(cohort, image);
  for (std::size_t c = 0; c < baseline.balls.size(); ++c) {
    if (!baseline.balls[c]) continue;
    Placed ball{c, std::cbrt(3 * baseline.balls[c]->volume_mm3 / (4 * std::numbers::pi)), {}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto edge = static_cast<double>(high[axis] - low[axis]);
      ball.centre_mm[axis] = spacing_[axis] * (static_cast<double>(low[axis]) +
                                               baseline.balls[c]->centre_zyx[axis] * edge);
    }
    balls_.push_back(ball);
  }
  slice_.resize(baseline.classes.size() * static_cast<std::size_t>(shape_[1] * shape_[2]));
}

std::span<const float> BallSlices::slice(std::int64_t z) {
  const auto pixels = static_cast<std::size_t>(shape_[1] * shape_[2]);
  std::fill(slice_.begin(), slice_.end(), 0.0f);
  const auto from = [&](const Placed& ball, std::size_t axis, std::int64_t i) {
    return (static_cast<double>(i) + 0.5) * spacing_[axis] - ball.centre_mm[axis];
  };
  std::size_t i = 0;
  for (std::int64_t y = 0; y < shape_[1]; ++y) {
    for (std::int64_t x = 0; x < shape_[2]; ++x, ++i) {
      std::size_t best = 0;
      double nearest = 1;  // squared, in radii
      for (const Placed& ball : balls_) {
        const double dz = from(ball, 0, z), dy = from(ball, 1, y), dx = from(ball, 2, x);
        const double part = (dz * dz + dy * dy + dx * dx) / (ball.radius_mm * ball.radius_mm);
        if (part >= nearest) continue;
        nearest = part;
        best = ball.class_value;
      }
      slice_[best * pixels + i] = 1;
    }
  }
  return slice_;
}

Json majority_figures(const Baseline& baseline, const Json& evaluation) {
  const std::size_t classes = baseline.classes.size();
  const Json& missing = evaluation.at("missing_classes");
  std::vector<bool> untold;
  for (const std::string& name : baseline.classes)
    untold.push_back(std::find(missing.begin(), missing.end(), name) != missing.end());
  const auto figures = [&](const Json& group) {
    measure::Confusion constant(classes, untold);
    for (std::size_t t = 0; t < classes; ++t) {
      for (const Json& count : group.at("matrix").at(t))
        constant.add(t, baseline.majority.value_or(0), count.get<std::uint64_t>());
    }
    const Json json = constant.to_json(baseline.classes);
    Json out = {{"dice", json.at("dice")},
                {"mean_dice", json.at("mean_dice")},
                {"accuracy", json.at("accuracy")}};
    if (group.contains("tumour"))
      out["tumour"] =
          constant_tumour(group.at("tumour"), baseline.classes, untold, baseline.majority);
    if (group.contains("gleason")) out["gleason"]["kappa"] = constant_kappa(group.at("gleason"));
    return out;
  };
  Json out = {{"overall", figures(evaluation.at("overall"))}};
  for (const char* groups : {"cohorts", "scanners"}) {
    out[groups] = Json::object();
    for (const auto& [name, group] : evaluation.at(groups).items())
      out[groups][name] = figures(group);
  }
  return out;
}

}  // namespace headrace::train
