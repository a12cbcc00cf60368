# Flags that hold for every file, so that an inline function is the same wherever it is compiled.
# -ffp-contract=off: the same bytes on every ISA level and back end (docs/architecture.md, "Determinism").
set(_flags -Wall -Wextra -Wpedantic -Wno-psabi -Wno-stringop-overflow -Wno-restrict -ffp-contract=off -fno-math-errno -fno-trapping-math)
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${_flags}>")  # those of CUDA: HeadraceCuda.cmake
string(REPLACE "-O3 -DNDEBUG" "-O3" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
if(HR_SANITIZE)
  set(_flags -fsanitize=${HR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${_flags}>")
  add_link_options(-fsanitize=${HR_SANITIZE})
endif()
include_directories(${CMAKE_SOURCE_DIR})
