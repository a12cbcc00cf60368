#include "headrace/pixels/components.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::pixels {
namespace {

class Forest {
 public:
  explicit Forest(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }

  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }
  /// The smaller number becomes the root, so that roots are first voxels.
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

void append_runs(const BitVolume& mask, std::int64_t z, std::int64_t y, std::vector<Run>& runs) {
  const std::uint64_t* row = mask.row(z, y);
  const std::int64_t width = mask.shape_zyx()[2];
  const auto next = [&](std::int64_t x, bool set) {  // first voxel from x on that is set, or clear
    while (x < width) {
      const std::uint64_t word = (set ? row[x >> 6] : ~row[x >> 6]) >> (x & 63);
      if (word != 0) return std::min(width, x + std::countr_zero(word));
      x = (x | 63) + 1;
    }
    return width;
  };
  for (std::int64_t x = next(0, true); x < width;) {
    const std::int64_t end = next(x, false);
    runs.push_back({static_cast<std::int32_t>(z), static_cast<std::int32_t>(y),
                    static_cast<std::int32_t>(x), static_cast<std::int32_t>(end), 0});
    x = next(end, true);
  }
}

struct Rows {
  std::vector<Run> runs;
  std::vector<std::uint32_t> first;  ///< of each row, and one after the last
};

/// Joins runs of row a with those of row b that touch them; `reach` 1 lets corners touch.
void join_rows(const Rows& rows, std::size_t a, std::size_t b, std::int32_t reach, Forest& forest) {
  std::uint32_t i = rows.first[a], j = rows.first[b];
  while (i < rows.first[a + 1] && j < rows.first[b + 1]) {
    const Run &p = rows.runs[i], &q = rows.runs[j];
    if (p.x0 < q.x1 + reach && q.x0 < p.x1 + reach) forest.join(i, j);
    if (p.x1 < q.x1) {
      ++i;
    } else {
      ++j;
    }
  }
}

}  // namespace

std::uint32_t Components::largest() const {
  return static_cast<std::uint32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
}

Components find_components(const BitVolume& mask, Neighbours neighbours, bool in_slices) {
  const auto [depth, height, width] = mask.shape_zyx();
  Rows rows;
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      rows.first.push_back(static_cast<std::uint32_t>(rows.runs.size()));
      append_runs(mask, z, y, rows.runs);
    }
  }
  rows.first.push_back(static_cast<std::uint32_t>(rows.runs.size()));
  Forest forest(rows.runs.size());
  const bool all = neighbours == Neighbours::everything;
  const std::int32_t reach = all ? 1 : 0;
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      const auto here = static_cast<std::size_t>(z * height + y);
      if (y > 0) join_rows(rows, here, here - 1, reach, forest);
      if (z == 0 || in_slices) continue;
      for (std::int64_t n = all ? y - 1 : y; n <= (all ? y + 1 : y); ++n) {
        if (n < 0 || n >= height) continue;
        join_rows(rows, here, static_cast<std::size_t>((z - 1) * height + n), reach, forest);
      }
    }
  }
  Components found;
  std::vector<std::uint32_t> number(rows.runs.size());
  for (std::uint32_t i = 0; i < rows.runs.size(); ++i) {
    Run& run = rows.runs[i];
    const std::uint32_t root = forest.root(i);
    if (root == i) {
      number[i] = static_cast<std::uint32_t>(found.sizes.size());
      found.sizes.push_back(0);
    }
    run.component = number[root];
    found.sizes[run.component] += static_cast<std::uint64_t>(run.x1 - run.x0);
  }
  found.runs = std::move(rows.runs);
  return found;
}

void fill_run(const Run& run, bool value, BitVolume& mask) {
  std::uint64_t* row = mask.row(run.z, run.y);
  for (std::int32_t x = run.x0; x < run.x1;) {
    const std::int32_t end = std::min(run.x1, (x | 63) + 1);
    const int count = end - x;
    const std::uint64_t bits = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1)
                               << (x & 63);
    row[x >> 6] = value ? row[x >> 6] | bits : row[x >> 6] & ~bits;
    x = end;
  }
}

}  // namespace headrace::pixels
