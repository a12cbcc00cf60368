#include "headrace/handover/ome_zarr/predicted_image.hpp"

#include <array>
#include <cmath>

#include "headrace/cohort/ome_label.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/handover/ome_zarr/file_image.hpp"
#include "headrace/handover/ome_zarr/stored_image.hpp"
#include "headrace/result/label_image.hpp"
#include "headrace/result/result_format.hpp"

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

/// Micrometres (or pixels) along y and x of level 0 of a slide's image.
std::array<double, 2> slide_steps(const Json& multiscales) {
  const Json& scale =
      multiscales.at(kDatasets).at(0).at("coordinateTransformations").at(0).at("scale");
  return {scale.at(1).get<double>(), scale.at(2).get<double>()};
}

/// Multiscales of a label image of as many levels as the image's.
Json label_multiscales(const Json& image, const result::ImageFacts& facts,
                       const std::string& name) {
  Json datasets = image.at(kDatasets);  // of a volume the levels are the image's own
  if (facts.slide) {
    const auto steps = slide_steps(image);
    for (std::size_t k = 0; k < datasets.size(); ++k) {
      Json scale = Json::array();
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const double step = steps[axis] * facts.slide->level0_px_yx[axis];
        scale.push_back(std::ldexp(step, static_cast<int>(k)));
      }
      const Json transformation{{"type", "scale"}, {"scale", scale}};
      datasets[k] = {{"path", std::to_string(k)},
                     {"coordinateTransformations", Json::array({transformation})}};
    }
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
    to_.ome[path] = result::label_image(label_multiscales(image_, result_.facts(), name), values);
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
