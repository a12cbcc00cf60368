# Kernels are compiled once for each instruction set of device/cpu_isa.hpp that the architecture has.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(HR_ISA_LEVELS neon)
  set(HR_ISA_FLAGS_neon -march=armv8-a)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(HR_ISA_LEVELS v1 v2 v3 v4)
  set(HR_ISA_FLAGS_v1 -march=x86-64)
  set(HR_ISA_FLAGS_v2 -march=x86-64-v2)
  set(HR_ISA_FLAGS_v3 -march=x86-64-v3)
  # GCC 12 warns of its own header there (its bug 105593).
  set(HR_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512 -Wno-uninitialized)
else()
  message(FATAL_ERROR "Headrace has kernels for x86-64 and aarch64, not for ${CMAKE_SYSTEM_PROCESSOR}.")
endif()

# headrace_isa_sources(<variable> <stem> CHOSEN_IN <file> [LEVELS <levels…>]): adds to the list <variable> the files <stem>_<level>.cpp, compiled
# for their instruction sets, and the file that chooses among them. LEVELS names those that gain, where not all do. An architecture with
# one instruction set needs no choice: <stem>_<level>.cpp then has what the other file has.
function(headrace_isa_sources variable stem)
  cmake_parse_arguments(S "" "CHOSEN_IN" "LEVELS" ${ARGN})
  set(sources ${${variable}})
  list(LENGTH HR_ISA_LEVELS count)
  if(count GREATER 1)
    list(APPEND sources ${S_CHOSEN_IN})
  endif()
  foreach(level ${HR_ISA_LEVELS})
    if(count EQUAL 1 OR NOT S_LEVELS OR level IN_LIST S_LEVELS)
      list(APPEND sources ${stem}_${level}.cpp)
      set_source_files_properties(${stem}_${level}.cpp PROPERTIES COMPILE_OPTIONS "${HR_ISA_FLAGS_${level}};-O3" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
