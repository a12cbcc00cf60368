#include <algorithm>
#include <cmath>
#include <limits>

#include "headrace/core/error.hpp"
#include "headrace/math/bspline.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_graph.hpp"

namespace headrace::transform {
namespace {

// Positions here are offsets from the sample's centre in level pixels (y, x).
using Point = std::array<double, 2>;
/// Margin for the loss of float32 coordinates against these in double.
constexpr double kRounding = 1.0 / 64;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

/// Output pixels of one context → positions, elastic part aside.
struct AffinePart {
  Affine2 map;
  Point operator()(double row, double column) const { return map(row, column); }
};

AffinePart affine_part(const SampleParams& params, const PatchSpec& patch, int context,
                       Point scale) {
  // Pixel (row, column) has its centre at + 0.5; the patch's centre is (height / 2, width / 2).
  const Affine2 from_centre{{double(context), 0, context * (0.5 - patch.height / 2.0), 0,
                             double(context), context * (0.5 - patch.width / 2.0)}};
  const Affine2 to_level{{scale[0], 0, 0, 0, scale[1], 0}};
  return {to_level * params.inverse * from_centre};
}

/// Rows of nodes over the output, at which the deformed position is known; between them it is
/// bounded.
class NodeGrid {
 public:
  NodeGrid(const SampleParams& params, const PatchSpec& patch, int context, Point scale)
      : affine_(affine_part(params, patch, context, scale)), field_(params.elastic) {
    to_px_ = {scale[0] / patch.mpp, scale[1] / patch.mpp};
    rows_ = nodes(patch.height, context);
    columns_ = nodes(patch.width, context);
    fill(patch, context);
    bound(patch, context);
  }

  std::size_t tile_rows() const { return rows_.size() - 1; }
  std::size_t tile_columns() const { return columns_.size() - 1; }
  const Point& node(std::size_t i, std::size_t j) const { return points_[i * columns_.size() + j]; }
  const std::vector<Point>& points() const { return points_; }
  /// No position of a tile lies further than this outside the box of its corners.
  const Point& slack() const { return slack_; }

 private:
  /// First and last pixel, and nodes a quarter of a cell apart, but at most 129 along each axis.
  std::vector<int> nodes(int size, int context) {
    const int step = std::max({1, size / 128, size / (4 * field_.grid * context)});
    std::vector<int> at;
    for (int i = 0; i < size - 1; i += step) at.push_back(i);
    at.push_back(size - 1);
    if (at.size() == 1) at.push_back(size - 1);
    step_ = std::max(step_, step);
    return at;
  }

  math::SplinePlace place(int pixel, int size, int context) const {
    const double base = size / 2.0 + context * (pixel + 0.5 - size / 2.0);
    const double g = std::clamp(base * field_.grid / size, -3.0, field_.grid + 3.0);
    const int cell = static_cast<int>(std::floor(g));
    return {cell, static_cast<float>(g - cell)};
  }

  void fill(const PatchSpec& patch, int context) {
    const int width = field_.grid + 3;
    std::vector<double> row_y(width), row_x(width);
    std::vector<int> column_cells;
    std::vector<math::SplineWeights<double>> column_weights;
    for (const int c : columns_) {
      const auto column = place(c, patch.width, context);
      column_cells.push_back(column.cell);
      column_weights.push_back(math::spline_weights(static_cast<double>(column.t)));
    }
    points_.reserve(rows_.size() * columns_.size());
    for (const int r : rows_) {
      const auto row = place(r, patch.height, context);
      const auto wy = math::spline_weights(static_cast<double>(row.t));
      for (int j = 0; j < width; ++j) {
        row_y[j] = row_x[j] = 0;
        for (int i = 0; i < 4; ++i) {
          const int at = math::spline_control(row.cell, i, field_.grid) * width + j;
          row_y[j] += wy.w[i] * field_.y_um[at];
          row_x[j] += wy.w[i] * field_.x_um[at];
        }
      }
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        Point p = affine_(r, columns_[j]);
        for (int i = 0; i < 4; ++i) {
          const int at = math::spline_control(column_cells[j], i, field_.grid);
          p[0] += column_weights[j].w[i] * row_y[at] * to_px_[0];
          p[1] += column_weights[j].w[i] * row_x[at] * to_px_[1];
        }
        points_.push_back(p);
      }
    }
  }

  /// Linear interpolation over a step h errs by h²/8 of the largest second derivative, which for a
  /// B-spline is at most the largest second difference of its control values, along each axis.
  void bound(const PatchSpec& patch, int context) {
    const int width = field_.grid + 3;
    const auto largest = [&](const std::vector<double>& control, int stride, int other) {
      double most = 0;
      for (int line = 0; line < width; ++line) {
        for (int i = 0; i < width; ++i) {
          const auto at = [&](int k) {
            return control[math::clamp_index(k, width - 1) * stride + line * other];
          };
          most = std::max(most, std::abs(at(i - 1) - 2 * at(i) + at(i + 1)));
        }
      }
      return most;
    };
    const double cells_y = double(step_) * context * field_.grid / patch.height;
    const double cells_x = double(step_) * context * field_.grid / patch.width;
    // Nor can it err by more than the whole variation of the field (a cell may be less than a
    // step).
    const auto error = [&](const std::vector<double>& control) {
      const auto [low, high] = std::minmax_element(control.begin(), control.end());
      return std::min(*high - *low, (largest(control, width, 1) * cells_y * cells_y +
                                     largest(control, 1, width) * cells_x * cells_x) /
                                        8);
    };
    slack_ = {error(field_.y_um) * to_px_[0], error(field_.x_um) * to_px_[1]};
  }

  AffinePart affine_;
  const ElasticField& field_;
  Point to_px_{}, slack_{};
  int step_ = 0;
  std::vector<int> rows_, columns_;
  std::vector<Point> points_;
};

/// First and one past the last tap of positions in a range, as rows or columns of the level.
std::array<std::int64_t, 2> taps(double centre, double low, double high) {
  return {static_cast<std::int64_t>(std::floor(centre + low - 0.5 - kRounding)),
          static_cast<std::int64_t>(std::floor(centre + high - 0.5 + kRounding)) + 2};
}

Box2 window_of(Point centre, const Range& y, const Range& x) {
  const auto rows = taps(centre[0], y.low, y.high), columns = taps(centre[1], x.low, x.high);
  constexpr std::int64_t kMost = 1 << 16;
  Box2 window{rows[0], columns[0], rows[1] - rows[0], columns[1] - columns[0]};
  if (window.height > kMost || window.width > kMost) {
    fail(ErrorCode::usage,
         "a patch needs {} × {} pixels of a level at once: expected at most {} a side. Choose a "
         "coarser level, or a smaller "
         "patch, context or scale",
         window.height, window.width, kMost);
  }
  return window;
}

/// Widens the spans of the rows that read positions y to the columns of positions x.
void widen(PatchGeometry& out, Point centre, const Range& y, const Range& x) {
  const auto rows = taps(centre[0], y.low, y.high), columns = taps(centre[1], x.low, x.high);
  const auto begin = static_cast<std::int32_t>(columns[0] - out.window.x0);
  const auto end = static_cast<std::int32_t>(columns[1] - out.window.x0);
  for (std::int64_t r = rows[0]; r < rows[1]; ++r) {
    auto& span = out.row_spans[static_cast<std::size_t>(r - out.window.y0)];
    span[0] = std::min(span[0], begin);
    span[1] = std::max(span[1], end);
  }
}

/// The part of a convex quadrilateral between two heights: its range of x.
Range clipped_x(const std::array<Point, 4>& corners, double low, double high) {
  Range x;
  for (int i = 0; i < 4; ++i) {
    const Point &a = corners[i], &b = corners[(i + 1) % 4];
    const auto [bottom, top] = std::minmax(a[0], b[0]);
    if (top < low || bottom > high) continue;
    for (const double edge : {std::max(bottom, low), std::min(top, high)}) {
      const double part = top > bottom ? (edge - a[0]) / (b[0] - a[0]) : 0.0;
      x.include(a[1] + part * (b[1] - a[1]));
    }
    if (top == bottom) x.include(b[1]);
  }
  return x;
}

void reset_spans(PatchGeometry& out) {
  out.row_spans.assign(static_cast<std::size_t>(out.window.height),
                       {std::numeric_limits<std::int32_t>::max(), 0});
}

/// Without deformation the patch is a parallelogram: each row's span is its exact clip.
void locate_affine(const AffinePart& affine, const PatchSpec& patch, Point centre,
                   PatchGeometry& out) {
  const double last_row = patch.height - 1, last_column = patch.width - 1;
  const std::array<Point, 4> corners{affine(0, 0), affine(0, last_column),
                                     affine(last_row, last_column), affine(last_row, 0)};
  Range y, x;
  for (const Point& corner : corners) {
    y.include(corner[0]);
    x.include(corner[1]);
  }
  out.window = window_of(centre, y, x);
  reset_spans(out);
  for (std::int64_t r = 0; r < out.window.height; ++r) {
    // Row r is the upper tap of positions in [r + 0.5, r + 1.5) and the lower tap of the pixel
    // before.
    const double top = double(out.window.y0 + r) - 0.5 - kRounding - centre[0];
    const Range columns = clipped_x(corners, top, top + 2 + 2 * kRounding);
    if (columns.low > columns.high) continue;
    const auto span = taps(centre[1], columns.low, columns.high);
    out.row_spans[static_cast<std::size_t>(r)] = {
        static_cast<std::int32_t>(std::max<std::int64_t>(span[0] - out.window.x0, 0)),
        static_cast<std::int32_t>(std::min(span[1] - out.window.x0, out.window.width))};
  }
}

void locate_elastic(const NodeGrid& nodes, Point centre, PatchGeometry& out) {
  Range y, x;
  for (const Point& p : nodes.points()) {
    y.include(p[0]);
    x.include(p[1]);
  }
  const Point slack = nodes.slack();
  out.window = window_of(centre, {y.low - slack[0], y.high + slack[0]},
                         {x.low - slack[1], x.high + slack[1]});
  reset_spans(out);
  for (std::size_t i = 0; i < nodes.tile_rows(); ++i) {
    for (std::size_t j = 0; j < nodes.tile_columns(); ++j) {
      Range ty, tx;
      for (const Point* p : {&nodes.node(i, j), &nodes.node(i, j + 1), &nodes.node(i + 1, j),
                             &nodes.node(i + 1, j + 1)}) {
        ty.include((*p)[0]);
        tx.include((*p)[1]);
      }
      widen(out, centre, {ty.low - slack[0], ty.high + slack[0]},
            {tx.low - slack[1], tx.high + slack[1]});
    }
  }
}

}  // namespace

void Graph::locate(const SampleParams& params, int context, std::array<double, 2> centre_level_yx,
                   std::array<double, 2> level_mpp_yx, PatchGeometry& out) const {
  for (int axis = 0; axis < 2; ++axis) {
    if (!(level_mpp_yx[axis] > 0) || !std::isfinite(centre_level_yx[axis]) ||
        std::abs(centre_level_yx[axis]) > 1e12) {
      fail(ErrorCode::usage,
           "a sample at ({}, {}) of a level of ({}, {}) µm a pixel can't be located",
           centre_level_yx[0], centre_level_yx[1], level_mpp_yx[0], level_mpp_yx[1]);
    }
  }
  if (context < 1)
    fail(ErrorCode::usage, "a context of {} times the patch's mpp; 1 is the least", context);
  out.context = context;
  out.scale_y = patch_.mpp / level_mpp_yx[0];
  out.scale_x = patch_.mpp / level_mpp_yx[1];
  const Point scale{out.scale_y, out.scale_x};
  if (params.elastic.grid == 0) {
    locate_affine(affine_part(params, patch_, context, scale), patch_, centre_level_yx, out);
  } else {
    locate_elastic(NodeGrid(params, patch_, context, scale), centre_level_yx, out);
  }
  for (auto& span : out.row_spans) {
    if (span[0] >= span[1]) span = {0, 0};
  }
  out.centre_in_window = {centre_level_yx[0] - double(out.window.y0),
                          centre_level_yx[1] - double(out.window.x0)};
}

}  // namespace headrace::transform
