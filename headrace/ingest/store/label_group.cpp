#include "headrace/ingest/store/label_group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_depth.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/note.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kDigits = 12;
constexpr std::string_view kGroup = "zarr.json";

std::string memory_key(const std::string& image) { return "sources/" + image + ".json"; }

Json memory_json(const Json& groups) {
  return {{"groups", groups}, {"sha256", sha256_hex(dump_json(groups))}};
}

/// What was noted of the labels in a group.
Json notes_of(const storage::Store& store, const std::string& folder) {
  const std::string key = fmt::format("{}/{}", folder, kGroup);
  if (!store.exists(key)) return Json::array();
  const Json group = json_or_discarded(store.get_text(key));
  const Json::json_pointer notes("/attributes/headrace/notes");
  return group.contains(notes) ? group.at(notes) : Json::array();
}

/// The memory of an image; nothing where it is missing or damaged.
Json memory_of(const storage::Store& store, const std::string& image) {
  const std::string key = memory_key(image);
  if (!store.exists(key)) return Json::object();
  const std::string text = store.get_text(key);
  return is_sound_memory(text) ? Json::parse(text).at("groups") : Json::object();
}

}  // namespace

StagedLabels::StagedLabels(std::shared_ptr<storage::Store> store, std::string image,
                           std::string set)
    : store_(std::move(store)),
      image_(std::move(image)),
      set_(std::move(set)),
      folder_(fmt::format("{}{}/{}", kStagedLabels, image_, set_)),
      recording_(std::make_shared<RecordingStore>(store_)) {
  for (const auto& key : store_->list(folder_ + "/")) store_->erase(key);
}

StagedLabels::~StagedLabels() {
  try {
    for (const auto& key : store_->list(folder_ + "/")) store_->erase(key);
  } catch (const std::exception& error) {
    log::warning("{}: could not be tidied up: {}", folder_, error.what());
  }
}

/// Hash of the arrays, and of what was noted of them. The group's own zarr.json also names classes,
/// and a store may get more of them.
std::string StagedLabels::digest() const {
  Sha256 sha;
  for (const auto& [key, entry] : recording_->entries()) {
    const std::string name = key.substr(folder_.size() + 1);
    if (name != kGroup) sha.update(fmt::format("{} {} {}\n", entry.sha256, entry.size_bytes, name));
  }
  const Json notes = notes_of(*store_, folder_);
  if (!notes.empty()) sha.update(dump_json(notes));
  return sha.hex();
}

cohort::VersionLabel StagedLabels::finish() {
  cohort::VersionLabel label;
  label.group = fmt::format("{}-{}", set_, digest().substr(0, kDigits));
  if (const auto there = find_part(*store_, image_, label.group)) {
    label.part = *there;
    return label;
  }
  const std::string place = fmt::format("images/{}/labels/{}", image_, label.group);
  ObjectList objects;
  for (const auto& [key, entry] : recording_->entries())
    objects[place + key.substr(folder_.size())] = entry;
  // Without its list it is a remainder of a stopped run.
  for (const auto& key : store_->list(place + "/")) store_->erase(key);
  store_->move_folder(folder_, place);
  label.part = put_part(*store_, image_, label.group, objects);
  bytes_added_ = label.part.bytes + label.part.manifest_bytes;
  return label;
}

bool is_sound_memory(const std::string& text) {
  const Json json = json_or_discarded(text);
  if (!json.is_object() || !json.contains("groups")) return false;
  return dump_json(memory_json(json["groups"])) == text;
}

std::optional<std::string> remembered_group(const storage::Store& store, const std::string& image,
                                            const std::string& fingerprint) {
  const Json groups = memory_of(store, image);
  const auto found = groups.find(fingerprint);
  if (found == groups.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

bool follows_other_masks(const storage::Store& store, const std::string& image,
                         const std::string& group) {
  const Json notes = notes_of(store, fmt::format("images/{}/labels/{}", image, group));
  return std::any_of(notes.begin(), notes.end(), [](const Json& note) {
    const Json code = note.is_object() ? note.value("code", Json()) : Json();
    return code == name_of(imaging::NoteCode::mask_of_255) ||
           code == name_of(imaging::NoteCode::mask_255_ignored) ||
           code == name_of(imaging::NoteCode::mask_full_scale);
  });
}

void forget_missing_groups(storage::Store& store, const std::string& image) {
  const Json groups = memory_of(store, image);
  Json left = Json::object();
  for (const auto& [fingerprint, group] : groups.items()) {
    if (store.exists(cohort::part_key(image, group.get<std::string>()))) left[fingerprint] = group;
  }
  if (left != groups) store.put_text(memory_key(image), dump_json(memory_json(left)));
}

void remember_group(storage::Store& store, const std::string& image, const std::string& fingerprint,
                    const std::string& group) {
  Json groups = memory_of(store, image);
  if (groups.value(fingerprint, Json()) == group) return;
  groups[fingerprint] = group;
  store.put_text(memory_key(image), dump_json(memory_json(groups)));
}

}  // namespace headrace::ingest
