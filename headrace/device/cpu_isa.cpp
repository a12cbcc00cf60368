#include "headrace/device/cpu_isa.hpp"

#include <atomic>
#include <cstdlib>
#include <string>

#include "headrace/core/error.hpp"

namespace headrace::device {
namespace {

#if defined(__aarch64__)
constexpr CpuIsa kCompiled[] = {CpuIsa::neon};
constexpr const char* kChoices = "neon";

CpuIsa best_of_this_cpu() noexcept { return CpuIsa::neon; }
#else
constexpr CpuIsa kCompiled[] = {CpuIsa::x86_64_v1, CpuIsa::x86_64_v2, CpuIsa::x86_64_v3,
                                CpuIsa::x86_64_v4};
constexpr const char* kChoices = "v1, v2, v3 or v4";

CpuIsa best_of_this_cpu() noexcept {
  if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vbmi2"))
    return CpuIsa::x86_64_v4;
  if (__builtin_cpu_supports("x86-64-v3")) return CpuIsa::x86_64_v3;
  if (__builtin_cpu_supports("x86-64-v2")) return CpuIsa::x86_64_v2;
  return CpuIsa::x86_64_v1;
}
#endif

CpuIsa parse(std::string_view name) {
  for (const CpuIsa isa : kCompiled) {
    if (name == name_of(isa)) {
      if (isa > best_of_this_cpu()) {
        fail(ErrorCode::unsupported, "ISA level {} was asked for, but this CPU offers {}", name,
             name_of(best_of_this_cpu()));
      }
      return isa;
    }
  }
  fail(ErrorCode::usage, "'{}' is not an ISA level; choose {}", name, kChoices);
}

std::atomic<CpuIsa>& chosen() {
  static std::atomic<CpuIsa> isa = [] {
    const char* wish = std::getenv("HEADRACE_ISA");
    return wish != nullptr && *wish != '\0' ? parse(wish) : best_of_this_cpu();
  }();
  return isa;
}

}  // namespace

std::span<const CpuIsa> compiled_isas() noexcept { return kCompiled; }
CpuIsa cpu_isa() { return chosen(); }
void force_cpu_isa(std::string_view name) { chosen() = parse(name); }

std::string_view name_of(CpuIsa isa) noexcept {
  switch (isa) {
    case CpuIsa::x86_64_v1:
      return "v1";
    case CpuIsa::x86_64_v2:
      return "v2";
    case CpuIsa::x86_64_v3:
      return "v3";
    case CpuIsa::x86_64_v4:
      return "v4";
    case CpuIsa::neon:
      return "neon";
  }
  return "v1";
}

}  // namespace headrace::device
