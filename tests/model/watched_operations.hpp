#pragma once
// Before every other header of LibTorch, which is built with NDEBUG: without it the inputs of an
// operation are only given where a flag is set, which LibTorch does not have.
#define NDEBUG
#include <ATen/record_function.h>
#undef NDEBUG

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace headrace::model::testing {

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

 private:
  static constexpr const char* kFromHost = "copy from the host";

  static std::unique_ptr<at::ObserverContext> see(const at::RecordFunction& call) {
    ++counts()[call.name()];
    if (std::string_view(call.name()) != "aten::_to_copy") return nullptr;
    const auto inputs = call.inputs();  // self, dtype, layout, device, …
    if (inputs.size() > 3 && inputs[3].isDevice() && !inputs[3].toDevice().is_cpu() &&
        inputs[0].toTensor().is_cpu())
      ++counts()[kFromHost];
    return nullptr;
  }
  static std::map<std::string, int>& counts() {
    static std::map<std::string, int> all;
    return all;
  }
  at::CallbackHandle handle_;
};

}  // namespace headrace::model::testing
