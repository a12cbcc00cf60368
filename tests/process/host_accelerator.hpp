#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "headrace/process/accelerator.hpp"
#include "headrace/process/tile_pixel.hpp"

namespace headrace::process {

/// An accelerator on the host that is as hard on its users as a GPU: nothing is done before
/// wait(), so that memory which is touched too early shows; memory is poisoned; a copy may only
/// touch what it was given of the right kind; the most that was held is counted. Its kernels are
/// the GPU's passes, one result at a time.
class HostAccelerator : public Accelerator {
 public:
  explicit HostAccelerator(std::size_t device_bytes = std::size_t{1} << 40)
      : state_(std::make_shared<State>()) {
    state_->device_bytes = device_bytes;
  }

  std::string name() const override { return "the host"; }
  std::size_t free_bytes() const override {
    const std::lock_guard lock(state_->mutex);
    return state_->device_bytes - state_->held;
  }
  SharedMemory device_memory(std::size_t bytes) override { return taken(bytes, true); }
  SharedMemory host_memory(std::size_t bytes) override { return taken(bytes, false); }
  std::unique_ptr<Queue> queue() override { return std::make_unique<HostQueue>(state_); }

  std::size_t peak_device_bytes() const { return state_->peak; }
  std::size_t held_device_bytes() const { return state_->held; }
  /// The wait() that many waits from now fails, as one does after a kernel that did.
  void fail_after_waits(int waits) { state_->waits_left = waits; }

 private:
  struct Area {
    std::size_t bytes;
    bool device;
  };
  struct State {
    std::mutex mutex;
    std::map<const std::uint8_t*, Area> areas;
    std::size_t device_bytes = 0, held = 0, peak = 0;
    int waits_left = -1;

    /// Throws unless [p, p + bytes) lies in one area of that kind.
    void check(const std::uint8_t* p, std::int64_t bytes, bool device) {
      const std::lock_guard lock(mutex);
      auto it = areas.upper_bound(p);
      if (it == areas.begin() || bytes < 0) throw std::logic_error("memory of nobody");
      --it;
      if (it->second.device != device || p + bytes > it->first + it->second.bytes) {
        throw std::logic_error(device ? "no device memory" : "no memory of the host");
      }
    }
  };

  class HostQueue : public Queue {
   public:
    explicit HostQueue(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~HostQueue() override { run_all(); }

    void to_device(std::uint8_t* device, std::int64_t device_pitch, const std::uint8_t* host,
                   std::int64_t host_pitch, std::int64_t row_bytes, std::int64_t rows) override {
      check_rows(device, device_pitch, row_bytes, rows, true);
      check_rows(host, host_pitch, row_bytes, rows, false);
      copy(device, device_pitch, host, host_pitch, row_bytes, rows);
    }
    void to_host(std::uint8_t* host, std::int64_t host_pitch, const std::uint8_t* device,
                 std::int64_t device_pitch, std::int64_t row_bytes, std::int64_t rows) override {
      check_rows(host, host_pitch, row_bytes, rows, false);
      check_rows(device, device_pitch, row_bytes, rows, true);
      copy(host, host_pitch, device, device_pitch, row_bytes, rows);
    }
    void run(const TileKernel& kernel, float* sums) override {
      state_->check(kernel.source.base, 1, true);
      state_->check(kernel.out.data, 1, true);
      const std::int64_t bytes = sums_of(kernel) * 4;
      if (bytes > 0) state_->check(reinterpret_cast<std::uint8_t*>(sums), bytes, true);
      if (kernel.height > 65535) throw std::logic_error("more rows than a launch may have");
      work_.push_back([kernel, sums] {
        run_passes(kernel, sums,
                   [](std::int32_t rows, std::int32_t elements, const auto& pass, const char*) {
                     for (std::int32_t row = rows; row-- > 0;) {  // no order may be relied on
                       for (std::int32_t i = elements; i-- > 0;) pass(row, i);
                     }
                   });
      });
    }
    void wait() override {
      run_all();
      const std::lock_guard lock(state_->mutex);
      if (state_->waits_left >= 0 && state_->waits_left-- == 0) {
        fail(ErrorCode::device, "CUDA: a kernel failed");
      }
    }

   private:
    void check_rows(const std::uint8_t* p, std::int64_t pitch, std::int64_t row_bytes,
                    std::int64_t rows, bool device) {
      if (rows <= 0 || row_bytes <= 0) return;
      if (row_bytes > pitch) throw std::logic_error("rows overlap");
      state_->check(p, (rows - 1) * pitch + row_bytes, device);
    }
    void copy(std::uint8_t* to, std::int64_t to_pitch, const std::uint8_t* from,
              std::int64_t from_pitch, std::int64_t row_bytes, std::int64_t rows) {
      work_.push_back([=] {
        for (std::int64_t r = 0; r < rows; ++r) {
          std::copy_n(from + r * from_pitch, row_bytes, to + r * to_pitch);
        }
      });
    }
    void run_all() {
      for (const auto& work : work_) work();
      work_.clear();
    }

    std::shared_ptr<State> state_;
    std::vector<std::function<void()>> work_;
  };

  SharedMemory taken(std::size_t bytes, bool device) {
    auto memory = std::make_unique<std::vector<std::uint8_t>>(bytes, std::uint8_t{0xA5});
    std::uint8_t* data = memory->data();
    {
      const std::lock_guard lock(state_->mutex);
      if (device && state_->held + bytes > state_->device_bytes) {
        fail(ErrorCode::memory, "no device memory is left");
      }
      if (device) state_->held += bytes;
      state_->peak = std::max(state_->peak, state_->held);
      if (bytes > 0) state_->areas[data] = {bytes, device};
    }
    return {data, [memory = memory.release(), state = state_, device](std::uint8_t* p) {
              const std::lock_guard lock(state->mutex);
              state->areas.erase(p);
              if (device) state->held -= memory->size();
              delete memory;
            }};
  }

  std::shared_ptr<State> state_;
};

}  // namespace headrace::process
