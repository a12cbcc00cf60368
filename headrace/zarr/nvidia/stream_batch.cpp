#include "headrace/zarr/nvidia/stream_batch.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

// Eight bytes each: source, size, destination, room there; then the resulting size (8 bytes) and
// the status (4 bytes).
constexpr std::size_t kInputs = 4;

std::uint64_t address(const std::byte* base, std::uint64_t offset) {
  return reinterpret_cast<std::uintptr_t>(base) + offset;
}

}  // namespace

StreamBatch::StreamBatch(std::uint64_t most_decoded_bytes, device::cuda::MemoryBudget budget)
    : nvcomp_(Nvcomp::shared()),
      most_decoded_bytes_(most_decoded_bytes),
      budget_(std::move(budget)) {
  if (!nvcomp_.library.there()) fail(ErrorCode::unsupported, "{}", nvcomp_.library.missing());
  Nvcomp::Alignments zstd, lz4;
  const bool told =
      nvcomp_.zstd.alignments({}, &zstd) == 0 && nvcomp_.lz4.alignments({}, &lz4) == 0;
  if (!told || std::max({zstd.input, zstd.output, lz4.input, lz4.output}) > 1) {
    fail(ErrorCode::unsupported, "{} wants streams aligned, and stores do not have them so",
         nvcomp_.name());
  }
}

void StreamBatch::start(std::span<const DecodePlan::Segment> segments, const std::byte* encoded,
                        std::byte* decoded, device::cuda::Stream& stream) {
  count_ = segments.size();
  if (count_ == 0) return;
  const std::size_t input_bytes = kInputs * 8 * count_;
  host_.reserve(input_bytes);
  results_.reserve(12 * count_);
  budget_.reserve(tables_, input_bytes + 12 * count_, stream);
  auto* table = host_.as<std::uint64_t>();
  for (std::size_t i = 0; i < count_; ++i) {
    table[i] = address(encoded, segments[i].offset);
    table[count_ + i] = segments[i].size;
    table[2 * count_ + i] = address(decoded, segments[i].decoded_offset);
    table[3 * count_ + i] = segments[i].decoded_size;
  }
  device::cuda::copy_to_device(tables_.as<void>(), table, input_bytes, stream);
  const auto lz4 = std::find_if(segments.begin(), segments.end(),
                                [](const auto& s) { return s.codec == StreamCodec::lz4; });
  const auto zstd_count = static_cast<std::size_t>(lz4 - segments.begin());
  start_codec(nvcomp_.zstd, "zstd", segments.first(zstd_count), 0, stream);
  start_codec(nvcomp_.lz4, "LZ4", segments.subspan(zstd_count), zstd_count, stream);
  device::cuda::copy_to_host(results_.as<void>(), tables_.as<std::byte>() + input_bytes,
                             12 * count_, stream);
}

template <typename Options>
void StreamBatch::start_codec(const Nvcomp::Codec<Options>& codec, const char* name,
                              std::span<const DecodePlan::Segment> segments, std::size_t first,
                              device::cuda::Stream& stream) {
  const auto check = [&](int status) {
    if (status == 0) return;
    fail(ErrorCode::device, "{}, batched {}: {}", nvcomp_.name(), name, nvcomp_.text_of(status));
  };
  struct Call {
    std::size_t begin, count;
    std::uint64_t total, largest;
    std::size_t scratch = 0;
  };
  std::vector<Call> calls;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::uint64_t size = segments[i].decoded_size;
    if (calls.empty() || calls.back().total + size > most_decoded_bytes_) {
      calls.push_back({i, 0, 0, 0});
    }
    Call& call = calls.back();
    ++call.count;
    call.total += size;
    call.largest = std::max(call.largest, size);
  }
  std::size_t scratch = 0;
  for (Call& call : calls) {
    check(codec.temp_size(call.count, call.largest, {}, &call.scratch, call.total, stream.get()));
    scratch = std::max(scratch, call.scratch);
  }
  budget_.reserve(scratch_, scratch, stream);
  auto* table = tables_.as<std::uint64_t>();
  auto* came_out = table + kInputs * count_;
  auto* status = reinterpret_cast<int*>(came_out + count_);
  for (const Call& call : calls) {
    const std::size_t at = first + call.begin;
    check(codec.decompress(reinterpret_cast<const void* const*>(table + at), table + count_ + at,
                           table + 3 * count_ + at, came_out + at, call.count, scratch_.as<void>(),
                           call.scratch, reinterpret_cast<void* const*>(table + 2 * count_ + at),
                           {}, status + at, stream.get()));
  }
}

const DecodePlan::Segment* StreamBatch::failed(std::span<const DecodePlan::Segment> segments,
                                               std::string& problem) const {
  const DecodePlan::Segment* lowest = nullptr;
  const auto* came_out = results_.as<std::uint64_t>();
  const auto* status = reinterpret_cast<const int*>(came_out + count_);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (status[i] == 0 && came_out[i] == segments[i].decoded_size) continue;
    if (lowest != nullptr && lowest->chunk <= segments[i].chunk) continue;
    lowest = &segments[i];
    problem = status[i] != 0 ? fmt::format("{}: {}", nvcomp_.name(), nvcomp_.text_of(status[i]))
                             : fmt::format("{}: a stream gives {} bytes, expected {}",
                                           nvcomp_.name(), came_out[i], lowest->decoded_size);
  }
  return lowest;
}

}  // namespace headrace::zarr
