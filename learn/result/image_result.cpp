#include "learn/result/image_result.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/foreign_error.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/result/result_format.hpp"

namespace headrace::result {
namespace {

Json grid_json(const imaging::VolumeGrid& grid) {
  return {{"shape_zyx", grid.shape_zyx}, {"affine_lps", grid.affine_lps}};
}

imaging::VolumeGrid grid_of(const Json& json) {
  imaging::VolumeGrid grid;
  json.at("shape_zyx").get_to(grid.shape_zyx);
  json.at("affine_lps").get_to(grid.affine_lps);
  return grid;
}

Json network_json(const NetworkFacts& network) {
  return {{"name", network.name},
          {"weights", network.weights},
          {"weights_sha256", network.weights_sha256},
          {"config_hash", network.config_hash},
          {"preprocessing_sha256", network.preprocessing_sha256},
          {"code_version", network.code_version}};
}

NetworkFacts network_of(const Json& json) {
  return {json.at("name"),
          json.at("weights"),
          json.at("weights_sha256"),
          json.at("config_hash"),
          json.at("preprocessing_sha256"),
          json.at("code_version")};
}

SlideMap slide_of(const Json& json) {
  SlideMap map;
  json.at("height").get_to(map.height);
  json.at("width").get_to(map.width);
  json.at("mpp").get_to(map.mpp);
  json.at("level0_px_yx").get_to(map.level0_px_yx);
  json.at("level0_height").get_to(map.level0_height);
  json.at("level0_width").get_to(map.level0_width);
  if (json.contains("scan_origin_yx")) json.at("scan_origin_yx").get_to(map.scan_origin_yx);
  return map;
}

VolumeMap volume_of(const Json& json) {
  VolumeMap map;
  map.grid = grid_of(json.at("grid"));
  map.file_grid = grid_of(json.at("file_grid"));
  json.at("axis_of_xyz").get_to(map.from_file.axis);
  json.at("reversed_xyz").get_to(map.from_file.flip);
  map.voxels_sha256 = json.value("voxels_sha256", "");
  return map;
}

}  // namespace

Json ImageFacts::to_json() const {
  Json out{{"id", id},           {"case", case_id},
           {"source", source},   {"task", task},
           {"classes", classes}, {"networks", Json::array()},
           {"flips", flips},     {"code_version", code_version}};
  for (const NetworkFacts& network : networks) out["networks"].push_back(network_json(network));
  if (slide) {
    out["slide"] = {{"height", slide->height},
                    {"width", slide->width},
                    {"mpp", slide->mpp},
                    {"level0_px_yx", slide->level0_px_yx},
                    {"level0_height", slide->level0_height},
                    {"level0_width", slide->level0_width}};
    // Results of other slides keep their bytes.
    if (slide->scan_origin_yx != std::array<std::int64_t, 2>{})
      out["slide"]["scan_origin_yx"] = slide->scan_origin_yx;
  }
  if (volume) {
    out["volume"] = {{"grid", grid_json(volume->grid)},
                     {"file_grid", grid_json(volume->file_grid)},
                     {"axis_of_xyz", volume->from_file.axis},
                     {"reversed_xyz", volume->from_file.flip},
                     {"voxels_sha256", volume->voxels_sha256}};
  }
  return out;
}

ImageFacts ImageFacts::from_json(const Json& json, const std::string& origin) {
  try {
    ImageFacts facts;
    json.at("id").get_to(facts.id);
    json.at("case").get_to(facts.case_id);
    json.at("source").get_to(facts.source);
    json.at("task").get_to(facts.task);
    json.at("classes").get_to(facts.classes);
    json.at("flips").get_to(facts.flips);
    json.at("code_version").get_to(facts.code_version);
    for (const Json& network : json.at("networks")) facts.networks.push_back(network_of(network));
    if (json.contains("slide")) facts.slide = slide_of(json.at("slide"));
    if (json.contains("volume")) facts.volume = volume_of(json.at("volume"));
    if (facts.slide || facts.volume) return facts;
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: not the description of a prediction ({}); predict again",
         origin, json_fault(error));
  }
  fail(ErrorCode::malformed, "{}: states the map of neither a slide nor a volume; predict again",
       origin);
}

ImageResult ImageResult::open(const std::filesystem::path& folder) {
  ImageResult out;
  out.folder_ = folder;
  out.store_ = storage::open_store(storage::Place::parse(folder));
  if (!out.store_->exists(kGroupFile)) {
    fail(ErrorCode::not_found, "{}: no finished prediction of an image", folder.string());
  }
  const std::string origin = out.store_->describe(kGroupFile);
  const Json group = parse_json(out.store_->get_text(kGroupFile), origin);
  const auto own = taking_apart(origin, [&] {
    Json of_headrace = group.value("attributes", Json::object()).value("headrace", Json::object());
    static_cast<void>(of_headrace.value("kind", ""));
    static_cast<void>(of_headrace.value("format", 0));
    return of_headrace;
  });
  if (own.value("kind", "") != kKind) {
    fail(ErrorCode::not_found, "{}: an image, but not a prediction of headrace predict",
         folder.string());
  }
  if (own.value("format", 0) != kFormat) {
    fail(ErrorCode::unsupported, "{}: prediction format {}, this version reads {}; predict again",
         origin, own.value("format", 0), kFormat);
  }
  out.facts_ = ImageFacts::from_json(own.value("facts", Json::object()), origin);
  out.findings_ =
      parse_json(out.store_->get_text(kFindingsFile), out.store_->describe(kFindingsFile));
  return out;
}

std::vector<std::filesystem::path> ImageResult::find(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (fs::exists(folder / kGroupFile)) return {folder};
  std::vector<fs::path> out;
  if (fs::is_directory(folder)) {
    for (const auto& entry : list_folder(folder)) {
      const bool hidden = entry.path().filename().string().starts_with('.');
      if (!hidden && fs::exists(entry.path() / kGroupFile)) out.push_back(entry.path());
    }
  }
  if (out.empty()) {
    fail(ErrorCode::not_found,
         "{}: no finished prediction there; name the output folder of headrace predict, or one of "
         "its folders",
         folder.string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::shared_ptr<const zarr::Array> ImageResult::classes(std::size_t level) const {
  return zarr::Array::open(store_, fmt::format("{}/{}", kClassesGroup, level));
}

std::size_t ImageResult::levels() const {
  std::size_t count = 0;
  while (store_->exists(fmt::format("{}/{}/{}", kClassesGroup, count, kGroupFile))) ++count;
  return count;
}

std::shared_ptr<const zarr::Array> ImageResult::lesions() const {
  if (!store_->exists(fmt::format("{}/{}", kLesionsGroup, kGroupFile))) return nullptr;
  return zarr::Array::open(store_, fmt::format("{}/0", kLesionsGroup));
}

std::shared_ptr<const zarr::Array> ImageResult::probability() const {
  return zarr::Array::open(store_, kProbability);
}

}  // namespace headrace::result
