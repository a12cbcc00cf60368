#pragma once
#include <ucontext.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

/// Blocks of threads in warps of 32 on the host: CUDA's words for the kernels of
/// device/cuda/gather_kernels.cuh, each thread a fiber. A thread runs until it meets others, in an
/// order that changes all the time; those that never meet are an error, as are threads of a warp
/// that meet in different words.
namespace headrace::pixels::fixtures {

struct Dim {
  unsigned x = 0, y = 0;
};

class EmulatedBlock {
 public:
  static constexpr std::size_t kStackBytes = std::size_t{64} << 10;

  EmulatedBlock(unsigned threads, Dim block, Dim grid, const std::function<void()>& body)
      : fibers_(threads), body_(body) {
    current() = this;
    block_dim = {threads, 1};
    block_index = block;
    grid_dim = grid;
    for (Fiber& fiber : fibers_) {
      fiber.stack = std::make_unique<char[]>(kStackBytes);
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.get();
      fiber.context.uc_stack.ss_size = kStackBytes;
      makecontext(&fiber.context, &EmulatedBlock::enter, 0);
    }
  }

  void run() {
    std::size_t left = fibers_.size();
    for (std::size_t round = 0; left > 0; ++round) {
      bool moved = false;
      for (std::size_t i = 0; i < fibers_.size(); ++i) {
        running_ = round % 2 == 0 ? (i + 7 * round) % fibers_.size() : fibers_.size() - 1 - i;
        Fiber& fiber = fibers_[running_];
        if (fiber.done || fiber.waits) continue;
        thread_index.x = static_cast<unsigned>(running_);
        fiber.begun = true;
        to_fiber(fiber);
        if (error_) stop(error_);
        moved = true;
        if (fiber.done) --left;
      }
      if (!moved) {
        stop(std::make_exception_ptr(std::logic_error("threads wait for each other for ever")));
      }
    }
  }

  /// Returns when all lanes of `mask` have come here with the same word; then all their values.
  std::vector<std::uint64_t> meet(const char* word, unsigned mask, std::uint64_t value) {
    const unsigned lane = thread_index.x % 32, warp = thread_index.x / 32;
    if ((mask >> lane & 1) == 0) throw std::logic_error("a thread that its own mask leaves out");
    return gathered({warp, mask}, word, lane, value,
                    static_cast<unsigned>(__builtin_popcount(mask)));
  }
  void meet_all() {
    gathered({~0u, 0}, "__syncthreads", thread_index.x, 0, static_cast<unsigned>(fibers_.size()));
  }

  static EmulatedBlock*& current() {
    static EmulatedBlock* block = nullptr;
    return block;
  }
  static inline Dim thread_index, block_index, block_dim, grid_dim;

 private:
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool begun = false, done = false, waits = false;
    void* own = nullptr;  ///< AddressSanitizer's, of the stack
  };
  struct Meeting {
    const char* word;
    unsigned count = 0;
    std::vector<std::uint64_t> values;
    std::vector<std::size_t> waiting;
  };
  using Place = std::pair<unsigned, unsigned>;

  std::vector<std::uint64_t> gathered(const Place& place, const char* word, unsigned index,
                                      std::uint64_t value, unsigned expected) {
    auto& entry = meetings_[place];
    if (!entry) entry = std::make_shared<Meeting>(Meeting{word, 0, {}, {}});
    const std::shared_ptr<Meeting> meeting = entry;
    if (std::string_view(meeting->word) != word) throw std::logic_error("two words in one warp");
    if (meeting->values.size() <= index) meeting->values.resize(index + 1);
    meeting->values[index] = value;
    if (++meeting->count == expected) {
      for (const std::size_t fiber : meeting->waiting) fibers_[fiber].waits = false;
      meetings_.erase(place);
      return meeting->values;
    }
    meeting->waiting.push_back(running_);
    Fiber& fiber = fibers_[running_];
    fiber.waits = true;
    to_scheduler(fiber);
    if (stopped_) throw std::logic_error("stopped");
    return meeting->values;
  }

  /// Lets go of what threads that are under way hold, then throws.
  [[noreturn]] void stop(const std::exception_ptr& error) {
    stopped_ = true;
    for (running_ = 0; running_ < fibers_.size(); ++running_) {
      if (fibers_[running_].begun && !fibers_[running_].done) to_fiber(fibers_[running_]);
    }
    std::rethrow_exception(error);
  }

  static void enter() {
    EmulatedBlock* block = current();
    Fiber& fiber = block->fibers_[block->running_];
    block->arrived(fiber);
    try {
      block->body_();
    } catch (...) {
      block->error_ = std::current_exception();
    }
    fiber.done = true;
    block->to_scheduler(fiber);
  }

  void to_fiber(Fiber& fiber) {
#ifdef __SANITIZE_ADDRESS__
    void* own = nullptr;
    __sanitizer_start_switch_fiber(&own, fiber.stack.get(), kStackBytes);
#endif
    swapcontext(&scheduler_, &fiber.context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
  }
  void to_scheduler(Fiber& fiber) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(fiber.done ? nullptr : &fiber.own, scheduler_stack_,
                                   scheduler_stack_bytes_);
#endif
    swapcontext(&fiber.context, &scheduler_);
    arrived(fiber);
  }
  void arrived([[maybe_unused]] Fiber& fiber) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fiber.own, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
  }

  std::vector<Fiber> fibers_;
  const std::function<void()>& body_;
  ucontext_t scheduler_;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_bytes_ = 0;
  std::size_t running_ = 0;
  std::map<Place, std::shared_ptr<Meeting>> meetings_;
  std::exception_ptr error_;
  bool stopped_ = false;
};

}  // namespace headrace::pixels::fixtures

// CUDA's words. Threads of a block run one after another, so that additions need no care.
#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__
#define threadIdx ::headrace::pixels::fixtures::EmulatedBlock::thread_index
#define blockIdx ::headrace::pixels::fixtures::EmulatedBlock::block_index
#define blockDim ::headrace::pixels::fixtures::EmulatedBlock::block_dim
#define gridDim ::headrace::pixels::fixtures::EmulatedBlock::grid_dim

inline void __syncthreads() { headrace::pixels::fixtures::EmulatedBlock::current()->meet_all(); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
template <typename T>
void atomicAdd(T* to, T value) {
  *to += value;
}
inline unsigned __match_any_sync(unsigned mask, int value) {
  const auto values = headrace::pixels::fixtures::EmulatedBlock::current()->meet(
      "__match_any_sync", mask, static_cast<unsigned>(value));
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) != 0 && values[lane] == static_cast<unsigned>(value)) same |= 1u << lane;
  }
  return same;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  const auto values =
      headrace::pixels::fixtures::EmulatedBlock::current()->meet("__reduce_add_sync", mask, value);
  std::uint64_t sum = 0;
  for (unsigned lane = 0; lane < values.size(); ++lane) {
    if ((mask >> lane & 1) != 0) sum += values[lane];
  }
  if (sum >> 32 != 0) throw std::logic_error("a sum of a warp is more than 32 bits");
  return static_cast<unsigned>(sum);
}
inline std::uint64_t __shfl_down_sync(unsigned mask, std::uint64_t value, int by) {
  const unsigned lane = threadIdx.x % 32;
  const auto values =
      headrace::pixels::fixtures::EmulatedBlock::current()->meet("__shfl_down_sync", mask, value);
  return lane + static_cast<unsigned>(by) < 32 ? values[lane + static_cast<unsigned>(by)] : value;
}
