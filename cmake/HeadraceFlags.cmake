# Flags of every file of this project; nothing of it reaches a project that this one is part of.
# -ffp-contract=off: the same bytes on every ISA level and back end (docs/architecture.md, "Determinism").
set(HR_ARITHMETIC_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math)
set(_flags -Wall -Wextra -Wpedantic -Wno-psabi -Wno-stringop-overflow -Wno-restrict ${HR_ARITHMETIC_FLAGS})
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${_flags}>")  # those of CUDA: HeadraceCuda.cmake
string(REPLACE "-O3 -DNDEBUG" "-O3" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
if(HR_SANITIZE)
  set(_flags -fsanitize=${HR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${_flags}>")
  add_link_options(-fsanitize=${HR_SANITIZE})
endif()
