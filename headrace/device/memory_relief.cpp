#include "headrace/device/memory_relief.hpp"

#include <atomic>

namespace headrace::device::cuda {
namespace {

std::atomic<void (*)() noexcept> relief{nullptr};

}  // namespace

void set_memory_relief(void (*give_back)() noexcept) noexcept { relief = give_back; }

bool relieve_memory() noexcept {
  const auto give_back = relief.load();
  if (give_back == nullptr) return false;
  give_back();
  return true;
}

}  // namespace headrace::device::cuda
