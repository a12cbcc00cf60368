#pragma once
#include <cstddef>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::result {

/// Where the pixels of a level of an OME-Zarr image lie, along each axis of its array and in the
/// unit of that axis: how far apart (an axis of channels has 1), and the centre of the first one,
/// counted from the centre of the first pixel of the slide's level 0, or from the origin of a
/// volume's axes. These are OME-NGFF 0.5's `scale` and `translation`.
struct LevelPlace {
  std::vector<double> scale;
  std::vector<double> translation;  ///< empty where a file does not state it
};

/// Centre of the first of pixels that are `factor` finest pixels wide and begin where these begin,
/// as means of them do, from the centre of the first finest one. `finest`: their distance.
constexpr double first_centre(double factor, double finest) { return (factor - 1) / 2 * finest; }

/// A level's entry of `datasets`; its array is named by its number.
Json dataset_json(std::size_t level, const LevelPlace& place);

/// What an entry of `datasets` states. Errors: Json::exception (not an entry).
LevelPlace place_of(const Json& dataset);

}  // namespace headrace::result
