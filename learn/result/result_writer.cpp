#include "learn/result/result_writer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "headrace/cohort/ome_label.hpp"
#include "headrace/core/error.hpp"
#include "headrace/storage/atomic_folder.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/result/band_writer.hpp"
#include "learn/result/class_pyramid.hpp"
#include "learn/result/label_image.hpp"
#include "learn/result/level_place.hpp"
#include "learn/result/result_format.hpp"

namespace headrace::result {
namespace {

constexpr std::int64_t kSlices = 32, kVolumeChunk = 128;

BandWriter::Layout volume_layout(const VolumeMap& map, std::int64_t channels, std::uint8_t fill) {
  const auto& shape = map.grid.shape_zyx;
  return {{shape[0], shape[1], shape[2]}, channels, kSlices, kVolumeChunk, fill};
}

/// Axes of space with their unit; of each the distance of pixels of level 0, how many pixels of the
/// image that was predicted lie in one, and the place of the first one of these.
struct Space {
  Json axes = Json::array();
  std::vector<double> scale, image_px, origin;
};

Space space_of(const ImageFacts& facts) {
  Space out;
  const auto axis = [](const char* name, const char* unit) {
    Json axis{{"name", name}, {"type", "space"}};
    if (unit != nullptr) axis["unit"] = unit;
    return axis;
  };
  if (facts.volume) {
    const auto spacing = facts.volume->grid.spacing_mm_zyx();
    for (const char* name : {"z", "y", "x"}) out.axes.push_back(axis(name, "millimeter"));
    out.scale.assign(spacing.begin(), spacing.end());
    out.image_px.assign(3, 1.0);
    const auto origin = facts.volume->grid.origin_lps_mm();
    out.origin.assign(origin.rbegin(), origin.rend());
    return out;
  }
  const double mpp = facts.slide->mpp;
  for (const char* name : {"y", "x"})
    out.axes.push_back(axis(name, mpp > 0 ? "micrometer" : nullptr));
  out.scale.assign(2, mpp > 0 ? mpp : 1.0);
  out.image_px.assign(facts.slide->level0_px_yx.begin(), facts.slide->level0_px_yx.end());
  out.origin.assign(2, 0.0);
  return out;
}

/// attributes.ome.multiscales of an image of `levels`, each twice as coarse as the one before.
Json multiscales(const ImageFacts& facts, const std::string& name, std::size_t levels,
                 bool channels) {
  const Space space = space_of(facts);
  Json axes = space.axes, datasets = Json::array();
  if (channels) axes.insert(axes.begin(), Json{{"name", "c"}, {"type", "channel"}});
  for (std::size_t k = 0; k < levels; ++k) {
    LevelPlace place;
    if (channels) place = {{1.0}, {0.0}};
    for (std::size_t axis = 0; axis < space.scale.size(); ++axis) {
      const double finest = space.scale[axis] / space.image_px[axis];
      const double factor = std::ldexp(space.image_px[axis], static_cast<int>(k));
      place.scale.push_back(std::ldexp(space.scale[axis], static_cast<int>(k)));
      place.translation.push_back(space.origin[axis] + first_centre(factor, finest));
    }
    datasets.push_back(dataset_json(k, place));
  }
  return Json::array({Json{{"name", name}, {"axes", axes}, {"datasets", datasets}}});
}

}  // namespace

struct ResultWriter::State {
  State(const std::filesystem::path& path, const ImageFacts& its_facts)
      : folder(path),
        facts(its_facts),
        store(storage::open_store(storage::Place::parse(folder.aside()),
                                  {64, storage::Durability::on_sync})) {}

  storage::AtomicFolder folder;
  ImageFacts facts;
  std::shared_ptr<storage::Store> store;
  std::optional<ClassPyramid> slide_classes;
  std::optional<BandWriter> volume_classes, probability;
  bool lesions = false;  ///< whether there is a label image of them

  void put_groups() {
    const std::size_t levels = slide_classes ? slide_classes->levels() : 1;
    store->put_text(std::string(kClassesGroup) + "/zarr.json",
                    dump_json(zarr::group_metadata(
                        {{"ome", label_image(multiscales(facts, kClassesName, levels, false),
                                             facts.classes)}})));
    std::vector<std::string> labels{kClassesName};
    if (lesions) labels.emplace_back(kLesionsName);
    store->put_text(std::string(kLabelsGroup) + "/zarr.json",
                    dump_json(zarr::group_metadata({{"ome", cohort::ome_labels_group(labels)}})));
    const Json own{{"kind", kKind}, {"format", kFormat}, {"facts", facts.to_json()}};
    const Json ome{{"version", cohort::kOmeVersion},
                   {"multiscales", multiscales(facts, facts.id, 1, true)}};
    store->put_text(kGroupFile, dump_json(zarr::group_metadata({{"ome", ome}, {"headrace", own}})));
  }
};

ResultWriter::ResultWriter(const std::filesystem::path& folder, const ImageFacts& facts,
                           ThreadPool* pool) {
  if (std::filesystem::exists(folder)) {
    fail(ErrorCode::usage, "{}: exists; name another output folder", folder.string());
  }
  state_ = std::make_unique<State>(folder, facts);
  State& s = *state_;
  const auto classes = static_cast<std::int64_t>(facts.classes.size());
  if (facts.volume) {
    s.volume_classes.emplace(s.store, std::string(kClassesGroup) + "/0",
                             volume_layout(*facts.volume, 0, kNotPredicted), pool);
    s.probability.emplace(s.store, kProbability, volume_layout(*facts.volume, classes, 0), pool);
    return;
  }
  const SlideMap& map = *facts.slide;
  s.slide_classes.emplace(s.store, kClassesGroup, map.height, map.width, pool);
  BandWriter::Layout layout;
  layout.shape = {map.height, map.width};
  layout.channels = classes;
  s.probability.emplace(s.store, kProbability, layout, pool);
}

ResultWriter::~ResultWriter() = default;

ResultWriter::ResultWriter(ResultWriter&&) noexcept = default;

void ResultWriter::add(std::span<const std::uint8_t> classes,
                       std::span<const std::uint8_t> probabilities) {
  State& s = *state_;
  if (s.slide_classes) {
    s.slide_classes->add(classes);
  } else {
    s.volume_classes->add(classes);
  }
  s.probability->add(probabilities);
}

void ResultWriter::put_lesions(
    std::size_t count,
    const std::function<void(std::int64_t z, std::span<std::uint8_t> out)>& slice) {
  State& s = *state_;
  const imaging::VolumeGrid& grid = s.facts.volume->grid;
  BandWriter writer(s.store, std::string(kLesionsGroup) + "/0",
                    volume_layout(*s.facts.volume, 0, 0));
  std::vector<std::uint8_t> values(static_cast<std::size_t>(grid.slice_voxels()));
  for (std::int64_t z = 0; z < grid.shape_zyx[0]; ++z) {
    std::fill(values.begin(), values.end(), std::uint8_t{0});
    slice(z, values);
    writer.add(values);
  }
  writer.finish();
  const Json ome = label_image(multiscales(s.facts, kLesionsName, 1, false), lesion_names(count));
  s.store->put_text(std::string(kLesionsGroup) + "/zarr.json",
                    dump_json(zarr::group_metadata({{"ome", ome}})));
  s.lesions = true;
}

void ResultWriter::put_text(const std::string& name, const std::string& text) {
  state_->store->put_text(name, text);
}

void ResultWriter::finish(const Json& findings) {
  State& s = *state_;
  if (s.slide_classes) {
    s.slide_classes->finish();
  } else {
    s.volume_classes->finish();
  }
  s.probability->finish();
  s.store->put_text(kFindingsFile, dump_json(findings));
  s.put_groups();
  s.store->sync();
  s.folder.finish();
}

}  // namespace headrace::result
