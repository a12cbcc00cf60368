#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headrace::suggest {

/// A feature of images: one number for each, or nothing where it is not known.
using FeatureColumn = std::vector<std::optional<double>>;

/// The numbers by which images are told apart, as points between which distances are Euclidean.
///
/// Columns come in groups (class shares, probabilities, colours, origin); every group weighs the
/// same, however many columns it has. A column of numbers is standardised by its median and MAD:
/// z = (v - median) / (1.4826 · MAD), where MAD is 0 by 1.2533 · mean absolute deviation, and cut
/// at ±3.5 (Iglewicz & Hoaglin, How to Detect and Handle Outliers, 1993). So columns that are 0 for
/// most images count, and one odd image is not far from all others by one column alone. What is not
/// known has z = 0, the median. Columns in which all images are alike are left out.
class FeatureTable {
 public:
  explicit FeatureTable(std::size_t images) : images_(images), points_(images) {}

  /// Adds a group; the squared distance of two images drawn at random is about 2 in it.
  void add_numbers(const std::vector<FeatureColumn>& columns);
  /// Adds a group of names (scanner, site): images that differ in all of them have the squared
  /// distance 2 in it. An empty name is a name like others.
  void add_names(const std::vector<std::vector<std::string>>& columns);

  std::size_t images() const noexcept { return images_; }
  const std::vector<double>& point(std::size_t image) const { return points_.at(image); }
  double distance(std::size_t a, std::size_t b) const;

 private:
  std::size_t images_;
  std::vector<std::vector<double>> points_;
};

/// The middle value, of an even number the mean of the two. `values` is not empty.
double median_of(std::vector<double> values);

}  // namespace headrace::suggest
