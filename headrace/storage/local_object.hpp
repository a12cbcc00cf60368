#pragma once
#include <memory>
#include <string>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// Opens a file of this machine; null when there is none, or it is no regular file. The descriptor
/// is closed with the object. Safe from any thread.
/// Errors: io (names the file). With errno EMFILE or ENFILE, `out_of_descriptors` is set instead, if
/// it is given.
std::shared_ptr<const Object> open_local_object(const std::string& path,
                                                bool* out_of_descriptors = nullptr);

/// The same of a file that has to be there. Errors: not_found, io (no regular file, no permission); each
/// names the path and what it is.
std::shared_ptr<const Object> open_existing_local_object(const std::string& path);

}  // namespace headrace::storage
