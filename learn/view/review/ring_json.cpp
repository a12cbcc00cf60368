#include "learn/view/review/ring_json.hpp"

#include <cmath>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::view {
namespace {

constexpr double kMostCoordinate = 1e9;

pixels::Ring ring_of(const Json& json) {
  pixels::Ring ring;
  if (!json.is_array()) fail(ErrorCode::usage, "outline: a ring is not a list of positions");
  for (const Json& position : json) {
    if (!position.is_array() || position.size() != 2 || !position[0].is_number() ||
        !position[1].is_number()) {
      fail(ErrorCode::usage, "outline: position {} of a ring is not [y, x]", ring.size());
    }
    const double y = position[0].get<double>(), x = position[1].get<double>();
    if (!(std::abs(y) <= kMostCoordinate && std::abs(x) <= kMostCoordinate))
      fail(ErrorCode::usage, "outline: [{}, {}] is not a place in an image", y, x);
    ring.push_back({x, y});
  }
  if (ring.size() < 3)
    fail(ErrorCode::usage, "outline: a ring has {} positions, 3 are needed", ring.size());
  return ring;
}

}  // namespace

Json json_of_rings(const std::vector<pixels::Ring>& rings) {
  Json out = Json::array();
  for (const pixels::Ring& ring : rings) {
    Json positions = Json::array();
    for (const auto& [x, y] : ring) positions.push_back({y, x});
    out.push_back(std::move(positions));
  }
  return out;
}

std::vector<pixels::Ring> rings_of_json(const Json& json) {
  if (!json.is_array()) fail(ErrorCode::usage, "outline: is not a list of rings");
  std::vector<pixels::Ring> rings;
  for (const Json& ring : json) rings.push_back(ring_of(ring));
  return rings;
}

}  // namespace headrace::view
