# Precompiled headers: of the standard library and of others, never of ours, so that a file of ours still shows by being built that it
# includes what it needs of Headrace. What headers need of these is held by tests/layering/precompiled_names.py.
# One is compiled for each kind, and every target of that kind uses it.
option(HR_PRECOMPILE "precompile the headers of the standard library, fmt, nlohmann_json, GoogleTest and LibTorch" ON)
if(HR_PRECOMPILE)
  # GCC 12 then reports its own library's inlined code as ours, wrongly.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-maybe-uninitialized;-Wno-stringop-overread>")
endif()
set(_standard <algorithm> <array> <atomic> <bit> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <exception> <filesystem>
    <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <tuple> <utility>
    <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(_torch <ATen/core/Tensor.h> <ATen/core/grad_mode.h> <ATen/TensorOperators.h> <ATen/Context.h> <ATen/Parallel.h>)
set(HR_PRECOMPILED_layer ${_standard})
set(HR_PRECOMPILED_test ${_standard} <gtest/gtest.h>)
set(HR_PRECOMPILED_torch ${_standard} ${_torch})
set(HR_PRECOMPILED_torch_test ${_standard} ${_torch} <gtest/gtest.h>)

# headrace_precompile(<target> <kind>): the first target of a kind compiles its headers, the others take them from there; all of them link
# headrace_core (fmt's macros must be the same), others go without.
function(headrace_precompile target kind)
  get_target_property(links ${target} LINK_LIBRARIES)
  if(NOT HR_PRECOMPILE OR "${links};" MATCHES "^headrace_math;(GTest|$)")
    return()
  endif()
  get_property(first GLOBAL PROPERTY HR_PRECOMPILED_IN_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${HR_PRECOMPILED_${kind}})
    set_property(GLOBAL PROPERTY HR_PRECOMPILED_IN_${kind} ${target})
  endif()
endfunction()
