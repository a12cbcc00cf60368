#include "learn/handover/send/files_to_send.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::handover {
namespace {

namespace fs = std::filesystem;

/// The file's object; the SOP class is empty where it is not one, as an index (DICOMDIR).
SentFile read_object(const std::string& path) {
  const auto file = imaging::load_dicom(path, false);
  DcmDataset& dataset = *file->getDataset();
  SentFile object;
  object.path = path;
  object.sop_instance_uid = imaging::text_of(dataset, DCM_SOPInstanceUID);
  if (!object.sop_instance_uid.empty())
    object.sop_class_uid = imaging::text_of(dataset, DCM_SOPClassUID);
  object.transfer_syntax_uid = DcmXfer(dataset.getOriginalXfer()).getXferID();
  return object;
}

class Finder {
 public:
  void add_named(const std::string& path) {
    if (!imaging::looks_like_dicom(path)) {
      fail(ErrorCode::usage, "{}: this file is not DICOM. Nothing was sent.", path);
    }
    SentFile object = read_object(path);
    if (object.sop_class_uid.empty()) {
      fail(ErrorCode::usage,
           "{}: this DICOM file holds no object (SOP class and instance UID are missing; an index "
           "of a medium has none). Nothing was sent.",
           path);
    }
    add(std::move(object));
  }

  void add_folder(const std::string& folder) {
    std::vector<std::string> paths;
    walk_folder(folder, [&](const fs::directory_entry& entry) {
      std::error_code ignored;
      if (const auto why = why_not_read(entry)) {
        SentFile lost;
        lost.path = entry.path().string();
        lost.outcome = SendOutcome::unreadable;
        lost.reason = fmt::format("{}: {}", lost.path, *why);
        found_.files.push_back(std::move(lost));
      } else if (entry.is_regular_file(ignored)) {
        paths.push_back(entry.path().string());
      }
    });
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) add_found(path);
  }

  FilesToSend take() && { return std::move(found_); }

 private:
  void add_found(const std::string& path) {
    const bool marked = has_dicom_mark(path);
    SentFile object;
    try {
      if (marked || imaging::looks_like_dicom(path)) object = read_object(path);
    } catch (const Error& error) {
      if (marked) {
        object.path = path;
        object.outcome = SendOutcome::unreadable;
        object.reason = error.what();
      }
    }
    if (object.sop_class_uid.empty() && object.outcome != SendOutcome::unreadable) {
      ++found_.skipped;
    } else {
      add(std::move(object));
    }
  }

  void add(SentFile object) {
    if (seen_.insert(fs::canonical(object.path).string()).second)
      found_.files.push_back(std::move(object));
  }

  FilesToSend found_;
  std::set<std::string> seen_;
};

}  // namespace

bool has_dicom_mark(const std::string& path) {
  constexpr std::size_t kMarkEnd = 132;
  const auto head = storage::open_input(path)->head(kMarkEnd);
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), head.size());
  return bytes.ends_with("DICM") && bytes.size() == kMarkEnd;
}

FilesToSend files_to_send(const std::vector<std::string>& paths) {
  Finder finder;
  for (const std::string& path : paths) {
    if (fs::is_directory(path)) {
      finder.add_folder(path);
    } else {
      finder.add_named(path);
    }
  }
  FilesToSend found = std::move(finder).take();
  if (found.files.empty()) {
    fail(ErrorCode::not_found, "{}: no DICOM object ({} other files). Nothing was sent.",
         paths.empty() ? std::string("no path") : paths.front(), found.skipped);
  }
  return found;
}

}  // namespace headrace::handover
