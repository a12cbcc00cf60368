#include "headrace/ingest/label_source.hpp"

#include <algorithm>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/geojson.hpp"
#include "headrace/imaging/label_reader.hpp"

namespace headrace::ingest {
namespace {

class MaskLabels : public LabelSource {
 public:
  MaskLabels(std::string file, const std::string& coding, std::size_t classes, LevelSize image)
      : file_(std::move(file)),
        coding_(coding),
        classes_(classes),
        table_(coding_table(coding, classes)),
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
         "(255 is ignore). Choose another --coding, or name all --classes",
         file_, value, y, x, coding_, classes_);
  }

  std::string file_, coding_;
  std::size_t classes_;
  std::vector<int> table_;
  std::unique_ptr<imaging::LabelReader> reader_;
  std::int64_t scale_ = 1;
};

class PolygonLabels : public LabelSource {
 public:
  PolygonLabels(const std::string& file, const std::vector<std::string>& classes) {
    polygons_ = imaging::read_geojson(file);
    for (std::size_t i = 0; i < polygons_.size(); ++i) {
      const auto& name = polygons_[i].class_name;
      if (name.empty()) {
        fail(ErrorCode::usage,
             "{}: polygon {} has no class (properties.classification.name); give it one in QuPath",
             file, i + 1);
      }
      values_.push_back(with_context(file, [&] { return class_value(name, classes); }));
    }
  }

  void read(const Box2& box, std::uint8_t* dst) const override {
    std::fill(dst, dst + box.height * box.width, std::uint8_t{0});
    imaging::rasterize(polygons_, values_, 1, box.y0, box.x0, box.height, box.width, dst,
                       box.width);
  }

 private:
  std::vector<imaging::AnnotatedPolygon> polygons_;
  std::vector<std::uint8_t> values_;
};

}  // namespace

bool is_geojson(const std::string& file) {
  const std::string ending = lowered(std::filesystem::path(file).extension().string());
  return ending == ".geojson" || ending == ".json";
}

std::unique_ptr<LabelSource> LabelSource::open(const std::string& file, const std::string& coding,
                                               const std::vector<std::string>& classes,
                                               LevelSize image) {
  if (is_geojson(file)) return std::make_unique<PolygonLabels>(file, classes);
  return std::make_unique<MaskLabels>(file, coding, classes.size(), image);
}

}  // namespace headrace::ingest
