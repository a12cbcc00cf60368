#pragma once
// For use inside handover/send only: which files are sent.
#include <string>
#include <vector>

#include "learn/handover/send/send_files.hpp"

namespace headrace::handover {

struct FilesToSend {
  std::vector<SentFile> files;  ///< `not_sent`, or `unreadable` with the reason
  std::size_t skipped = 0;      ///< files of folders that are no DICOM objects
};

/// "DICM" at byte 128: a file that means to be DICOM. Without it, a few first bytes decide, which
/// those of an image chunk may equal. Errors: not_found, io.
bool has_dicom_mark(const std::string& path);

/// Finds the DICOM objects of files and folders and reads what they are. A file that is reached
/// twice is taken once. Errors: not_found, usage, malformed, as send_files has them.
FilesToSend files_to_send(const std::vector<std::string>& paths);

}  // namespace headrace::handover
