#include "headrace/loader/device_slot.hpp"

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/device/device_scope.hpp"

namespace headrace::loader::detail {

DeviceSlot::DeviceSlot(const LoaderPlan& loader_plan, const RingMemory& memory, BatchWork& work)
    : loader_plan_(loader_plan),
      windows_budget_(memory.budget.named("windows of a batch")),
      scratch_budget_(memory.budget.named("the transform's working memory")),
      batches_(memory.batches),
      stream_(memory.pool) {
  work.into_arena([this](std::size_t bytes) { return arena(bytes); });
  if (loader_plan_.decoding.on == zarr::DecodeOn::cpu) return;
  decoder_.emplace(loader_plan_.decoding.on, loader_plan_.decoding.direct);
  decoder_->count_memory(memory.budget.named("the chunks of a batch and what decodes them"));
  if (memory.direct_bytes > 0) decoder_->reserve_direct(memory.direct_bytes);
  decoder_->lend_memory(work.reads());
  work.read_with([this](zarr::BatchRead& reads, ThreadPool& pool) { fetch(reads, pool); });
}

DeviceSlot::~DeviceSlot() {
  try {
    stream_.wait();
  } catch (const Error&) {
    // The device is lost, and the work in flight with it.
  }
}

void DeviceSlot::begin(const BatchWork& work) {
  if (!std::exchange(under_way_, false)) return;
  done_.wait();
  times_.copy_s += begun_.seconds_to(copied_);
  times_.decode_s += on_gpu_ ? copied_.seconds_to(decoded_) : 0;
  times_.transform_s += free_.seconds_to(done_);
  if (!on_gpu_) return;
  try {
    decoder_->finish(work.reads());
  } catch (const Error& error) {
    fail(ErrorCode::device,
         "{} was decoded wrong by the GPU, although its checksums are right: {}. Set loader.decode "
         "to cpu",
         work.name(), error.what());
  }
}

std::byte* DeviceSlot::arena(std::size_t bytes) {
  bytes_ = bytes;
  windows_budget_.reserve(windows_, bytes, stream_);
  return decoder_ ? nullptr : stage();
}

std::byte* DeviceSlot::stage() {
  if (bytes_ > staged_.size()) staged_.reserve(windows_.size());
  return staged_.as<std::byte>();
}

void DeviceSlot::fetch(zarr::BatchRead& reads, ThreadPool& pool) {
  const std::int64_t start = now_ns();
  try {
    decoder_->fetch(reads, pool, stream_);
    if (decoder_->read_directly()) times_.read_s += static_cast<double>(now_ns() - start) * 1e-9;
  } catch (const Error& error) {
    // The sample that needs the unreadable chunk meets the error again, and the error then names
    // the sample.
    if (error.code() != ErrorCode::io && error.code() != ErrorCode::corrupt) throw;
    decoder_->fetch_on_host(reads, pool);
  }
}

bool DeviceSlot::plan(BatchWork& work, ThreadPool& pool) {
  on_gpu_ = false;
  if (!decoder_) return false;
  if (work.plan_error()) {
    // It ends in an error, of this or of a lower sample.
    leave_to_cpu(work, {}, pool);
    return false;
  }
  try {
    on_gpu_ = decoder_->plan(work.reads(), pool, work.destinations());
    if (!on_gpu_) leave_to_cpu(work, decoder_->left_to_cpu(), pool);
  } catch (const Error& error) {
    // The sample with the damage meets it again, and the error then names the sample.
    if (error.code() != ErrorCode::corrupt && error.code() != ErrorCode::io) throw;
    leave_to_cpu(work, error.what(), pool);
  }
  return on_gpu_;
}

void DeviceSlot::leave_to_cpu(BatchWork& work, std::string why, ThreadPool& pool) {
  on_gpu_ = false;
  if (decoder_->read_directly()) decoder_->fetch_on_host(work.reads(), pool);
  left_to_cpu_ = std::move(why);
  work.use_arena(stage());
}

void DeviceSlot::start(const BatchWork& work) {
  lease_.reset();  // for a batch that is started again: its memory can be the same
  begun_.record(stream_);
  if (on_gpu_) {
    decoder_->run(work.reads(), windows_.as<std::byte>(), stream_, &copied_);
    decoded_by_ = decoder_->decoded_by();
  } else {
    if (bytes_ > 0)
      device::cuda::copy_to_device(windows_.as<std::byte>(), staged_.as<std::byte>(), bytes_,
                                   stream_);
    copied_.record(stream_);
    decoded_by_ = "CPU";
  }
  decoded_.record(stream_);
  // Only now, since it may make the stream wait until the consumer has passed the batch that this
  // memory held before.
  lease_ = batches_->take(loader_plan_.batch_bytes(), stream_);
  free_.record(stream_);
  auto* images = lease_->buffer.as<std::byte>();
  work.launch({windows_.as<std::byte>(), images,
               loader_plan_.with_labels
                   ? reinterpret_cast<std::uint8_t*>(images) + loader_plan_.labels_at()
                   : nullptr,
               scratch_, volume_scratch_, stream_});
  done_.record(stream_);
  lease_->ready.record(stream_);
  under_way_ = true;
  count_scratch();
}

void DeviceSlot::finish(BatchWork& work) {
  // The consumer's thread may have chosen another.
  const device::cuda::DeviceScope scope(loader_plan_.device_index);
  std::string problem;
  try {
    decoder_->finish(work.reads());
    return;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    problem = fmt::format("{}: {}", work.name(), error.what());
  }
  Worker worker;
  leave_to_cpu(work, problem, worker.inline_pool);
  StageTimes times;
  for (std::size_t s = 0; s < work.planned(); ++s) work.make_sample(s, worker, times);
  if (loader_plan_.decoding.on == zarr::DecodeOn::gpu) fail(ErrorCode::corrupt, "{}", problem);
  start(work);
}

/// The transform's memory grows with the largest batch and is counted after it has grown.
void DeviceSlot::count_scratch() {
  const std::size_t bytes = scratch_.device_bytes() + volume_scratch_.device_bytes();
  if (bytes <= scratch_bytes_) return;
  scratch_budget_.take(bytes - std::exchange(scratch_bytes_, bytes));
}

void DeviceSlot::hand_over(Batch& batch) {
  auto* images = lease_->buffer.as<std::byte>();
  batch.images = images;
  if (loader_plan_.with_labels)
    batch.labels = reinterpret_cast<std::uint8_t*>(images) + loader_plan_.labels_at();
  batch.device = loader_plan_.device_index;
  batch.lease = std::move(lease_);
}

DeviceSlot::Times DeviceSlot::take_times() { return std::exchange(times_, {}); }

}  // namespace headrace::loader::detail
