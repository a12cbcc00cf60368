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
  return std::shared_ptr<const Array>(new Array(std::move(state)));
}

Array::Array(std::unique_ptr<State> state) : state_(std::move(state)) {}
Array::~Array() = default;

const ArrayMetadata& Array::metadata() const noexcept { return state_->metadata; }
const std::string& Array::path() const noexcept { return state_->path; }
const std::vector<std::int64_t>& Array::inner_chunk_shape() const noexcept {
  return state_->inner_chunk_shape;
}

std::string Array::host_only() const { return state_->unit().host_only(); }
bool Array::is_jpeg() const noexcept { return state_->unit().is_jpeg(); }
bool Array::is_read_unseen() const { return state_->unit().splits_unseen(); }

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
