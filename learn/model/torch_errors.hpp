#pragma once
#include <exception>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::model {

/// Whether memory is short, of the host or of a GPU: as LibTorch says it, its libraries or C++.
bool lacks_memory(const std::exception& error);

/// Throws an error of LibTorch as an Error of one sentence, without its list of calls: memory, with
/// what makes the work smaller; device (a call of CUDA failed); internal. Returns where it is
/// another's.
void throw_in_words(const std::exception& error);

/// Runs `body`; errors of LibTorch that leave it are Errors.
template <typename Body>
decltype(auto) in_words(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& error) {
    throw_in_words(error);
    throw;
  }
}

}  // namespace headrace::model
