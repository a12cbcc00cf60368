#include "learn/handover/ome_zarr/predicted_image.hpp"

#include <cmath>

#include "headrace/cohort/ome_label.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/handover/ome_zarr/file_image.hpp"
#include "learn/handover/ome_zarr/stored_image.hpp"
#include "learn/result/label_image.hpp"
#include "learn/result/level_place.hpp"
#include "learn/result/result_format.hpp"

namespace headrace::handover {
namespace {

constexpr const char* kDatasets = "datasets";

/// Whether an image of a store has the size and grid of what was predicted.
bool is_the_predicted(const cohort::ImageRecord& record, const result::ImageFacts& facts) {
  if (record.volume.has_value() != facts.volume.has_value()) return false;
  if (facts.volume) {
    return record.volume->levels.front().shape_zyx == facts.volume->grid.shape_zyx &&
           record.volume->affine_lps == facts.volume->grid.affine_lps;
  }
  return record.levels.front().height == facts.slide->level0_height &&
         record.levels.front().width == facts.slide->level0_width;
}

PlainImage image_of_store(const result::ImageFacts& facts, const std::string& store) {
  const auto cohort = cohort::Cohort::open(store);
  const std::size_t image = cohort->find_image(facts.id);
  if (!is_the_predicted(cohort->images()[image], facts)) {
    fail(ErrorCode::usage,
         "{}: image '{}' has another size or grid than the one that was predicted; name the store "
         "or file that was ({})",
         store, facts.id, Option{"source"});
  }
  return stored_pixels(*cohort, image);
}

/// Without the first of (c, y, x), with all of (z, y, x).
Json space_axes(const Json& multiscales) {
  Json axes = Json::array();
  for (const Json& axis : multiscales.at("axes"))
    if (axis.at("type") == "space") axes.push_back(axis);
  return axes;
}

std::vector<std::string> axis_names(const Json& multiscales) {
  std::vector<std::string> names;
  for (const Json& axis : space_axes(multiscales)) names.push_back(axis.at("name"));
  return names;
}

/// Level k of the labels of a slide, over the image's level 0.
result::LevelPlace slide_place(const result::LevelPlace& image, const result::SlideMap& map,
                               std::size_t k) {
  result::LevelPlace out;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double finest = image.scale.at(axis + 1);  // after the channels
    const double factor = std::ldexp(map.level0_px_yx[axis], static_cast<int>(k));
    out.scale.push_back(finest * factor);
    out.translation.push_back(image.translation.at(axis + 1) +
                              result::first_centre(factor, finest));
  }
  return out;
}

/// Multiscales of a label image of as many levels as the image's, the first `own` of which are the
/// result's: the others hold some pixels of the last of these, at the places that those have.
Json label_multiscales(const Json& image, const result::ImageFacts& facts, const std::string& name,
                       std::size_t own) {
  const Json& levels = image.at(kDatasets);
  Json datasets = Json::array();
  result::LevelPlace place;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const std::vector<double> last = std::move(place.translation);
    place = facts.slide ? slide_place(result::place_of(levels.at(0)), *facts.slide, k)
                        : result::place_of(levels.at(k));
    if (k >= own) place.translation = last;
    datasets.push_back(result::dataset_json(k, place));
  }
  return Json::array(
      {Json{{"name", name}, {"axes", space_axes(image)}, {kDatasets, std::move(datasets)}}});
}

/// By which steps each level of the image's first array is coarser than the one before, 1 or 2
/// along each axis of space. Of labels of slides always 2.
std::vector<std::int64_t> steps_to(const PlainImage& image, const result::ImageFacts& facts,
                                   std::size_t level) {
  if (facts.slide) return {2, 2};
  std::vector<std::int64_t> out;
  const auto& fine = image.arrays.at(level - 1).shape;
  const auto& coarse = image.arrays.at(level).shape;
  for (std::size_t axis = 0; axis < fine.size(); ++axis)
    out.push_back(coarse[axis] < fine[axis] ? 2 : 1);
  return out;
}

class Labels {
 public:
  Labels(PlainImage& to, const result::ImageResult& result)
      : to_(to),
        result_(result),
        image_(to.ome.at("").at("multiscales").at(0)),
        levels_(image_.at(kDatasets).size()) {}

  void add(const char* name, const std::vector<std::shared_ptr<const zarr::Array>>& stored,
           const std::vector<std::string>& values) {
    const std::string path = std::string(result::kLabelsGroup) + "/" + name;
    for (std::size_t k = 0; k < levels_; ++k) {
      const std::string level = path + "/" + std::to_string(k);
      PlainArray array = k < stored.size()
                             ? plain_array(level, nullptr, stored[k])
                             : thinned(level, to_.arrays.back(), steps_to(to_, result_.facts(), k));
      array.label = true;
      array.dimension_names = axis_names(image_);
      to_.arrays.push_back(std::move(array));
    }
    to_.ome[path] = result::label_image(
        label_multiscales(image_, result_.facts(), name, stored.size()), values);
    names_.emplace_back(name);
  }

  void finish() { to_.ome[result::kLabelsGroup] = cohort::ome_labels_group(names_); }

 private:
  PlainImage& to_;
  const result::ImageResult& result_;
  const Json image_;
  const std::size_t levels_;
  std::vector<std::string> names_;
};

}  // namespace

PlainImage predicted_image(const result::ImageResult& result, const std::string& source) {
  const result::ImageFacts& facts = result.facts();
  PlainImage out =
      cohort::is_store(source) ? image_of_store(facts, source) : file_image(facts, source);
  Labels labels(out, result);
  std::vector<std::shared_ptr<const zarr::Array>> classes;
  for (std::size_t k = 0; k < result.levels(); ++k) classes.push_back(result.classes(k));
  labels.add(result::kClassesName, classes, facts.classes);
  if (const auto lesions = result.lesions()) {
    const std::size_t count = result.findings().at("volume").at("lesions").size();
    labels.add(result::kLesionsName, {lesions}, result::lesion_names(count));
  }
  labels.finish();
  out.content = sha256_hex(out.content + read_file(result.folder() / result::kFindingsFile) +
                           facts.to_json().dump());
  return out;
}

}  // namespace headrace::handover
