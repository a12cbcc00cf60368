#pragma once
#include <cstddef>
#include <functional>

#include "headrace/core/threads.hpp"

namespace headrace {

/// Runs body(0), body(1), … on at most `workers` threads, each started in order; after a failure
/// nothing new is started and the error of the lowest failed index is rethrown, so the same input
/// gives the same error for any number of threads.
void run_in_order(ThreadPool& pool, std::size_t count, std::size_t workers,
                  const std::function<void(std::size_t)>& body);

}  // namespace headrace
