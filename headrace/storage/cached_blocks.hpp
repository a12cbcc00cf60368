#pragma once
#include <memory>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// The object, of which small reads are answered from blocks of 64 KiB that were read before: a
/// program that walks the directories of a TIFF asks for a few bytes at a time, each of which would
/// be a request. The last 4 MiB are kept. An object whose reads are no requests is given back as it
/// is. Safe from any thread.
std::shared_ptr<const Object> with_cached_blocks(std::shared_ptr<const Object> object);

}  // namespace headrace::storage
