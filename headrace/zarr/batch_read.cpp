#include "headrace/zarr/read_plan.hpp"

namespace headrace::zarr {

ReadStats& ReadStats::operator+=(const ReadStats& other) {
  bytes_read += other.bytes_read;
  ranges_wanted += other.ranges_wanted;
  ranges_issued += other.ranges_issued;
  chunks_decoded += other.chunks_decoded;
  read_ns += other.read_ns;
  decode_ns += other.decode_ns;
  return *this;
}

struct BatchRead::State {
  ReadPlan plan;
  std::vector<std::shared_ptr<const Array>> arrays;
};

BatchRead::BatchRead() : state_(std::make_unique<State>()) {}
BatchRead::~BatchRead() = default;
BatchRead::BatchRead(BatchRead&&) noexcept = default;
BatchRead& BatchRead::operator=(BatchRead&&) noexcept = default;

std::size_t BatchRead::add(std::shared_ptr<const Array> array, RegionRead region) {
  const std::size_t index = state_->plan.add(*array->state_, region);
  state_->arrays.push_back(std::move(array));
  return index;
}

void BatchRead::fetch(ThreadPool& pool) { state_->plan.fetch(&pool); }
std::vector<BatchRead::FileRange> BatchRead::locate(ThreadPool& pool) {
  return state_->plan.locate(&pool);
}
void BatchRead::decode(std::size_t region) { state_->plan.decode(region); }
void BatchRead::decode(std::size_t region, std::byte* dst) { state_->plan.decode(region, dst); }

void BatchRead::plan_decode(ThreadPool& pool, std::span<const std::uint64_t> destinations,
                            DecodePlan& out) {
  state_->plan.plan_decode(&pool, destinations, out);
}
std::string BatchRead::describe(const DecodePlan::Chunk& chunk) const {
  return state_->plan.describe(chunk.source, chunk.inner, {chunk.begin, chunk.end});
}
void BatchRead::read_into(std::function<std::byte*(std::size_t)> memory) {
  state_->plan.read_into(std::move(memory));
}
const std::byte* BatchRead::encoded() const noexcept { return state_->plan.encoded(); }

ReadStats BatchRead::stats() const { return state_->plan.stats(); }

void BatchRead::clear() {
  state_->plan.clear();
  state_->arrays.clear();
}

}  // namespace headrace::zarr
