#include "headrace/ingest/slide/polygon_labels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/slide/asap_xml.hpp"

namespace headrace::ingest {
namespace {

bool contains(const std::vector<imaging::ObjectKind>& kinds, imaging::ObjectKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// "Tumor" of QuPath's derived class "Tumor: Positive".
std::string base_class(const std::string& name) {
  std::string base = name.substr(0, name.find(':'));
  while (!base.empty() && base.back() == ' ') base.pop_back();
  return base;
}

/// The class that the option of classes gives this other name.
std::optional<std::uint8_t> stated_name(const std::string& name, const GivenClasses* given) {
  if (given == nullptr) return std::nullopt;
  for (std::size_t value = 0; value < given->texts.size(); ++value) {
    const auto& texts = given->texts[value];
    if (std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
          return folded_name(text) == folded_name(name);
        }))
      return static_cast<std::uint8_t>(value);
  }
  return std::nullopt;
}

/// The class itself, else the class that it is derived from, else Ignore*.
std::optional<std::uint8_t> value_of(const std::string& name, const GivenClasses* given,
                                     const std::vector<std::string>& classes) {
  const std::string base = base_class(name);
  auto value = stated_name(name, given);
  if (!value) value = find_class(name, classes);
  if (!value) value = stated_name(base, given);
  if (!value) value = find_class(base, classes);
  const std::string plain = lowered(base);
  if (!value && (plain == "ignore*" || plain == "ignore")) value = kIgnoreLabel;
  return value;
}

/// What groups mean in the CAMELYON challenges, where they are not classes of the store. Source:
/// README of CAMELYON16 (_0, _1 and Tumor: tumour; _2 and Exclusion: no tumour, cut out of it), of
/// CAMELYON17 (metastases; normal).
std::optional<std::uint8_t> camelyon_value(const std::string& group,
                                           const std::vector<std::string>& classes) {
  const std::string plain = lowered(group);
  if (plain == "_2" || plain == "exclusion" || plain == "normal") return 0;
  constexpr std::array kTumour{"_0", "_1", "tumor", "metastases"};
  if (std::find(kTumour.begin(), kTumour.end(), plain) == kTumour.end()) return std::nullopt;
  for (const char* name : {"tumor", "metastases", "metastasis", "cancer"}) {
    if (const auto value = find_class(name, classes)) return value;
  }
  return classes.size() == 2 ? std::optional<std::uint8_t>(1) : std::nullopt;
}

}  // namespace

void PolygonLabels::Tally::add(const imaging::AnnotatedPolygon& polygon, LevelSize image) {
  const auto& first = polygon.rings.front().front();
  double l = first[0], t = first[1], r = l, b = t;
  for (const auto& place : polygon.rings.front()) {
    l = std::min(l, place[0]);
    r = std::max(r, place[0]);
    t = std::min(t, place[1]);
    b = std::max(b, place[1]);
  }
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  const bool out = r <= 0 || b <= 0 || l >= width || t >= height;
  // Outlines that follow the edge of the image may pass it by a pixel.
  const bool beyond = l < -1 || t < -1 || r > width + 1 || b > height + 1;
  outside += out ? 1 : 0;
  cut += !out && beyond ? 1 : 0;
  left = all == 0 ? l : std::min(left, l);
  top = all == 0 ? t : std::min(top, t);
  right = all == 0 ? r : std::max(right, r);
  bottom = all == 0 ? b : std::max(bottom, b);
  ++all;
}

int PolygonLabels::Tally::divisor(LevelSize image) const {
  constexpr int kMost = 64;
  if (left < 0 || top < 0) return 0;
  for (int by = 2; by <= kMost; by *= 2) {
    if (right <= static_cast<double>(image.width * by) &&
        bottom <= static_cast<double>(image.height * by))
      return by;
  }
  return 0;
}

PolygonLabels::PolygonLabels(const SlideCase& slide, const std::vector<std::string>& names,
                             const SlideCanvas& canvas)
    : file_(slide.annotation),
      image_(canvas.size),
      scan_(canvas.scan),
      asap_(lowered(file_).ends_with(".xml")) {
  auto found = asap_ ? imaging::read_asap_xml(file_) : imaging::read_geojson(file_);
  counts_.points = found.points;
  counts_.lines = found.lines;
  objects_ = found.objects;
  empty_ = found.empty;
  degenerate_polygons_ = found.degenerate_polygons;
  degenerate_holes_ = found.degenerate_holes;
  if (!asap_) origin_ = place_polygons(found.polygons, canvas);
  sort_in(slide, names, std::move(found.polygons));
}

void PolygonLabels::sort_in(const SlideCase& slide, const std::vector<std::string>& names,
                            std::vector<imaging::AnnotatedPolygon> polygons) {
  std::set<std::string> unknown;
  std::map<Turn, std::vector<std::pair<imaging::AnnotatedPolygon, std::uint8_t>>> later;
  for (auto& polygon : polygons) {
    if (!contains(slide.objects, polygon.kind)) {
      ++counts_.other_objects;
      continue;
    }
    if (polygon.class_name.empty()) {
      ++counts_.unclassified;
      continue;
    }
    auto value = value_of(polygon.class_name, slide.given.get(), names);
    for (std::size_t i = 0; !value && i < polygon.groups.size(); ++i)
      value = value_of(polygon.groups[i], slide.given.get(), names);
    if (!value && asap_) value = camelyon_value(polygon.class_name, names);
    if (!value && base_class(polygon.class_name).ends_with('*')) {
      ++counts_.outlines;
      continue;
    }
    if (!value) {
      unknown.insert(polygon.class_name);
      continue;
    }
    painted_.add(polygon, image_);
    const bool of_class = *value > 0 && *value != kIgnoreLabel;
    if (of_class) {
      of_classes_.add(polygon, image_);
      any_pixel_ = any_pixel_ || has_pixel(polygon);
    }
    const Turn turn = *value == kIgnoreLabel ? Turn::ignored
                      : *value == 0 && asap_ ? Turn::holes
                                             : Turn::classes;
    if (turn == Turn::classes) {
      raster_.add(polygon.rings, *value);
    } else {
      later[turn].emplace_back(std::move(polygon), *value);
    }
  }
  if (!unknown.empty()) refuse_unknown(unknown, names);
  counts_.ignored = later[Turn::ignored].size();
  for (const auto& [turn, list] : later) {
    for (const auto& [polygon, value] : list) raster_.add(polygon.rings, value);
  }
}

/// Row by row: nearly every polygon has a pixel in one of its first rows.
bool PolygonLabels::has_pixel(const imaging::AnnotatedPolygon& polygon) const {
  Tally box;
  box.add(polygon, image_);
  if (box.outside > 0) return false;
  const auto bound = [](double at, std::int64_t most) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(most)));
  };
  const std::int64_t x0 = bound(std::floor(box.left), image_.width),
                     x1 = bound(std::ceil(box.right), image_.width),
                     y1 = bound(std::ceil(box.bottom), image_.height);
  pixels::PolygonRaster one;
  one.add(polygon.rings, 1);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(x1 - x0));
  for (std::int64_t y = bound(std::floor(box.top), image_.height); y < y1; ++y) {
    one.paint(y, x0, 1, x1 - x0, row.data(), x1 - x0);
    if (std::find(row.begin(), row.end(), 1) != row.end()) return true;
  }
  return false;
}

void PolygonLabels::refuse_unknown(const std::set<std::string>& unknown,
                                   const std::vector<std::string>& names) const {
  const bool one = unknown.size() == 1;
  fail(ErrorCode::usage,
       "{}: class{} '{}' {} not known; the classes of this store are {}. Rename {} in {} or give "
       "{} (NAME={} gives a class another name)",
       file_, one ? "" : "es", fmt::join(unknown, "', '"), one ? "is" : "are",
       fmt::join(names, ", "), one ? "it" : "them", asap_ ? "ASAP" : "QuPath", Option{"classes"},
       *unknown.begin());
}

std::string PolygonLabels::left_out() const {
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(counts_.unclassified, "polygons without a class");
  add(counts_.outlines, "polygons of classes ending in *");
  add(counts_.points, "points");
  add(counts_.lines, "lines");
  add(counts_.other_objects, "detections, cells, tiles or cores");
  add(degenerate_polygons_, "polygons that enclose nothing");
  add(empty_, "objects without a geometry");
  return fmt::format("{}", fmt::join(parts, ", "));
}

void PolygonLabels::judge(const Accepted& accepted) const {
  if (painted_.all == 0) {
    if (objects_ == 0) return;  // an empty annotation: nothing is there, as somebody has looked
    refuse_unless(accepted, Doubt::no_area, ErrorCode::malformed,
                  fmt::format("{}: none of its {} objects is painted ({}), and its image would be "
                              "taught as holding none of the classes; an annotation without any "
                              "object states that, or the column 'negative' of a table",
                              file_, objects_, left_out()));
    return;
  }
  const Tally& wanted = of_classes_.all > 0 ? of_classes_ : painted_;
  if (wanted.outside == wanted.all) {
    const int by = wanted.divisor(image_);
    refuse_unless(
        accepted, Doubt::outside, ErrorCode::malformed,
        fmt::format("{}: all of its {} polygons lie outside the image of {}×{} pixels (they reach "
                    "from x {:.0f}, y {:.0f} to x {:.0f}, y {:.0f}); {}",
                    file_, wanted.all, image_.width, image_.height, wanted.left, wanted.top,
                    wanted.right, wanted.bottom,
                    by > 0 ? fmt::format("with coordinates divided by {} they would lie inside, so "
                                         "they are of another magnification or of another image",
                                         by)
                           : "they are of another image"));
  } else if (of_classes_.all > 0 && !any_pixel_) {
    refuse_unless(
        accepted, Doubt::no_area, ErrorCode::malformed,
        fmt::format("{}: none of its {} polygons of a class holds the centre of a pixel of "
                    "the image of {}×{} pixels; they are of a lower magnification, or not "
                    "in pixels",
                    file_, of_classes_.all, image_.width, image_.height));
  }
}

void PolygonLabels::read(const Box2& box, std::uint8_t* dst) const {
  std::fill(dst, dst + box.height * box.width, std::uint8_t{0});
  raster_.paint(box.y0, box.x0, box.height, box.width, dst, box.width);
}

std::vector<imaging::Note> PolygonLabels::notes() const {
  std::vector<imaging::Note> notes;
  const auto add = [&](imaging::NoteCode code, const std::vector<std::size_t>& values) {
    notes.push_back(imaging::make_note(code, {values.begin(), values.end()}));
  };
  if (origin_ != PolygonOrigin::whole) {
    add(origin_ == PolygonOrigin::scan ? imaging::NoteCode::polygons_from_scan
                                       : imaging::NoteCode::polygons_from_canvas,
        {static_cast<std::size_t>(scan_->y0), static_cast<std::size_t>(scan_->x0)});
  }
  if (painted_.outside + painted_.cut > 0) {
    const bool many = 2 * painted_.outside >= painted_.all;
    add(imaging::NoteCode::polygons_outside,
        {painted_.outside, painted_.cut, painted_.all,
         many ? static_cast<std::size_t>(painted_.divisor(image_)) : 0});
  }
  if (degenerate_polygons_ + degenerate_holes_ > 0)
    add(imaging::NoteCode::polygons_degenerate, {degenerate_polygons_, degenerate_holes_});
  if (empty_ > 0) add(imaging::NoteCode::objects_empty, {empty_});
  return notes;
}

}  // namespace headrace::ingest
