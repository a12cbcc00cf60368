#include "headrace/zarr/array.hpp"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "headrace/core/error.hpp"
#include "headrace/zarr/array_state.hpp"
#include "headrace/zarr/read_plan.hpp"

namespace headrace::zarr {
namespace {

// Memory that a thread keeps for its next single read.
constexpr std::size_t kKeepBytes = std::size_t{64} << 20;

// Metadata are walked recursively, here and in error texts; real ones have about ten levels.
constexpr int kMaxDepth = 64;

// Averages of averages; also ends a circle of them.
constexpr int kMaxAverages = 8;

void check_depth(std::string_view json, const std::string& origin) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (depth > kMaxDepth) {
      fail(ErrorCode::malformed, "{}: the JSON is nested deeper than {} levels at byte {}", origin,
           kMaxDepth, i);
    }
  }
}

}  // namespace

namespace {

// "../source" from "images/a/0" is "images/a/source". Errors: malformed.
std::string relative_key(const std::string& path, const std::string& from,
                         const std::string& origin) {
  std::string folder = path;
  std::string_view rest = from;
  while (rest.starts_with("../")) {
    if (folder.empty()) fail(ErrorCode::malformed, "{}: {} leads out of the store", origin, from);
    const std::size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
    rest.remove_prefix(3);
  }
  return folder.empty() ? std::string(rest) : folder + "/" + std::string(rest);
}

void check_average(const ArrayMetadata& metadata, const ArrayMetadata& finer,
                   const std::string& origin) {
  const auto fits = [&] {
    if (metadata.dtype != DType::uint8 || finer.dtype != DType::uint8) return false;
    if (metadata.shape.size() != 3 || finer.shape.size() != 3) return false;
    if (metadata.shape[0] != finer.shape[0] || (finer.shape[0] != 1 && finer.shape[0] != 3))
      return false;
    return metadata.shape[1] == (finer.shape[1] + 1) / 2 &&
           metadata.shape[2] == (finer.shape[2] + 1) / 2;
  };
  if (fits()) return;
  fail(ErrorCode::malformed, "{}: of shape ({}), which are no 2x2 averages of shape ({})", origin,
       fmt::join(metadata.shape, ", "), fmt::join(finer.shape, ", "));
}

}  // namespace

ByteRange Array::State::table_range(const Index& chunk) const {
  std::size_t shard = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t edge = metadata.chunk_shape[static_cast<std::size_t>(axis)];
    shard = shard * static_cast<std::size_t>((shape[axis] + edge - 1) / edge) +
            static_cast<std::size_t>(chunk[axis]);
  }
  return {shard * sharding->index_bytes(), (shard + 1) * sharding->index_bytes()};
}

std::string Array::State::key_of(const Index& chunk) const {
  const std::string key =
      metadata.chunk_key(std::vector<std::int64_t>(chunk.begin(), chunk.begin() + rank));
  return path.empty() ? key : path + "/" + key;
}

std::string Array::State::describe(const Index& chunk, std::size_t inner) const {
  const std::string key =
      metadata.chunk_key(std::vector<std::int64_t>(chunk.begin(), chunk.begin() + rank));
  std::string text = fmt::format("chunk {} of {}", key, store->describe(path));
  if (sharding != nullptr) {
    std::vector<std::int64_t> at(static_cast<std::size_t>(rank));
    auto rest = static_cast<std::int64_t>(inner);
    for (int axis = rank - 1; axis >= 0; --axis) {
      at[static_cast<std::size_t>(axis)] = rest % inner_grid[axis];
      rest /= inner_grid[axis];
    }
    text += fmt::format(", inner chunk {}", fmt::join(at, "/"));
  }
  return text;
}

std::shared_ptr<const Array> Array::open(std::shared_ptr<const storage::Store> store,
                                         const std::string& path) {
  return open_beneath(std::move(store), path, 0);
}

std::shared_ptr<const Array> Array::open_beneath(std::shared_ptr<const storage::Store> store,
                                                 const std::string& path, int averages) {
  static std::atomic<std::uint64_t> next_number{0};
  const std::string key = State::metadata_key_of(path);
  const std::string origin = store->describe(key);
  if (!store->exists(key)) {
    fail(ErrorCode::not_found, "{}: there is no array (no zarr.json)", store->describe(path));
  }
  auto state = std::make_unique<State>();
  const std::string text = store->get_text(key);
  check_depth(text, origin);
  state->metadata = ArrayMetadata::parse(parse_json(text, origin), origin);
  const ArrayMetadata& metadata = state->metadata;
  state->store = std::move(store);
  state->path = path;
  state->number = next_number++;
  state->rank = static_cast<int>(metadata.shape.size());
  ChunkSpec spec{metadata.dtype, state->rank, {}, metadata.fill_value};
  std::copy(metadata.shape.begin(), metadata.shape.end(), state->shape.begin());
  std::copy(metadata.chunk_shape.begin(), metadata.chunk_shape.end(), spec.shape.begin());
  state->chain = CodecChain::prepare(metadata.codecs, spec, origin);
  state->sharding = state->chain->sharding();
  state->inner_shape = state->unit().spec().shape;
  for (int axis = 0; axis < state->rank; ++axis) {
    state->inner_grid[axis] = spec.shape[axis] / state->inner_shape[axis];
    state->inner_chunk_shape.push_back(state->inner_shape[axis]);
  }
  if (const auto& other = state->metadata.other_pixels) {
    const std::string key = relative_key(path, other->pixels, origin);
    if (other->kind == OtherPixels::Kind::tile_table) {
      if (state->sharding == nullptr)
        fail(ErrorCode::malformed, "{}: has a table of tiles, but is not sharded", origin);
      state->table_key = relative_key(path, other->table, origin);
      state->pixels_key = key;
    } else {
      if (averages >= kMaxAverages)
        fail(ErrorCode::malformed, "{}: averages of more than {} levels", origin, kMaxAverages);
      state->finer = open_beneath(state->store, key, averages + 1);
      check_average(metadata, state->finer->metadata(), origin);
    }
  }
  return std::shared_ptr<const Array>(new Array(std::move(state)));
}

Array::Array(std::unique_ptr<State> state) : state_(std::move(state)) {}
Array::~Array() = default;

const ArrayMetadata& Array::metadata() const noexcept { return state_->metadata; }
const std::string& Array::path() const noexcept { return state_->path; }
const std::vector<std::int64_t>& Array::inner_chunk_shape() const noexcept {
  return state_->inner_chunk_shape;
}

std::string Array::host_only() const {
  return state_->finer ? "the average of a finer level" : state_->unit().host_only();
}
bool Array::is_jpeg() const noexcept {
  return state_->finer ? state_->finer->is_jpeg() : state_->unit().is_jpeg();
}
bool Array::is_read_unseen() const { return !state_->finer && state_->unit().splits_unseen(); }

void Array::read(const RegionRead& region) const {
  // One plan for each thread, so that its memory is touched for the first time only once.
  thread_local ReadPlan plan;
  struct Clear {
    ~Clear() {
      plan.clear();
      plan.release_above(kKeepBytes);
    }
  } clear;
  plan.add(*state_, region);
  plan.fetch(nullptr);
  plan.decode(0);
}

}  // namespace headrace::zarr
