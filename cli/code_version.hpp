#pragma once

namespace headrace {

/// What the program was built from: the version, and of a git checkout the commit, "0.1.0" or
/// "0.1.0+g0123456789", ending in ".dirty" where tracked files differed from the commit. For
/// records; core/release.hpp has what compares them. Written at each build
/// (cmake/HeadraceCodeVersion.cmake).
const char* code_version() noexcept;

/// How it was compiled, as far as that can decide a result's bytes.
struct BuildFacts {
  const char* type;      ///< "Release"
  const char* compiler;  ///< "GNU 12.2.0"
  const char*
      flags;  ///< -O, -f and -m of every C++ file; levels of a CPU come on top, kernel by kernel
};
BuildFacts build_facts() noexcept;

}  // namespace headrace
