#include "learn/suggest/image_features.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace headrace::suggest {
namespace {

/// Units of ImageColour's sums.
constexpr double kOdUnit = 1.0 / 8192, kOdSquareUnit = 1.0 / 67108864;

/// A value of each image; nothing where the function gives nothing.
template <typename Value>
FeatureColumn column_of(std::size_t images, const Value& value) {
  FeatureColumn column(images);
  for (std::size_t i = 0; i < images; ++i) column[i] = value(i);
  return column;
}

std::optional<double> root_of_part(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return std::sqrt(static_cast<double>(part) / static_cast<double>(whole));
}

/// Numbers of one image; empty where they are not known.
using Numbers = std::vector<double>;

Numbers colour_of(const ImageColour& colour) {
  if (colour.od_pixels == 0 || !colour.has_stain) return {};
  const auto pixels = static_cast<double>(colour.od_pixels);
  constexpr std::array<std::size_t, 3> kSquares{0, 3, 5};  // rr, gg, bb
  Numbers out;
  for (std::size_t c = 0; c < 3; ++c) {
    const double mean = static_cast<double>(colour.od_sum[c]) / pixels * kOdUnit;
    const double square =
        static_cast<double>(colour.od_product[kSquares[c]]) / pixels * kOdSquareUnit;
    out.push_back(mean);
    out.push_back(std::sqrt(std::max(0.0, square - mean * mean)));
  }
  out.insert(out.end(), colour.stain_od_rgb_he.begin(), colour.stain_od_rgb_he.end());
  out.insert(out.end(), colour.max_concentration.begin(), colour.max_concentration.end());
  return out;
}

Numbers intensities_of(const cohort::VolumeRecord& volume) {
  const IntensityStats& body = volume.body;
  if (body.voxels == 0 || volume.levels.empty()) return {};
  Numbers out{body.mean, body.std, body.low, body.high};
  const auto& spacing = volume.levels.front().spacing_mm_zyx;
  out.insert(out.end(), spacing.begin(), spacing.end());
  return out;
}

Numbers look_of(const PooledImage& image) {
  if (image.record == nullptr) return {};
  return image.record->volume ? intensities_of(*image.record->volume)
                              : colour_of(image.record->colour);
}

void add_look(FeatureTable& table, const std::vector<PooledImage>& images) {
  std::vector<Numbers> looks;
  std::size_t width = 0;
  for (const PooledImage& image : images) {
    looks.push_back(look_of(image));
    width = std::max(width, looks.back().size());
  }
  std::vector<FeatureColumn> columns;
  for (std::size_t k = 0; k < width; ++k) {
    columns.push_back(column_of(images.size(), [&](std::size_t i) -> std::optional<double> {
      if (looks[i].empty()) return std::nullopt;
      return looks[i][k];
    }));
  }
  table.add_numbers(columns);
}

void add_origin(FeatureTable& table, const std::vector<PooledImage>& images) {
  const auto names_by = [&](const std::function<std::string(const cohort::ImageRecord&)>& name) {
    std::vector<std::string> names;
    for (const PooledImage& image : images)
      names.push_back(image.record != nullptr ? name(*image.record) : std::string());
    return names;
  };
  std::vector<std::vector<std::string>> columns{
      names_by([](const auto& record) { return record.scanner; }),
      names_by([](const auto& record) { return record.cohort; })};
  if (images.front().result.facts().volume) {
    columns.push_back(
        names_by([](const auto& record) { return record.volume ? record.volume->phase : ""; }));
  }
  table.add_names(columns);
}

}  // namespace

FeatureTable image_features(const std::vector<PooledImage>& images,
                            const std::vector<MapSummary>& summaries) {
  FeatureTable table(images.size());
  const std::size_t classes = summaries.front().class_px.size();
  std::vector<FeatureColumn> shares, bins;
  for (std::size_t c = 0; c < classes; ++c) {
    shares.push_back(column_of(images.size(), [&](std::size_t i) {
      return root_of_part(summaries[i].class_px[c], summaries[i].predicted);
    }));
    for (std::size_t b = 0; b < kProbabilityBins; ++b) {
      bins.push_back(column_of(images.size(), [&](std::size_t i) {
        return root_of_part(summaries[i].probability_px[c][b], summaries[i].predicted);
      }));
    }
  }
  table.add_numbers(shares);
  table.add_numbers(bins);
  add_look(table, images);
  add_origin(table, images);
  return table;
}

}  // namespace headrace::suggest
