#include "headrace/loader/loader.hpp"

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/loader/device_slot.hpp"

namespace headrace::loader {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostStarters = 8;
constexpr std::size_t kNoSample = std::numeric_limits<std::size_t>::max();

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

/// A place of the ring and the batch that is made in it.
struct RingSlot {
  enum class Stage { empty, preparing, open, done };

  explicit RingSlot(const detail::LoaderPlan& loader_plan)
      : work(detail::BatchWork::make(loader_plan)) {}
  RingSlot(const detail::LoaderPlan& loader_plan, const detail::RingMemory& memory)
      : RingSlot(loader_plan) {
    device_slot = std::make_unique<detail::DeviceSlot>(loader_plan, memory, *work);
  }
  std::unique_ptr<detail::BatchWork> work;
  std::unique_ptr<detail::DeviceSlot> device_slot;  ///< null: batches are made on the CPU
  Stage stage = Stage::empty;
  std::size_t next_sample = 0, finished = 0, count = 0;
  std::exception_ptr error;
  std::size_t error_sample = kNoSample;

  void keep_error(std::size_t sample, std::exception_ptr what) {
    if (error && sample >= error_sample) return;
    error = std::move(what);
    error_sample = sample;
  }
};

// Note: [ring] This loader's batch n is in slot n mod prefetch from its start until the consumer
// takes it. Workers claim samples of the lowest open batch; only when none is left do they start
// the next one, if its slot is free. So at most `prefetch` batches exist besides those that the
// consumer holds, planning overlaps with the last samples of the batch before, and the division of
// work among workers affects no result: a sample's bytes depend only on its index.
struct Loader::State {
  State(detail::LoaderPlan r, std::uint64_t first_epoch, std::uint64_t first_batch,
        std::optional<std::uint64_t> count)
      : loader_plan(std::move(r)),
        per_epoch(batches_in_epoch()),
        network_before(storage::network_counters()) {
    if (!loader_plan.plan->random()) {
      epoch_offset = first_epoch;
      end = own_batches_before(per_epoch);
      next_start = next_take = own_batches_before(first_batch);
    } else {
      next_start = next_take = own_batches_before(first_epoch * per_epoch + first_batch);
    }
    if (count && *count < end - std::min(end, next_take)) end = next_take + *count;
    stats.left_to_cpu = loader_plan.decoding.left_to_cpu;
    stats.read_by = loader_plan.decoding.read_by;
    make_ring();
    worker_count = static_cast<std::size_t>(loader_plan.config.loader.threads > 0
                                                ? loader_plan.config.loader.threads
                                                : available_cores());
    if (decodes_there() && worker_count > ring.size())
      preparers.emplace(static_cast<int>(worker_count - ring.size() + 1));
    const bool waits = loader_plan.cohort->by_requests() && !decodes_there();
    starters = waits ? std::min(ring.size(), kMostStarters) : 0;
    worker_count += starters;
    for (std::size_t i = 0; i < worker_count; ++i)
      threads.emplace_back([this, starts = i < starters] { run(starts); });
  }

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    work_there.notify_all();
    for (std::thread& thread : threads) thread.join();
    if (loader_plan.device_index >= 0) empty_ring();
  }

  /// Libraries free what they hold on the current GPU, and this may be any thread.
  void empty_ring() noexcept {
    try {
      const device::cuda::DeviceScope scope(loader_plan.device_index);
      ring.clear();
    } catch (const Error&) {
      // The device is lost.
    }
  }

  void make_ring() {
    const auto places = static_cast<std::size_t>(loader_plan.config.loader.prefetch);
    if (loader_plan.device_index < 0) {
      stats.decoded_by = "CPU";
      while (ring.size() < places) ring.push_back(std::make_unique<RingSlot>(loader_plan));
      return;
    }
    const device::cuda::DeviceScope scope(loader_plan.device_index);
    const detail::RingMemory memory(loader_plan);
    while (ring.size() < places) ring.push_back(std::make_unique<RingSlot>(loader_plan, memory));
  }

  std::uint64_t batches_in_epoch() const {
    const auto batch = static_cast<std::uint64_t>(loader_plan.whole_batch);
    return (loader_plan.plan->samples_per_epoch() + batch - 1) / batch;
  }
  /// How many of the batches before `batch` belong to this loader: all, where it does not take
  /// turns.
  std::uint64_t own_batches_before(std::uint64_t batch) const {
    return batch <= loader_plan.turn ? 0 : (batch - loader_plan.turn - 1) / loader_plan.every + 1;
  }
  RingSlot& slot(std::uint64_t n) { return *ring[n % ring.size()]; }
  bool ring_full() const { return next_start == next_take + ring.size(); }
  bool decodes_there() const {
    return loader_plan.device_index >= 0 && loader_plan.decoding.on != zarr::DecodeOn::cpu;
  }
  bool idle() const { return waiting == worker_count && (ring_full() || next_start >= end); }

  void run(bool starts);
  RingSlot* claim(std::size_t& sample);
  void start_batch(std::unique_lock<std::mutex>& lock, detail::Worker& worker);
  void make_one(std::unique_lock<std::mutex>& lock, RingSlot& slot, std::size_t sample,
                detail::Worker& worker);
  void finish_if_done(std::unique_lock<std::mutex>& lock, RingSlot& slot);
  void record_times(detail::DeviceSlot& device_slot);
  void check_decoded(std::unique_lock<std::mutex>& lock, RingSlot& slot);
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  bool front_done() {
    return next_take < next_start && slot(next_take).stage == RingSlot::Stage::done;
  }
  bool wait(std::chrono::milliseconds at_most);
  std::optional<Batch> next();

  const detail::LoaderPlan loader_plan;
  const std::uint64_t per_epoch;
  const storage::NetworkCounters network_before;
  std::uint64_t epoch_offset = 0, end = std::numeric_limits<std::uint64_t>::max();
  std::shared_ptr<device::BufferPool> pool = std::make_shared<device::BufferPool>();

  std::mutex mutex;
  std::condition_variable work_there, batch_done, all_idle;
  std::vector<std::unique_ptr<RingSlot>> ring;
  std::uint64_t next_start = 0, next_take = 0;
  bool stop = false;
  std::exception_ptr failed;  ///< the consumer's error; nothing is delivered after it

  StallStats stats;
  std::set<std::string> decoders;  ///< of the batches so far
  std::size_t worker_count = 0, waiting = 0;
  /// Threads that only start batches, where that is waiting for servers: the others would decode
  /// nothing meanwhile. 0: all start batches.
  std::size_t starters = 0;
  /// Where a GPU decodes, a batch has no samples that workers could share: they would wait while one
  /// of them draws, reads and checks it. So those without a place of the ring help the others.
  std::optional<ThreadPool> preparers;
  std::optional<Clock::time_point> first_next, idle_since, ended;
  std::vector<std::thread> threads;
};

void Loader::State::run(bool starts) {
  const bool makes = !starts, may_start = starts || starters == 0;
  detail::Worker worker;
  if (loader_plan.device_index >= 0) device::cuda::use_device(loader_plan.device_index);
  std::unique_lock lock(mutex);
  while (!stop) {
    std::size_t sample = 0;
    RingSlot* const found = makes ? claim(sample) : nullptr;
    if (found != nullptr) {
      make_one(lock, *found, sample, worker);
    } else if (may_start && !ring_full() && next_start < end) {
      start_batch(lock, worker);
    } else {
      wait_for_work(lock);
    }
  }
}

RingSlot* Loader::State::claim(std::size_t& sample) {
  for (std::uint64_t n = next_take; n < next_start; ++n) {
    RingSlot& candidate = slot(n);
    if (candidate.stage != RingSlot::Stage::open || candidate.next_sample == candidate.count)
      continue;
    sample = candidate.next_sample++;
    return &candidate;
  }
  return nullptr;
}

void Loader::State::start_batch(std::unique_lock<std::mutex>& lock, detail::Worker& worker) {
  const std::uint64_t n = next_start++;
  RingSlot& mine = slot(n);
  mine.stage = RingSlot::Stage::preparing;
  mine.next_sample = mine.finished = mine.count = 0;
  mine.error = nullptr;
  mine.error_sample = kNoSample;
  lock.unlock();
  std::exception_ptr error;
  bool decodes_itself = false;
  try {
    if (mine.device_slot) mine.device_slot->begin(*mine.work);
    const std::uint64_t batch = n * loader_plan.every + loader_plan.turn;
    ThreadPool& helpers = preparers ? *preparers : worker.inline_pool;
    mine.work->prepare(epoch_offset + batch / per_epoch, batch % per_epoch, *pool, helpers);
    decodes_itself = mine.device_slot && mine.device_slot->plan(*mine.work, helpers);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  mine.stage = RingSlot::Stage::open;
  if (error) {
    mine.keep_error(0, std::move(error));
  } else {
    mine.count = decodes_itself ? 0 : mine.work->planned();
    if (mine.work->plan_error()) mine.keep_error(mine.work->planned(), mine.work->plan_error());
    stats.plan_s += static_cast<double>(mine.work->plan_times().plan_ns) * 1e-9;
  }
  finish_if_done(lock, mine);
  work_there.notify_all();
}

void Loader::State::make_one(std::unique_lock<std::mutex>& lock, RingSlot& mine, std::size_t sample,
                             detail::Worker& worker) {
  lock.unlock();
  detail::StageTimes times;
  std::exception_ptr error;
  try {
    mine.work->make_sample(sample, worker, times);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error) mine.keep_error(sample, std::move(error));
  stats.transform_s += static_cast<double>(times.transform_ns) * 1e-9;
  ++mine.finished;
  finish_if_done(lock, mine);
}

void Loader::State::finish_if_done(std::unique_lock<std::mutex>& lock, RingSlot& mine) {
  if (mine.finished != mine.count) return;
  if (mine.device_slot && !mine.error) {
    // No other thread uses a batch whose samples are all finished.
    lock.unlock();
    std::exception_ptr error;
    try {
      mine.device_slot->start(*mine.work);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) mine.keep_error(mine.count, std::move(error));
    record_times(*mine.device_slot);
  }
  mine.stage = RingSlot::Stage::done;
  const zarr::ReadStats read = mine.work->read_stats();
  stats.bytes_read += read.bytes_read;
  stats.read_s += static_cast<double>(read.read_ns) * 1e-9;
  stats.decode_s += static_cast<double>(read.decode_ns) * 1e-9;
  batch_done.notify_all();
}

void Loader::State::record_times(detail::DeviceSlot& device_slot) {
  const auto times = device_slot.take_times();
  stats.read_s += times.read_s;
  stats.copy_s += times.copy_s;
  stats.device_decode_s += times.decode_s;
  stats.device_transform_s += times.transform_s;
  decoders.insert(device_slot.decoded_by());
  stats.decoded_by = fmt::format("{}", fmt::join(decoders, ", "));
  if (loader_plan.decoding.direct != storage::GpuDirect::off) stats.read_by = device_slot.read_by();
  if (device_slot.left_to_cpu().empty() || !stats.left_to_cpu.empty()) return;
  stats.left_to_cpu = device_slot.left_to_cpu();
  log::info("a batch is decoded on the CPU: {}", stats.left_to_cpu);
}

/// Waits, without the lock, until it is known whether the GPU could decode the batch. Only the
/// consumer uses a finished batch.
void Loader::State::check_decoded(std::unique_lock<std::mutex>& lock, RingSlot& mine) {
  if (!mine.device_slot || mine.error || !mine.device_slot->to_be_checked()) return;
  lock.unlock();
  std::exception_ptr error;
  try {
    mine.device_slot->finish(*mine.work);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error) mine.keep_error(0, std::move(error));
  record_times(*mine.device_slot);
}

/// The loader waits for the model from the moment when its last worker finds the ring full until a
/// batch is taken.
void Loader::State::wait_for_work(std::unique_lock<std::mutex>& lock) {
  ++waiting;
  if (idle()) {
    if (first_next && !idle_since && next_start < end) idle_since = Clock::now();
    all_idle.notify_all();
  }
  work_there.wait(lock);
  --waiting;
}

bool Loader::State::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex);
  const Clock::time_point asked = Clock::now();
  if (!first_next) first_next = asked;
  if (failed || next_take >= end) return true;
  const bool ready = batch_done.wait_for(lock, at_most, [&] { return front_done(); });
  stats.data_wait_s += seconds(Clock::now() - asked);
  return ready;
}

std::optional<Batch> Loader::State::next() {
  std::unique_lock lock(mutex);
  const Clock::time_point asked = Clock::now();
  if (!first_next) first_next = asked;
  if (failed) std::rethrow_exception(failed);
  if (next_take >= end) {
    if (!ended) ended = asked;
    return std::nullopt;
  }
  batch_done.wait(lock, [&] { return front_done(); });
  RingSlot& mine = slot(next_take);
  check_decoded(lock, mine);
  stats.data_wait_s += seconds(Clock::now() - asked);
  if (mine.error) {
    failed = mine.error;
    stop = true;
    ended = Clock::now();
    work_there.notify_all();
    std::rethrow_exception(failed);
  }
  Batch batch = mine.work->take(pool);
  if (mine.device_slot) mine.device_slot->hand_over(batch);
  mine.stage = RingSlot::Stage::empty;
  ++next_take;
  if (idle_since) {
    stats.model_wait_s += seconds(Clock::now() - *idle_since);
    idle_since.reset();
  }
  ++stats.batches;
  stats.samples += static_cast<std::uint64_t>(batch.samples);
  work_there.notify_all();
  return batch;
}

Loader::Loader(std::shared_ptr<const cohort::Cohort> cohort, const LoaderConfig& config,
               std::shared_ptr<const SamplePlan> plan, bool with_labels, std::uint64_t first_epoch,
               std::uint64_t first_batch, std::optional<std::uint64_t> count, Share share)
    : Loader(std::move(cohort), config, std::move(plan), nullptr,
             {with_labels, first_epoch, first_batch, count, share}) {}
Loader::Loader(std::shared_ptr<const cohort::Cohort> cohort, const LoaderConfig& config,
               std::shared_ptr<const SamplePlan> plan,
               std::shared_ptr<const Preprocessing> preprocessing, const LoaderStart& start)
    : state_(std::make_unique<State>(
          detail::make_loader_plan(std::move(cohort), config, std::move(plan),
                                   std::move(preprocessing), start.with_labels, start.share),
          start.first_epoch, start.first_batch, start.count)) {}
Loader::~Loader() = default;

std::optional<Batch> Loader::next() { return state_->next(); }
bool Loader::wait(std::chrono::milliseconds at_most) { return state_->wait(at_most); }
void Loader::fill() {
  std::unique_lock lock(state_->mutex);
  state_->all_idle.wait(lock, [&] { return state_->stop || state_->idle(); });
}
std::uint64_t Loader::batches_per_epoch() const noexcept { return state_->per_epoch; }

StallStats Loader::stats() const {
  const std::lock_guard lock(state_->mutex);
  StallStats stats = state_->stats;
  stats.network = storage::network_counters() - state_->network_before;
  if (state_->first_next)
    stats.wall_s = seconds(state_->ended.value_or(Clock::now()) - *state_->first_next);
  return stats;
}

}  // namespace headrace::loader
