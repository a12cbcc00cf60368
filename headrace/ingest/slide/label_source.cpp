#include "headrace/ingest/slide/label_source.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/slide/label_reader.hpp"

namespace headrace::ingest {
namespace {

class MaskLabels : public LabelSource {
 public:
  MaskLabels(std::string file, MaskCoding coding, const std::vector<std::string>& names,
             LevelSize image)
      : file_(std::move(file)),
        coding_(coding),
        classes_(names.size()),
        table_(coding_table(coding, names)),
        reader_(imaging::LabelReader::open(file_)) {
    scale_ = image.height / std::max<std::int64_t>(1, reader_->height());
    const bool fits = scale_ >= 1 && reader_->height() * scale_ == image.height &&
                      reader_->width() * scale_ == image.width;
    if (!fits) {
      fail(ErrorCode::malformed,
           "mask {}: is {}×{} pixels, the slide is {}×{}; a mask must have the slide's size or an "
           "exact "
           "integer fraction of it",
           file_, reader_->width(), reader_->height(), image.width, image.height);
    }
  }

  void read(const Box2& box, std::uint8_t* dst) const override {
    const std::int64_t y0 = box.y0 / scale_, x0 = box.x0 / scale_;
    const std::int64_t h = (box.y0 + box.height - 1) / scale_ - y0 + 1;
    const std::int64_t w = (box.x0 + box.width - 1) / scale_ - x0 + 1;
    std::vector<std::uint16_t> values(static_cast<std::size_t>(h * w));
    reader_->read(y0, x0, h, w, values.data(), w);
    for (std::int64_t y = 0; y < box.height; ++y) {
      const std::uint16_t* line =
          &values[static_cast<std::size_t>(((box.y0 + y) / scale_ - y0) * w)];
      for (std::int64_t x = 0; x < box.width; ++x) {
        const std::uint16_t value = line[(box.x0 + x) / scale_ - x0];
        const int label = table_[value];
        if (label < 0) reject(value, box.y0 + y, box.x0 + x);
        dst[y * box.width + x] = static_cast<std::uint8_t>(label);
      }
    }
  }

 private:
  [[noreturn]] void reject(std::uint16_t value, std::int64_t y, std::int64_t x) const {
    fail(ErrorCode::malformed,
         "mask {}: value {} at y {}, x {} (pixels of level 0) is none of coding '{}' with {} "
         "classes "
         "(255 is ignore). Choose another {}, or name all {}",
         file_, value, y, x, name_of(coding_), classes_, Option{"coding"}, Option{"classes"});
  }

  std::string file_;
  MaskCoding coding_;
  std::size_t classes_;
  std::vector<int> table_;
  std::unique_ptr<imaging::LabelReader> reader_;
  std::int64_t scale_ = 1;
};

/// "Tumor" of QuPath's derived class "Tumor: Positive".
std::string base_class(const std::string& name) {
  std::string base = name.substr(0, name.find(':'));
  while (!base.empty() && base.back() == ' ') base.pop_back();
  return base;
}

class PolygonLabels : public LabelSource {
 public:
  PolygonLabels(const std::string& file, const std::vector<std::string>& classes,
                const std::vector<imaging::ObjectKind>& objects) {
    auto found = imaging::read_geojson(file);
    counts_.points = found.points;
    counts_.lines = found.lines;
    std::set<std::string> unknown;
    std::vector<imaging::AnnotatedPolygon> ignored;
    for (auto& polygon : found.polygons) {
      if (!contains(objects, polygon.kind)) {
        ++counts_.other_objects;
      } else if (polygon.class_name.empty()) {
        ++counts_.unclassified;
      } else if (const auto value = value_of(polygon.class_name, classes); !value) {
        leave_out(polygon.class_name, unknown);
      } else if (*value == kIgnoreLabel) {
        ignored.push_back(std::move(polygon));
      } else {
        raster_.add(polygon.rings, *value);
      }
    }
    refuse(file, unknown, classes);
    // Painted last, whatever their order in the file: an ignored area must not teach anything.
    counts_.ignored = ignored.size();
    for (const auto& polygon : ignored) raster_.add(polygon.rings, kIgnoreLabel);
  }

  void read(const Box2& box, std::uint8_t* dst) const override {
    std::fill(dst, dst + box.height * box.width, std::uint8_t{0});
    raster_.paint(box.y0, box.x0, box.height, box.width, dst, box.width);
  }

  AnnotationCounts counts() const override { return counts_; }

 private:
  static bool contains(const std::vector<imaging::ObjectKind>& kinds, imaging::ObjectKind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }

  /// The class itself, else the class that it is derived from, else Ignore*.
  static std::optional<std::uint8_t> value_of(const std::string& name,
                                              const std::vector<std::string>& classes) {
    const std::string base = base_class(name);
    auto value = find_class(name, classes);
    if (!value) value = find_class(base, classes);
    const std::string plain = lowered(base);
    if (!value && (plain == "ignore*" || plain == "ignore")) value = kIgnoreLabel;
    return value;
  }

  void leave_out(const std::string& name, std::set<std::string>& unknown) {
    if (base_class(name).ends_with('*')) {
      ++counts_.outlines;
    } else {
      unknown.insert(name);
    }
  }

  static void refuse(const std::string& file, const std::set<std::string>& unknown,
                     const std::vector<std::string>& classes) {
    if (unknown.empty()) return;
    fail(ErrorCode::usage,
         "{}: class{} '{}' {} not known; the classes of this store are {}. Rename {} in QuPath or "
         "give {}",
         file, unknown.size() == 1 ? "" : "es", fmt::join(unknown, "', '"),
         unknown.size() == 1 ? "is" : "are", fmt::join(classes, ", "),
         unknown.size() == 1 ? "it" : "them", Option{"classes"});
  }

  pixels::PolygonRaster raster_;
  AnnotationCounts counts_;
};

}  // namespace

bool is_geojson(const std::string& file) {
  std::string name = lowered(std::filesystem::path(file).filename().string());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".geojson") || name.ends_with(".json");
}

std::unique_ptr<LabelSource> LabelSource::open(const std::string& file,
                                               std::optional<MaskCoding> coding,
                                               const std::vector<std::string>& classes,
                                               LevelSize image,
                                               const std::vector<imaging::ObjectKind>& objects) {
  if (is_geojson(file)) return std::make_unique<PolygonLabels>(file, classes, objects);
  if (!coding) fail(ErrorCode::internal, "mask {}: no coding", file);
  return std::make_unique<MaskLabels>(file, *coding, classes, image);
}

}  // namespace headrace::ingest
