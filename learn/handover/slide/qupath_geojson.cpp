#include "learn/handover/slide/qupath_geojson.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <iterator>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/pixels/palette.hpp"
#include "headrace/storage/atomic_file.hpp"
#include "learn/handover/slide/region_id.hpp"
#include "learn/handover/slide/simplify_rings.hpp"

namespace headrace::handover {
namespace {

using pixels::TracedRegion;

constexpr std::int64_t kBandRows = 512;
constexpr double kSquareUmPerMm2 = 1e6;
constexpr double kProbabilitySteps = 255;

/// The classes as values of the map.
std::bitset<256> wanted_classes(const std::vector<std::string>& wanted,
                                const std::vector<std::string>& all) {
  std::bitset<256> values;
  for (std::size_t c = 1; wanted.empty() && c < all.size(); ++c) values.set(c);
  for (const std::string& name : wanted) {
    const auto found = std::find(all.begin() + (all.empty() ? 0 : 1), all.end(), name);
    if (found == all.end()) {
      fail(ErrorCode::usage, "class '{}' is not one whose regions are exported; they are: {}", name,
           fmt::join(all.begin() + (all.empty() ? 0 : 1), all.end(), ", "));
    }
    values.set(static_cast<std::size_t>(found - all.begin()));
  }
  return values;
}

void check_measures(const GeojsonOptions& options, double mpp) {
  const double area = options.min_area_mm2;
  if (!(options.tolerance_um >= 0 && std::isfinite(options.tolerance_um)) ||
      !(area >= 0 && std::isfinite(area))) {
    fail(ErrorCode::usage,
         "a tolerance of {} micrometres and a least area of {} mm2; both are 0 or positive",
         options.tolerance_um, area);
  }
  if (mpp > 0 || (options.tolerance_um == 0 && area == 0)) return;
  fail(ErrorCode::usage,
       "the slide states no pixel size, so a tolerance in micrometres or a least area in mm2 "
       "can't be kept; give 0 for both");
}

/// The text of features, and what is the same in many of them.
class FeatureText {
 public:
  FeatureText(const result::ImageFacts& facts, double tolerance_um)
      : facts_(facts), tolerance_px_(tolerance_um > 0 ? tolerance_um / facts.slide->mpp : 0) {
    for (std::size_t c = 0; c < facts.classes.size(); ++c) {
      const pixels::Rgb colour = pixels::class_colour(c);
      classifications_.push_back(fmt::format(
          R"({{"name":{},"color":[{}]}})", Json(facts.classes[c]).dump(), fmt::join(colour, ",")));
      probabilities_.push_back(Json("mean probability " + facts.classes[c]).dump());
    }
  }

  /// What is left out: a feature of the class that labels ignore.
  const std::string& write_ignored(TracedRegion&& region) {
    simplify_rings(region.rings, tolerance_px_);
    start(region);
    text_ += R"(,"classification":{"name":"Ignore*","color":[180,180,180]}}})";
    return text_;
  }

  /// number: in regions.csv; 0: not there.
  const std::string& write(TracedRegion&& region, std::uint64_t number) {
    simplify_rings(region.rings, tolerance_px_);
    start(region);
    if (number > 0) put(R"(,"name":"region {}")", number);
    put(R"(,"classification":{},"measurements":{{)", classifications_[region.value]);
    put_measurements(region);
    text_ += "}}}";
    return text_;
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void start(const TracedRegion& region) {
    text_.clear();
    put(R"({{"type":"Feature","id":"{}","geometry":{{"type":"Polygon","coordinates":[)",
        region_id(facts_, region));
    for (const auto& ring : region.rings) {
      if (&ring != &region.rings.front()) text_ += ',';
      put_ring(ring);
    }
    text_ += R"(]},"properties":{"objectType":"annotation")";
  }

  /// Whole numbers without a fraction, others with as many digits as give the number back.
  void put_number(double value) {
    if (value == std::floor(value)) {
      put("{}", static_cast<std::int64_t>(value));
    } else {
      put("{}", value);
    }
  }

  /// QuPath crops to the scan, and counts from there.
  double along(std::size_t axis, double corner) const {
    return corner * facts_.slide->level0_px_yx[axis] -
           static_cast<double>(facts_.slide->scan_origin_yx[axis]);
  }

  void put_corner(const pixels::Corner& corner) {
    text_ += '[';
    put_number(along(1, corner.x));
    text_ += ',';
    put_number(along(0, corner.y));
    text_ += ']';
  }

  void put_ring(const std::vector<pixels::Corner>& ring) {
    text_ += '[';
    for (const pixels::Corner& corner : ring) {
      put_corner(corner);
      text_ += ',';
    }
    put_corner(ring.front());
    text_ += ']';
  }

  void put_measurements(const TracedRegion& region) {
    const double mpp = facts_.slide->mpp;
    const auto pixels = static_cast<double>(region.pixels);
    if (mpp > 0) put(R"("area mm^2":{:.6g},)", pixels * mpp * mpp / kSquareUmPerMm2);
    for (std::size_t c = 0; c < probabilities_.size(); ++c) {
      const double mean = static_cast<double>(region.sums[c]) / (kProbabilitySteps * pixels);
      put("{}{}:{:.4f}", c == 0 ? "" : ",", probabilities_[c], mean);
    }
  }

  const result::ImageFacts& facts_;
  const double tolerance_px_;
  std::vector<std::string> classifications_, probabilities_;  ///< by class, as JSON
  std::string text_;
};

/// Gives every row of the maps to the tracer.
void trace(const PredictedSlide& slide, pixels::RegionTracer& tracer) {
  const imaging::LabelLevel& map = slide.classes.at(0);
  const auto width = static_cast<std::size_t>(map.width);
  const std::size_t row_scores = slide.facts.classes.size() * width;
  const auto band = static_cast<std::size_t>(std::min(kBandRows, map.height));
  std::vector<std::uint8_t> classes(band * width), scores(band * row_scores);
  for (std::int64_t y0 = 0; y0 < map.height; y0 += kBandRows) {
    const std::int64_t rows = std::min(kBandRows, map.height - y0);
    map.render(y0, 0, rows, map.width, classes.data(), map.width);
    slide.probability(y0, rows, scores.data());
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      tracer.add(std::span(classes).subspan(row * width, width),
                 std::span(scores).subspan(row * row_scores, row_scores));
    }
  }
  tracer.finish();
}

std::uint64_t least_pixels(const PredictedSlide& slide, const GeojsonOptions& options) {
  if (options.min_area_mm2 == 0) return 1;
  const double mpp = slide.facts.slide->mpp;
  // A product such as 0.005 · 10^6 may lie just above the whole number that it stands for.
  const double pixels = options.min_area_mm2 * kSquareUmPerMm2 / (mpp * mpp) * (1 - 1e-12);
  return static_cast<std::uint64_t>(std::ceil(pixels));
}

}  // namespace

std::uint64_t write_qupath_geojson(const PredictedSlide& slide, const std::filesystem::path& path,
                                   const GeojsonOptions& options) {
  const std::vector<std::string>& names = slide.facts.classes;
  const std::bitset<256> wanted = wanted_classes(options.classes, names);
  check_measures(options, slide.facts.slide->mpp);
  const std::uint64_t least = least_pixels(slide, options);
  storage::AtomicFile file(path.string());
  FeatureText feature(slide.facts, options.tolerance_um);
  file.append(R"({"type":"FeatureCollection","features":[)");
  std::uint64_t listed = 0, written = 0, ignored = 0;
  // All classes are traced, whichever are wanted: regions.csv numbers them together.
  pixels::RegionTracer tracer(
      slide.classes.at(0).width, wanted_classes({}, names), names.size(), true,
      [&](TracedRegion&& region) {
        const bool is_listed = region.pixels >= slide.least_listed_px;
        if (is_listed) ++listed;
        if (!wanted[region.value]) return;
        file.append(written++ == 0 ? "\n" : ",\n");
        const bool small = region.pixels < least;
        ignored += small ? 1 : 0;
        file.append(small ? feature.write_ignored(std::move(region))
                          : feature.write(std::move(region), is_listed ? listed : 0));
      });
  trace(slide, tracer);
  file.append("\n]}\n");
  file.finish();
  return ignored;
}

std::uint64_t write_qupath_geojson(const result::ImageResult& result,
                                   const std::filesystem::path& path,
                                   const GeojsonOptions& options) {
  return write_qupath_geojson(predicted_slide(result), path, options);
}

}  // namespace headrace::handover
