#pragma once
#include <filesystem>

#include "headrace/core/posix.hpp"

namespace headrace::storage {

/// Locks a file for this process, and makes it where it is absent; the lock lasts as long as the
/// descriptor. An invalid one: another process has it. A file of its own, open to be written, since
/// NFS locks neither folders nor what is only read.
/// errors  io (the file can't be made; its file system has no locks)
posix::Descriptor try_lock_file(const std::filesystem::path& path);

/// flock(2), by which files are locked: the seam where tests inject what a file system answers.
int (*&flock_call() noexcept)(int fd, int operation);

}  // namespace headrace::storage
