#pragma once
#include <memory>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// The object, whose reads are kept: short ones are answered from blocks of 64 KiB, longer ones, up
/// to 4 MiB, where they are made again. A program that walks the directories of a TIFF asks for a few
/// bytes at a time, and for the same tables again, each of which would be a request. The last 16 MiB
/// are kept; start_read goes past them. An object whose reads are no requests is given back as it
/// is. Safe from any thread.
std::shared_ptr<const Object> with_cached_blocks(std::shared_ptr<const Object> object);

}  // namespace headrace::storage
