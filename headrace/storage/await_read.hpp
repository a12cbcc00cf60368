#pragma once
#include <functional>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// Waits for what `start` begins, and throws what that fails with. Not from a thread that ends reads.
void await_read(const std::function<void(const ReadDone&)>& start);

}  // namespace headrace::storage
