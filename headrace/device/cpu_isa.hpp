#pragma once
#include <span>
#include <string_view>

namespace headrace::device {

/// Instruction-set levels that kernels are compiled for: those of the x86-64 psABI on x86-64, neon
/// on aarch64. All give the same bytes. v4 (AVX-512) is used from CPUs with VBMI2 on (Ice Lake, Zen
/// 4): older ones lower their clock for its instructions.
enum class CpuIsa { x86_64_v1, x86_64_v2, x86_64_v3, x86_64_v4, neon };

/// The levels of the architecture that this is compiled for, lowest first.
std::span<const CpuIsa> compiled_isas() noexcept;

/// The level that kernels use: the best of this CPU, unless `force_cpu_isa` or HEADRACE_ISA (a name
/// as `name_of` gives it) chose a lower one.
CpuIsa cpu_isa();

/// Chooses a level for the rest of the process. Errors: usage (no level of this architecture),
/// unsupported (this CPU lacks it).
void force_cpu_isa(std::string_view name);

std::string_view name_of(CpuIsa isa) noexcept;  ///< "v1", "v2", "v3", "v4", "neon"

/// Of variants compiled for each level of x86-64, the one for `isa`; without one for v4, that of v3.
template <typename T>
const T& compiled_for(CpuIsa isa, const T& v1, const T& v2, const T& v3) noexcept {
  return isa >= CpuIsa::x86_64_v3 ? v3 : isa == CpuIsa::x86_64_v2 ? v2 : v1;
}
template <typename T>
const T& compiled_for(CpuIsa isa, const T& v1, const T& v2, const T& v3, const T& v4) noexcept {
  return isa == CpuIsa::x86_64_v4 ? v4 : compiled_for(isa, v1, v2, v3);
}

}  // namespace headrace::device
