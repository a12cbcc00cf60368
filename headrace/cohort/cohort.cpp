#include "headrace/cohort/cohort.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "headrace/cohort/cohort_state.hpp"
#include "headrace/cohort/image_record.hpp"
#include "headrace/cohort/referenced_files.hpp"
#include "headrace/cohort/store_format.hpp"
#include "headrace/cohort/store_index.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/foreign_error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/core/utf8.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::cohort {

bool ImageRecord::has_labels(const std::string& name) const {
  return std::find(labels.begin(), labels.end(), name) != labels.end();
}

std::shared_ptr<const zarr::Array> Cohort::State::array(const std::string& key) const {
  {
    const std::shared_lock lock(arrays->mutex);
    const auto found = arrays->by_key.find(key);
    if (found != arrays->by_key.end()) return found->second;
  }
  auto opened = zarr::Array::open(store, key);
  const std::unique_lock lock(arrays->mutex);
  return arrays->by_key.emplace(key, std::move(opened)).first->second;
}

void Cohort::State::read_root() {
  const std::string origin = store->describe("zarr.json");
  if (!store->exists("zarr.json")) {
    fail(ErrorCode::not_found,
         "{}: no store lies here (no zarr.json). Make one with headrace ingest", path);
  }
  const Json root = parse_json(store->get_text("zarr.json"), origin);
  const Json own = root.value("attributes", Json::object()).value("headrace", Json());
  if (!own.is_object()) {
    fail(ErrorCode::unsupported,
         "{}: a Zarr group without attributes.headrace, not a cohort that headrace ingest made",
         origin);
  }
  check_store_format(detail::require<int>(own, "format", origin), origin);
  read_channels(own.value("ingest", Json::object()), origin);
}

void Cohort::State::read_channels(const Json& ingest, const std::string& origin) {
  using Names = std::vector<std::string>;
  channels = detail::optional<Names>(ingest, "channels", origin, {});
  units.assign(channels.size(), IntensityUnit::hu);
  const auto stated = detail::optional<Names>(ingest, "units", origin, {});
  if (stated.empty()) return;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const auto unit = stated.size() == channels.size() ? unit_named(stated[c]) : std::nullopt;
    if (!unit) {
      fail(ErrorCode::unsupported,
           "{}: the channels [{}] are in [{}], expected HU or SUV of each. Use the version that "
           "wrote it",
           origin, fmt::join(channels, ", "), fmt::join(stated, ", "));
    }
    units[c] = *unit;
  }
}

StoreVersion Cohort::State::read_version(const std::string& prefix, ThreadPool& pool) {
  const StoreHead head = StoreHead::load(*store);
  dataset_hash = prefix.empty() ? head.current : head.find(prefix, path);
  StoreVersion version;
  std::shared_ptr<storage::Store> indexed;
  // Both are large where there are many images, and neither needs the other.
  pool.parallel_for(2, [&](std::size_t i) {
    if (i == 0) version = StoreVersion::load(*store, dataset_hash);
    if (i == 1) indexed = with_index(store, dataset_hash);
  });
  store = with_sources(indexed);
  by_reference = store != indexed;
  by_requests =
      store->cost().asynchronous || (by_reference && read_references(*indexed).root.is_url());
  kind = version.kind;
  classes = version.classes;
  for (const std::string& name : classes) {
    if (const auto why = why_no_plain_text(name))
      fail(ErrorCode::malformed, "a version of the dataset: class '{}' {}", name, *why);
  }
  if (kind != "slide" && kind != "volume") {
    fail(ErrorCode::unsupported,
         "{}: a store of kind '{}', this version reads slide and volume. Use the version that "
         "wrote it",
         path, kind);
  }
  class_sets = version.class_sets();
  return version;
}

void Cohort::State::read_image(const std::string& id, const StoreVersion& version,
                               ImageRecord& record) const {
  const std::string key = fmt::format("images/{}/zarr.json", id);
  const std::string origin = store->describe(key);
  const Json group = parse_json(store->get_text(key), origin);
  record =
      taking_apart(origin, [&] { return detail::parse_image_record(id, group, version, origin); });
  if (record.volume) check_channels(record, origin);
  for (std::size_t k = 0; k < record.levels.size(); ++k) {
    ImageLevel& level = record.levels[k];
    if (level.height > 0 && level.width > 0) continue;
    const auto& shape = array(fmt::format("images/{}/{}", id, k))->metadata().shape;
    if (shape.size() != 3)
      fail(ErrorCode::malformed, "{}: level {} is no (c, y, x) array", origin, k);
    level.height = shape[1];
    level.width = shape[2];
  }
}

void Cohort::State::check_channels(const ImageRecord& record, const std::string& origin) const {
  std::vector<std::string> names;
  std::vector<IntensityUnit> of_image;
  for (const VolumeChannel& channel : record.volume->channels) {
    names.push_back(channel.name);
    of_image.push_back(channel.unit);
  }
  if (names == channels && of_image == units) return;
  fail(ErrorCode::malformed, "{}: it has the channels [{}], its store has [{}]{}", origin,
       fmt::join(names, ", "), fmt::join(channels, ", "),
       names == channels ? ", but in other units" : "");
}

std::optional<std::string> Cohort::State::label_group(std::size_t image,
                                                      const std::string& labels) const {
  const auto& groups = label_groups.at(image);
  const auto found = groups.find(labels);
  if (found == groups.end()) return std::nullopt;
  return fmt::format("images/{}/labels/{}", images.at(image).id, found->second);
}

void Cohort::State::require_volumes() const {
  if (kind == "volume") return;
  fail(ErrorCode::usage, "{}: a store of kind '{}', where a store of volumes is needed", path,
       kind);
}

Cohort::Cohort(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cohort::~Cohort() = default;

std::shared_ptr<const Cohort> Cohort::open(const std::string& store_path,
                                           const std::string& version_prefix) {
  auto state = std::make_unique<State>();
  state->path = store_path;
  state->store = storage::open_existing_store(storage::Place::parse(store_path));
  state->read_root();
  ThreadPool pool(0);
  const StoreVersion version = state->read_version(version_prefix, pool);
  std::vector<std::string> ids;
  for (const auto& [id, image] : version.images) {
    ids.push_back(id);
    auto& groups = state->label_groups.emplace_back();
    for (const auto& [set, label] : image.labels) groups[set] = label.group;
  }
  state->images.resize(ids.size());
  pool.parallel_for(ids.size(),
                    [&](std::size_t i) { state->read_image(ids[i], version, state->images[i]); });
  state->seen = state->classes;
  state->match = match_classes(state->classes, state->seen, state->class_sets, state->class_sets);
  return std::shared_ptr<const Cohort>(new Cohort(std::move(state)));
}

std::shared_ptr<const Cohort> Cohort::seen_by(const std::vector<std::string>& classes,
                                              const std::vector<ClassSet>& class_sets) const {
  auto state = std::make_unique<State>(*state_);
  state->seen = classes;
  state->match = match_classes(state->classes, classes, state->class_sets, class_sets);
  return std::shared_ptr<const Cohort>(new Cohort(std::move(state)));
}

std::shared_ptr<const Cohort> Cohort::with_splits(const std::vector<std::string>& splits) const {
  auto state = std::make_unique<State>(*state_);
  for (std::size_t i = 0; i < state->images.size(); ++i) state->images[i].split = splits.at(i);
  return std::shared_ptr<const Cohort>(new Cohort(std::move(state)));
}

const std::string& Cohort::path() const noexcept { return state_->path; }
const std::string& Cohort::kind() const noexcept { return state_->kind; }
const std::vector<std::string>& Cohort::classes() const noexcept { return state_->seen; }
const std::vector<ClassSet>& Cohort::class_sets() const noexcept { return state_->match.sets; }
const std::vector<std::string>& Cohort::channels() const noexcept { return state_->channels; }
const std::vector<IntensityUnit>& Cohort::channel_units() const noexcept { return state_->units; }
IntensityUnit Cohort::unit_of(std::size_t channel) const noexcept {
  return channel < state_->units.size() ? state_->units[channel] : IntensityUnit::hu;
}
IntensityUnit Cohort::unit_of(const std::string& channel) const noexcept {
  const auto found = std::find(state_->channels.begin(), state_->channels.end(), channel);
  return unit_of(static_cast<std::size_t>(found - state_->channels.begin()));
}
const ClassMatch& Cohort::class_match() const noexcept { return state_->match; }
bool Cohort::by_reference() const noexcept { return state_->by_reference; }
bool Cohort::by_requests() const noexcept { return state_->by_requests; }
const std::string& Cohort::dataset_hash() const noexcept { return state_->dataset_hash; }
const std::vector<ImageRecord>& Cohort::images() const noexcept { return state_->images; }
std::shared_ptr<const storage::Store> Cohort::store() const noexcept { return state_->store; }

std::size_t Cohort::find_image(const std::string& id) const {
  const auto& images = state_->images;
  const auto found = std::lower_bound(
      images.begin(), images.end(), id,
      [](const ImageRecord& image, const std::string& key) { return image.id < key; });
  if (found != images.end() && found->id == id)
    return static_cast<std::size_t>(found - images.begin());
  std::vector<std::string> ids;
  for (const ImageRecord& image : images) ids.push_back(image.id);
  const auto nearest = nearest_name(id, ids);
  fail(ErrorCode::not_found, "{}: no image '{}' among its {}{}", state_->path, id, images.size(),
       nearest ? fmt::format(". Did you mean '{}'?", *nearest) : ". headrace info lists them");
}

std::shared_ptr<const zarr::Array> Cohort::image_array(std::size_t image, std::size_t level,
                                                       std::size_t channel) const {
  const std::string& id = state_->images.at(image).id;
  if (channel == 0) return state_->array(fmt::format("images/{}/{}", id, level));
  return state_->array(fmt::format("images/{}/{}/{}", id, channel_folder(channel), level));
}

std::shared_ptr<const zarr::Array> Cohort::label_array(std::size_t image, const std::string& name,
                                                       std::size_t level) const {
  const auto group = state_->label_group(image, name);
  if (!group) {
    fail(ErrorCode::not_found, "{}: image '{}' has no labels '{}' in version {}", state_->path,
         state_->images.at(image).id, name, state_->dataset_hash.substr(0, 12));
  }
  return state_->array(fmt::format("{}/{}", *group, level));
}

std::shared_ptr<const zarr::Array> Cohort::tissue_mask(std::size_t image,
                                                       double& downsample) const {
  auto mask = state_->array(fmt::format("images/{}/masks/tissue", state_->images.at(image).id));
  const Json own = mask->metadata().attributes.value("headrace", Json::object());
  downsample = detail::require<double>(own, "downsample", state_->store->describe(mask->path()));
  return mask;
}

}  // namespace headrace::cohort
