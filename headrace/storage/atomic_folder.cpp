#include "headrace/storage/atomic_folder.hpp"

#include <cerrno>
#include <system_error>

#include "headrace/core/error.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::storage {

AtomicFolder::AtomicFolder(const std::filesystem::path& folder)
    : folder_(Place::parse(folder).path()),
      aside_(folder_.parent_path() / (".part-" + folder_.filename().string())) {
  std::error_code error;
  std::filesystem::remove_all(aside_, error);
  if (error) fail(ErrorCode::io, "{}: can't be removed ({})", aside_.string(), error.message());
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;  // the next one removes it
  std::filesystem::remove_all(aside_, ignored);
}

void AtomicFolder::finish() {
  if (posix::calls().rename(aside_.c_str(), folder_.c_str()) != 0) {
    fail(ErrorCode::io, "{}: can't be renamed to {} ({})", aside_.string(), folder_.string(),
         posix::describe_errno(errno));
  }
}

}  // namespace headrace::storage
