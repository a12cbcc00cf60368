#include "headrace/source/cohort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <shared_mutex>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/source/image_record.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::source {
namespace {

constexpr int kFormat = 1;
constexpr std::string_view kImages = "images/";
constexpr std::string_view kGroup = "/zarr.json";

/// Takes the dataset hash and the image ids out of manifest.json without building its tree, which
/// has an entry for every object of the store.
class ManifestSummary : public nlohmann::json_sax<Json> {
 public:
  std::string dataset_hash;
  std::vector<std::string> ids;
  std::string problem;

  bool key(std::string& name) override {
    if (depth_ == 1) top_ = name;
    if (depth_ == 2 && top_ == "objects" && name.starts_with(kImages) && name.ends_with(kGroup) &&
        name.size() > kImages.size() + kGroup.size()) {
      const std::string id =
          name.substr(kImages.size(), name.size() - kImages.size() - kGroup.size());
      if (id.find('/') == std::string::npos) ids.push_back(id);
    }
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ == 1 && top_ == "dataset_hash") dataset_hash = text;
    return true;
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    problem = fmt::format("not valid JSON at byte {}", position);
    return false;
  }

 private:
  int depth_ = 0;
  std::string top_;
};

}  // namespace

struct Cohort::State {
  std::string path, kind, dataset_hash;
  std::vector<std::string> classes;
  std::vector<ImageRecord> images;
  std::shared_ptr<storage::Store> store;
  mutable std::shared_mutex mutex;
  mutable std::map<std::string, std::shared_ptr<const zarr::Array>> arrays;

  std::shared_ptr<const zarr::Array> array(const std::string& key) const {
    {
      const std::shared_lock lock(mutex);
      if (const auto found = arrays.find(key); found != arrays.end()) return found->second;
    }
    auto opened = zarr::Array::open(store, key);
    const std::unique_lock lock(mutex);
    return arrays.emplace(key, std::move(opened)).first->second;
  }

  void read_root(Json& attributes) {
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
    const int format = detail::require<int>(own, "format", origin);
    if (format != kFormat) {
      fail(ErrorCode::unsupported,
           "{}: store format {}, this version reads {}. Use the version that wrote it", origin,
           format, kFormat);
    }
    kind = detail::require<std::string>(own, "kind", origin);
    classes = detail::optional<std::vector<std::string>>(own, "classes", origin, {});
    attributes = own;
  }

  std::vector<std::string> read_manifest() {
    const std::string origin = store->describe("manifest.json");
    if (!store->exists("manifest.json")) {
      fail(ErrorCode::corrupt,
           "{}: no manifest.json, so its ingest did not finish. Run the same headrace ingest "
           "again: it goes on where it "
           "stopped",
           path);
    }
    ManifestSummary summary;
    const std::string text = store->get_text("manifest.json");
    if (!Json::sax_parse(text, &summary))
      fail(ErrorCode::malformed, "{}: {}", origin, summary.problem);
    if (summary.dataset_hash.empty())
      fail(ErrorCode::malformed, "{}: the field 'dataset_hash' is missing", origin);
    dataset_hash = summary.dataset_hash;
    std::sort(summary.ids.begin(), summary.ids.end());
    return summary.ids;
  }

  void read_image(const std::string& id, const Json& root, ImageRecord& record) const {
    const std::string key = std::string(kImages) + id + std::string(kGroup);
    const std::string origin = store->describe(key);
    record = detail::parse_image_record(id, parse_json(store->get_text(key), origin), root, origin);
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
};

Cohort::Cohort(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cohort::~Cohort() = default;

std::shared_ptr<const Cohort> Cohort::open(const std::string& store_path) {
  if (!std::filesystem::is_directory(store_path)) {
    fail(ErrorCode::not_found, "{}: there is no such store", store_path);
  }
  auto state = std::make_unique<State>();
  state->path = store_path;
  state->store = std::make_shared<storage::LocalStore>(store_path);
  Json root;
  state->read_root(root);
  const auto ids = state->read_manifest();
  state->images.resize(ids.size());
  ThreadPool pool(0);
  pool.parallel_for(ids.size(),
                    [&](std::size_t i) { state->read_image(ids[i], root, state->images[i]); });
  return std::shared_ptr<const Cohort>(new Cohort(std::move(state)));
}

const std::string& Cohort::path() const noexcept { return state_->path; }
const std::string& Cohort::kind() const noexcept { return state_->kind; }
const std::vector<std::string>& Cohort::classes() const noexcept { return state_->classes; }
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

std::shared_ptr<const zarr::Array> Cohort::image_array(std::size_t image, std::size_t level) const {
  return state_->array(fmt::format("images/{}/{}", state_->images.at(image).id, level));
}

std::shared_ptr<const zarr::Array> Cohort::label_array(std::size_t image, const std::string& name,
                                                       std::size_t level) const {
  return state_->array(
      fmt::format("images/{}/labels/{}/{}", state_->images.at(image).id, name, level));
}

std::shared_ptr<const zarr::Array> Cohort::tissue_mask(std::size_t image,
                                                       double& downsample) const {
  auto mask = state_->array(fmt::format("images/{}/masks/tissue", state_->images.at(image).id));
  const Json own = mask->metadata().attributes.value("headrace", Json::object());
  downsample = detail::require<double>(own, "downsample", state_->store->describe(mask->path()));
  return mask;
}

CellIndex Cohort::cells(std::size_t image) const {
  const std::string key = "index/" + state_->images.at(image).id;
  const std::string origin = state_->store->describe(key);
  // Not through the cache: it is read once, when a plan is made.
  const auto array = zarr::Array::open(state_->store, key);
  const auto& metadata = array->metadata();
  const std::size_t columns = 3 + state_->classes.size();
  if (metadata.dtype != DType::uint32 || metadata.shape.size() != 2 ||
      metadata.shape[1] != static_cast<std::int64_t>(columns)) {
    fail(ErrorCode::malformed,
         "{}: expected a uint32 array of {} columns (cell_y, cell_x, tissue, {} classes)", origin,
         columns, state_->classes.size());
  }
  CellIndex index;
  index.cell_size_px = detail::require<std::int32_t>(
      metadata.attributes.value("headrace", Json::object()), "cell_size_px", origin);
  if (index.cell_size_px <= 0)
    fail(ErrorCode::malformed, "{}: 'cell_size_px' is {}", origin, index.cell_size_px);
  const auto count = static_cast<std::size_t>(metadata.shape[0]);
  std::vector<std::uint32_t> rows(count * columns);
  if (count > 0) {
    const auto row_bytes = static_cast<std::int64_t>(columns * sizeof(std::uint32_t));
    array->read({.origin = {0, 0},
                 .shape = metadata.shape,
                 .dst = reinterpret_cast<std::byte*>(rows.data()),
                 .strides_bytes = {row_bytes, sizeof(std::uint32_t)},
                 .row_spans = {}});
  }
  index.class_px.resize(state_->classes.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t* row = rows.data() + i * columns;
    index.cell_y.push_back(row[0]);
    index.cell_x.push_back(row[1]);
    index.tissue_px.push_back(row[2]);
    for (std::size_t c = 0; c < index.class_px.size(); ++c) index.class_px[c].push_back(row[3 + c]);
  }
  return index;
}

}  // namespace headrace::source
