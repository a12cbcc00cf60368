#pragma once
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/device/cpu_isa.hpp"

namespace headrace::transform::fixtures {

/// Another instruction set for the time of its life; `lacking` where this CPU has it not.
class ForcedIsa {
 public:
  explicit ForcedIsa(const char* name) : before_(device::name_of(device::cpu_isa())) {
    try {
      device::force_cpu_isa(name);
    } catch (const Error&) {
      lacking_ = true;
    }
  }
  ~ForcedIsa() { device::force_cpu_isa(before_); }
  bool lacking() const { return lacking_; }

 private:
  std::string before_;
  bool lacking_ = false;
};

}  // namespace headrace::transform::fixtures
