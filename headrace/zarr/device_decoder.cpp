#include "headrace/zarr/device_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/pixels/jpeg/jpeg_data.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/zarr/codec/imagecodecs_jpeg.hpp"
#include "headrace/zarr/cuda/chunk_drivers.hpp"
#include "headrace/zarr/device_checksums.hpp"
#include "headrace/zarr/nvidia/jpeg_batch.hpp"
#include "headrace/zarr/nvidia/stream_batch.hpp"

namespace headrace::zarr {

using device::cuda::DeviceBuffer;
using device::cuda::Event;
using device::cuda::PinnedBuffer;
using device::cuda::Stream;

const GpuDecoders& GpuDecoders::here() {
  static const GpuDecoders found = [] {
    GpuDecoders out;
    if (!device::cuda::cuda_available()) {
      out.no_streams = out.no_jpeg = device::cuda::describe();
      return out;
    }
    out.no_streams = Nvcomp::shared().library.missing();
    out.no_jpeg = Nvjpeg::shared().library.missing();
    if (out.no_streams.empty()) out.names = Nvcomp::shared().name();
    if (out.no_jpeg.empty()) out.names += out.names.empty() ? "nvJPEG" : ", nvJPEG";
    return out;
  }();
  return found;
}

namespace {

pixels::JpegShape shape_of(const DecodePlan::Segment& jpeg) {
  return {jpeg.height, jpeg.width,
          static_cast<int>(jpeg.decoded_size / static_cast<std::uint64_t>(jpeg.height) /
                           static_cast<std::uint64_t>(jpeg.width))};
}

std::span<const std::byte> bytes_of(const DecodePlan::Segment& segment, const std::byte* encoded) {
  return {encoded + segment.offset, segment.size};
}

}  // namespace

struct DeviceDecoder::State {
  explicit State(DecodeOn wanted) : on(wanted) {}
  ~State() { wait_quietly(); }

  // Copies may still read the memory that is freed, or filled anew.
  void wait_quietly() noexcept {
    try {
      done.wait();
    } catch (const Error&) {
      // The device is lost, and the work in flight with it.
    }
  }

  DecodeOn on;
  device::cuda::MemoryBudget budget;
  std::optional<StreamBatch> streams;
  std::optional<JpegBatch> jpegs;
  PinnedBuffer encoded, tables, windows, jpegs_of_cpu;
  DeviceBuffer device_encoded, decoded, device_tables;
  DeviceBuffer read_directly;  ///< DeviceMemory: cuFile takes no other
  Event done;
  DecodePlan plan;
  storage::GpuDirect wanted_direct = storage::GpuDirect::off;
  std::optional<storage::DeviceReader> reader;  ///< null unless files may be read into device
                                                ///< memory
  std::optional<DeviceChecksums> checksums;
  Stream* read_stream = nullptr;
  bool on_gpu = false, direct = false;
  std::optional<Error> jpeg_error;  ///< the CPU's, of the first JPEG that neither can decode
  std::vector<char> unsound;        ///< by JPEG of the batch, where their data was looked at
  bool told_of_jpegs = false;
  std::string read_by = "the host";
  std::string decoded_by, left_to_cpu;

  std::span<const DecodePlan::Segment> segments(bool jpeg) const {
    const auto first = std::find_if(plan.segments.begin(), plan.segments.end(),
                                    [](const auto& s) { return s.codec == StreamCodec::jpeg; });
    return jpeg ? std::span<const DecodePlan::Segment>(first, plan.segments.end())
                : std::span<const DecodePlan::Segment>(plan.segments.begin(), first);
  }

  // Why the plan is not for the GPU; empty if it is.
  std::string refused() const {
    const GpuDecoders& here = GpuDecoders::here();
    if (!segments(false).empty() && !here.no_streams.empty()) return here.no_streams;
    if (segments(true).empty()) return {};
    if (!here.no_jpeg.empty()) return here.no_jpeg;
    if (on == DecodeOn::gpu) return {};
    return kJpegStaysOnCpu;
  }

  bool plan_for_gpu(BatchRead& batch, ThreadPool& pool,
                    std::span<const std::uint64_t> destinations) {
    left_to_cpu.clear();
    jpeg_error.reset();
    if (on == DecodeOn::cpu) return false;
    try {
      batch.plan_decode(pool, destinations, plan);
      left_to_cpu = refused();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      left_to_cpu = error.what();
    }
    if (left_to_cpu.empty()) {
      check_unseen(batch);
      check_jpegs(batch, pool);
      return true;
    }
    if (on == DecodeOn::gpu) {
      fail(ErrorCode::unsupported, "decode is gpu: {}. Set it to auto or cpu", left_to_cpu);
    }
    return false;
  }

  void start_on_cpu(BatchRead& batch, ThreadPool& pool, std::span<const std::uint64_t> destinations,
                    std::uint64_t size_bytes, std::byte* out, Stream& stream) {
    windows.reserve(size_bytes);
    auto* host = windows.as<std::byte>();
    pool.parallel_for(destinations.size(),
                      [&](std::size_t i) { batch.decode(i, host + destinations[i]); });
    device::cuda::copy_to_device(out, host, size_bytes, stream);
    decoded_by = "CPU";
  }

  void decompress(const BatchRead& batch, Stream& stream) {
    decoded_by.clear();
    auto* to = decoded.as<std::byte>();
    if (const auto wanted = segments(false); !wanted.empty()) {
      if (!streams) streams.emplace(StreamBatch::kMostDecodedBytes, budget);
      streams->start(wanted, encoded_there(), to, stream);
      decoded_by = Nvcomp::shared().name();
    }
    if (const auto wanted = segments(true); !wanted.empty()) {
      if (!jpegs) jpegs.emplace(budget);
      const std::vector<std::size_t> left =
          jpegs->start(wanted, unsound, batch.encoded(), to, stream);
      if (left.size() < wanted.size()) decoded_by += separator() + jpegs->name();
      if (!left.empty()) decode_on_cpu(batch, wanted, left, to, stream);
    }
    if (decoded_by.empty()) decoded_by = "nothing was compressed";
  }

  // JPEGs stay out: nvJPEG reads them from the host's memory.
  void copy_encoded(const BatchRead& batch, Stream& stream) {
    for (const DecodePlan::Range& range : plan.read_there) {
      device::cuda::copy_to_device(device_encoded.as<std::byte>() + range.begin,
                                   batch.encoded() + range.begin, range.end - range.begin, stream);
    }
  }

  /// The encoded bytes of the batch that the GPU reads, in device memory; null where it reads none.
  std::byte* encoded_there() const {
    return direct ? read_directly.as<std::byte>() : device_encoded.as<std::byte>();
  }

  std::string separator() const { return decoded_by.empty() ? "" : ", "; }

  // JPEGs that nvJPEG does not take become the CPU's bytes. One that the CPU cannot decode either
  // is the error of finish().
  void decode_on_cpu(const BatchRead& batch, std::span<const DecodePlan::Segment> wanted,
                     std::span<const std::size_t> left, std::byte* to, Stream& stream) {
    if (!std::exchange(told_of_jpegs, true)) {
      log::info(
          "JPEGs that {} does not take are decoded on the CPU, {} of {} in the first such batch: {}",
          jpegs->name(), left.size(), wanted.size(), jpegs->why_left());
    }
    std::size_t bytes = 0;
    for (const std::size_t i : left) bytes += wanted[i].decoded_size;
    if (bytes > jpegs_of_cpu.size()) jpegs_of_cpu.reserve(bytes + bytes / 8);
    auto* at = jpegs_of_cpu.as<std::byte>();
    for (const std::size_t i : left) {
      const DecodePlan::Segment& jpeg = wanted[i];
      try {
        const pixels::JpegShape shape = shape_of(jpeg);
        pixels::decode_jpeg_window(bytes_of(jpeg, batch.encoded()), kJpegOrigin, shape,
                                   {0, shape.height, 0, shape.width}, at,
                                   shape.width * shape.components);
      } catch (Error& error) {
        if (!jpeg_error) jpeg_error = error.at(batch.describe(plan.chunks[jpeg.chunk]));
      }
      device::cuda::copy_to_device(to + jpeg.decoded_offset, at, jpeg.decoded_size, stream);
      at += jpeg.decoded_size;
    }
    decoded_by += separator() + "CPU";
  }

  // All placements in one table, one copy.
  void place(std::uint8_t* out, Stream& stream) {
    const std::vector<Placement>* lists[] = {&plan.copies, &plan.fills, &plan.places};
    std::size_t bytes = 0;
    for (const auto* list : lists) bytes += list->size() * sizeof(Placement);
    tables.reserve(bytes);
    budget.reserve(device_tables, bytes, stream);
    auto* at = tables.as<std::byte>();
    for (const auto* list : lists) {
      if (!list->empty()) std::memcpy(at, list->data(), list->size() * sizeof(Placement));
      at += list->size() * sizeof(Placement);
    }
    if (bytes == 0) return;
    device::cuda::copy_to_device(device_tables.as<void>(), tables.as<void>(), bytes, stream);
    const auto* table = device_tables.as<const Placement>();
    for (const auto* list : lists) {
      cuda::PlacementTable part{table, list->size(), 0};
      for (const Placement& p : *list) part.most_units = std::max(part.most_units, p.units());
      const bool between = list == &plan.copies;
      cuda::place(part, reinterpret_cast<const std::uint8_t*>(encoded_there()),
                  decoded.as<std::uint8_t>(), between ? decoded.as<std::uint8_t>() : out,
                  between ? "stored streams" : "placing elements", stream);
      table += list->size();
    }
  }

  // Waits: nvCOMP promises nothing for a damaged stream, not even that it writes only where it
  // should.
  void check_unseen(const BatchRead& batch) {
    if (plan.checks.empty()) return;
    if (!checksums) checksums.emplace(budget);
    checksums->start(plan.checks, encoded_there(), *read_stream);
    done.record(*read_stream);
    done.wait();
    std::string problem;
    const auto* wrong = checksums->failed(plan.checks, problem);
    if (wrong != nullptr) refuse(batch, wrong->chunk, problem);
  }

  // nvJPEG reports no damage that its GPU's part meets: without a checksum, the host looks for it,
  // and the CPU decodes what does not look sound.
  void check_jpegs(const BatchRead& batch, ThreadPool& pool) {
    const auto wanted = segments(true);
    unsound.assign(plan.proven ? 0 : wanted.size(), 0);
    pool.parallel_for(unsound.size(), [&](std::size_t i) {
      unsound[i] = !pixels::jpeg_data_is_sound(bytes_of(wanted[i], batch.encoded()));
    });
  }

  void read_into_device(BatchRead& batch, ThreadPool& pool, Stream& stream) {
    direct = true;
    read_stream = &stream;
    const auto ranges = batch.locate(pool);
    std::vector<storage::DeviceFile> files;
    for (const BatchRead::FileRange& range : ranges) {
      if (files.empty() || files.back().path != range.path) files.push_back({range.path, {}});
      files.back().ranges.push_back(
          {range.offset, range.size, read_directly.as<std::byte>() + range.at});
    }
    reader->read(files, stream);
    read_by = reader->how();
  }

  [[noreturn]] void refuse(const BatchRead& batch, std::uint32_t chunk,
                           const std::string& problem) const {
    fail(ErrorCode::corrupt, "{}: {}. Run `headrace verify STORE` to list every damaged chunk",
         batch.describe(plan.chunks[chunk]), problem);
  }
};

DeviceDecoder::DeviceDecoder(DecodeOn on, storage::GpuDirect direct)
    : state_(std::make_unique<State>(on)) {
  state_->wanted_direct = direct;
  if (direct != storage::GpuDirect::off) state_->reader.emplace(direct);
  if (on != DecodeOn::gpu) return;
  const GpuDecoders& here = GpuDecoders::here();
  if (here.no_streams.empty() || here.no_jpeg.empty()) return;
  fail(ErrorCode::unsupported, "decode is gpu: {}. Set it to auto or cpu", here.no_streams);
}
DeviceDecoder::~DeviceDecoder() = default;
DeviceDecoder::DeviceDecoder(DeviceDecoder&&) noexcept = default;
DeviceDecoder& DeviceDecoder::operator=(DeviceDecoder&&) noexcept = default;

void DeviceDecoder::lend_memory(BatchRead& batch) {
  batch.read_into([state = state_.get()](std::size_t size_bytes) {
    state->wait_quietly();
    if (state->direct) {
      state->budget.reserve(state->read_directly, size_bytes);
      return state->read_directly.as<std::byte>();
    }
    // Pinning memory takes long, so it is not done again for every slightly larger batch.
    if (size_bytes > state->encoded.size()) state->encoded.reserve(size_bytes + size_bytes / 8);
    return state->encoded.as<std::byte>();
  });
}

void DeviceDecoder::fetch(BatchRead& batch, ThreadPool& pool, Stream& stream) {
  State& state = *state_;
  if (state.reader) {
    try {
      state.read_into_device(batch, pool, stream);
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      if (state.wanted_direct == storage::GpuDirect::on) {
        fail(ErrorCode::unsupported,
             "GPUDirect is on: {}. Ingest with {} zstd {} 4096, or set it to auto or off",
             error.what(), Option{"codec"}, Option{"align"});
      }
      state.read_by = fmt::format("the host: {}", error.what());
    }
  }
  fetch_on_host(batch, pool);
}

void DeviceDecoder::fetch_on_host(BatchRead& batch, ThreadPool& pool) {
  state_->direct = false;
  batch.fetch(pool);
}

void DeviceDecoder::reserve_direct(std::size_t size_bytes) {
  state_->budget.reserve(state_->read_directly, size_bytes);
}

bool DeviceDecoder::read_directly() const noexcept { return state_->direct; }
const std::string& DeviceDecoder::read_by() const noexcept { return state_->read_by; }

void DeviceDecoder::count_memory(device::cuda::MemoryBudget budget) {
  state_->budget = std::move(budget);
}

bool DeviceDecoder::plan(BatchRead& batch, ThreadPool& pool,
                         std::span<const std::uint64_t> destinations) {
  state_->on_gpu = state_->plan_for_gpu(batch, pool, destinations);
  return state_->on_gpu;
}

void DeviceDecoder::run(const BatchRead& batch, std::byte* windows, Stream& stream, Event* copied) {
  State& state = *state_;
  // Bytes that were read straight into it must stay, and they fit.
  const bool copies = !state.direct && !state.plan.read_there.empty();
  if (copies) state.budget.reserve(state.device_encoded, state.plan.read_there.back().end, stream);
  state.budget.reserve(state.decoded, state.plan.decoded_bytes, stream);
  if (copies) state.copy_encoded(batch, stream);
  if (copied != nullptr) copied->record(stream);
  try {
    state.decompress(batch, stream);
    state.place(reinterpret_cast<std::uint8_t*>(windows), stream);
  } catch (...) {
    state.done.record(stream);  // what was begun still uses the memory
    throw;
  }
  state.done.record(stream);
}

bool DeviceDecoder::to_be_checked() const noexcept {
  const State& state = *state_;
  return state.on_gpu &&
         (state.jpeg_error || (!state.plan.proven && !state.segments(false).empty()));
}

void DeviceDecoder::start(BatchRead& batch, ThreadPool& pool,
                          std::span<const std::uint64_t> destinations, std::uint64_t size_bytes,
                          std::byte* windows, Stream& stream) {
  if (plan(batch, pool, destinations)) {
    run(batch, windows, stream);
    return;
  }
  state_->start_on_cpu(batch, pool, destinations, size_bytes, windows, stream);
  state_->done.record(stream);
}

void DeviceDecoder::finish(const BatchRead& batch) {
  State& state = *state_;
  state.done.wait();
  if (!state.on_gpu) return;
  if (state.jpeg_error) throw Error(*state.jpeg_error);
  std::string problem;
  if (state.segments(false).empty()) return;
  const auto* failed = state.streams->failed(state.segments(false), problem);
  if (failed != nullptr) state.refuse(batch, failed->chunk, problem);
}

const std::string& DeviceDecoder::decoded_by() const noexcept { return state_->decoded_by; }
const std::string& DeviceDecoder::left_to_cpu() const noexcept { return state_->left_to_cpu; }

}  // namespace headrace::zarr
