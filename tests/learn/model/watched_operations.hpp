#pragma once
// Before every other header of LibTorch, which is built with NDEBUG: without it the inputs of an
// operation are only given where a flag is set, which LibTorch does not have.
#define NDEBUG
#include <ATen/record_function.h>
#undef NDEBUG

#include <ATen/core/Tensor.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace headrace::model::fixtures {

/// Counts LibTorch's operations while it lives, of all threads; one at a time.
class WatchedOperations {
 public:
  WatchedOperations()
      : handle_(at::addGlobalCallback(at::RecordFunctionCallback(see).needsInputs(true).scopes(
            {at::RecordScope::FUNCTION}))) {
    counts().clear();
  }
  ~WatchedOperations() { at::removeCallback(handle_); }
  WatchedOperations(const WatchedOperations&) = delete;
  WatchedOperations& operator=(const WatchedOperations&) = delete;

  int count(const std::string& name) const {
    const auto found = counts().find(name);
    return found == counts().end() ? 0 : found->second;
  }
  /// Those whose results the host has to know before it can go on: on a GPU each waits for all that
  /// was put there before.
  int host_reads() const {
    constexpr std::array<const char*, 8> kReading{"aten::_local_scalar_dense",
                                                  "aten::equal",
                                                  "aten::nonzero",
                                                  "aten::masked_select",
                                                  "aten::is_nonzero",
                                                  "aten::_unique2",
                                                  "aten::repeat_interleave",
                                                  "aten::unique_consecutive"};
    int sum = 0;
    for (const char* name : kReading) sum += count(name);
    return sum;
  }
  /// Copies from the host's memory to another device: from memory that is not page-locked they make
  /// the host wait as well.
  int copies_from_host() const { return count(kFromHost); }
  /// Copies from another device to the host that the host waits for: not those behind which it goes
  /// on, into page-locked memory.
  int waits_for_copies() const { return count(kToHost); }

 private:
  static constexpr const char *kFromHost = "copy from the host", *kToHost = "waits for a copy";

  /// Every copy is one of these in the end, also that of .to(device).
  static std::unique_ptr<at::ObserverContext> see(const at::RecordFunction& call) {
    ++counts()[call.name()];
    if (std::string_view(call.name()) != "aten::copy_") return nullptr;
    const auto inputs = call.inputs();  // self, src, non_blocking
    if (inputs.size() < 3 || !inputs[0].isTensor() || !inputs[1].isTensor()) return nullptr;
    const at::Tensor &to = inputs[0].toTensor(), &from = inputs[1].toTensor();
    if (from.is_cpu() && !to.is_cpu()) ++counts()[kFromHost];
    if (to.is_cpu() && !from.is_cpu() && !(inputs[2].toBool() && to.is_pinned()))
      ++counts()[kToHost];
    return nullptr;
  }
  static std::map<std::string, int>& counts() {
    static std::map<std::string, int> all;
    return all;
  }
  at::CallbackHandle handle_;
};

}  // namespace headrace::model::fixtures
