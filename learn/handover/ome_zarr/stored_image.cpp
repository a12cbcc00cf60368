#include "learn/handover/ome_zarr/stored_image.hpp"

#include "headrace/cohort/ome_label.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/result/label_image.hpp"
#include "learn/result/level_place.hpp"

namespace headrace::handover {
namespace {

using Store = std::shared_ptr<const storage::Store>;

/// attributes.ome of a group. Errors: malformed.
Json ome_of(const Store& store, const std::string& group) {
  const std::string key = group + "/zarr.json";
  const Json json = parse_json(store->get_text(key), store->describe(key));
  const Json* ome = find_at(json, {"attributes", "ome"});
  if (ome != nullptr && ome->contains("multiscales")) return *ome;
  fail(ErrorCode::malformed, "{}: no OME-Zarr image; ingest the store again", store->describe(key));
}

/// Stores of slides state how far apart the pixels of a level lie, not where the first one is.
void state_places(Json& ome) {
  Json& datasets = ome.at("multiscales").at(0).at("datasets");
  const std::vector<double> finest = result::place_of(datasets.at(0)).scale;
  for (std::size_t k = 0; k < datasets.size(); ++k) {
    result::LevelPlace place = result::place_of(datasets[k]);
    if (!place.translation.empty()) continue;
    for (std::size_t axis = 0; axis < finest.size(); ++axis) {
      const double factor = place.scale.at(axis) / finest[axis];
      place.translation.push_back(result::first_centre(factor, finest[axis]));
    }
    datasets[k] = result::dataset_json(k, place);
  }
}

/// A stored group of levels as the group `path` of the image.
void add_levels(PlainImage& to, const Store& store, const std::string& group,
                const std::string& path, bool label) {
  Json ome = ome_of(store, group);
  for (const Json& level : ome.at("multiscales").at(0).at("datasets")) {
    const auto name = level.at("path").get<std::string>();
    to.arrays.push_back(plain_array(path.empty() ? name : path + "/" + name, store,
                                    zarr::Array::open(store, group + "/" + name)));
    to.arrays.back().label = label;
  }
  state_places(ome);
  to.ome[path] = std::move(ome);
}

cohort::StoreVersion version_of(const cohort::Cohort& cohort) {
  return cohort::StoreVersion::load(*cohort.store(), cohort.dataset_hash());
}

PlainImage pixels_of(const cohort::Cohort& cohort, const cohort::ImageRecord& record,
                     const cohort::VersionImage& parts) {
  const std::string group = "images/" + record.id;
  PlainImage out;
  out.name = record.id;
  out.content = sha256_hex(parts.pixels.manifest_sha256);
  add_levels(out, cohort.store(), group, "", false);
  if (!record.volume) return out;
  for (std::size_t c = 1; c < record.volume->channels.size(); ++c) {
    if (!record.volume->channels[c].stored) continue;
    const std::string folder = cohort::channel_folder(c);
    add_levels(out, cohort.store(), group + "/" + folder, folder, false);
    out.ome.try_emplace("channels");
  }
  return out;
}

}  // namespace

PlainImage stored_pixels(const cohort::Cohort& cohort, std::size_t image) {
  const cohort::ImageRecord& record = cohort.images().at(image);
  return pixels_of(cohort, record, version_of(cohort).images.at(record.id));
}

PlainImage stored_image(const cohort::Cohort& cohort, std::size_t image) {
  const cohort::ImageRecord& record = cohort.images().at(image);
  const cohort::VersionImage parts = version_of(cohort).images.at(record.id);
  PlainImage out = pixels_of(cohort, record, parts);
  std::vector<std::string> sets;
  for (const auto& [set, label] : parts.labels) {
    const std::string path = "labels/" + set;
    add_levels(out, cohort.store(), "images/" + record.id + "/labels/" + label.group, path, true);
    Json& ome = out.ome.at(path);
    ome.at("multiscales").at(0)["name"] = set;
    result::paint_as_predictions(ome);
    out.content = sha256_hex(out.content + set + label.part.manifest_sha256);
    sets.push_back(set);
  }
  if (!sets.empty()) out.ome["labels"] = cohort::ome_labels_group(sets);
  return out;
}

}  // namespace headrace::handover
