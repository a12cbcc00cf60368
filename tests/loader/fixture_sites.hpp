#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace headrace::fixtures {

using Index3 = std::array<std::int64_t, 3>;

/// Number of the connected component (neighbours by faces, edges and corners) of each element of a
/// (z, y, x) mask, counted from 0 in the order of first elements; -1 where it is not set.
inline std::vector<std::int64_t> plain_components(const Index3& shape,
                                                  const std::vector<bool>& mask) {
  std::vector<std::int64_t> number(mask.size(), -1);
  const auto at = [&](const Index3& p) {
    return static_cast<std::size_t>((p[0] * shape[1] + p[1]) * shape[2] + p[2]);
  };
  std::int64_t next = 0;
  std::vector<Index3> open;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i] || number[i] >= 0) continue;
    const auto flat = static_cast<std::int64_t>(i);
    open = {{flat / shape[2] / shape[1], flat / shape[2] % shape[1], flat % shape[2]}};
    number[i] = next;
    while (!open.empty()) {
      const Index3 p = open.back();
      open.pop_back();
      for (std::int64_t n = 0; n < 27; ++n) {
        const Index3 q{p[0] + n / 9 - 1, p[1] + n / 3 % 3 - 1, p[2] + n % 3 - 1};
        bool inside = true;
        for (std::size_t a = 0; a < 3; ++a) inside = inside && q[a] >= 0 && q[a] < shape[a];
        if (!inside || !mask[at(q)] || number[at(q)] >= 0) continue;
        number[at(q)] = next;
        open.push_back(q);
      }
    }
    ++next;
  }
  return number;
}

/// The sampler's rows, counted pixel by pixel: place, [class, region,] pixels, eight words of
/// parts.
struct PlainSites {
  Index3 shape{}, block{}, part{};
  std::size_t axes = 3;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Index3>, std::array<std::uint32_t, 9>> found;

  void add(const Index3& at, std::uint32_t value, std::uint32_t region) {
    Index3 place{}, inside{};
    for (std::size_t a = 0; a < 3; ++a) {
      place[a] = at[a] / block[a];
      inside[a] = at[a] % block[a] / part[a];
    }
    auto& row = found[{value, region, place}];
    const std::int64_t bit =
        (inside[0] * (block[1] / part[1]) + inside[1]) * (block[2] / part[2]) + inside[2];
    ++row[0];
    row[static_cast<std::size_t>(1 + bit / 32)] |= 1u << (bit % 32);
  }
  std::vector<std::uint32_t> rows(bool with_class) const {
    std::vector<std::uint32_t> rows;
    for (const auto& [key, counts] : found) {
      const auto& [value, region, place] = key;
      for (std::size_t a = 3 - axes; a < 3; ++a)
        rows.push_back(static_cast<std::uint32_t>(place[a]));
      if (with_class) rows.insert(rows.end(), {value, region});
      rows.insert(rows.end(), counts.begin(), counts.end());
    }
    return rows;
  }
  std::int64_t columns(bool with_class) const {
    return static_cast<std::int64_t>(axes + (with_class ? 11 : 9));
  }
  template <typename Edges>
  static std::vector<std::int64_t> last(const Edges& edges, std::size_t axes) {
    return {edges.end() - static_cast<std::ptrdiff_t>(axes), edges.end()};
  }
};

}  // namespace headrace::fixtures
