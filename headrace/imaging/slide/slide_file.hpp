#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/slide/openslide_library.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::imaging {

/// What may be a slide: opened once, for whichever reader knows its bytes.
struct SlideFile {
  /// Errors: io; usage (HEADRACE_OPENSLIDE is set and can't be loaded).
  explicit SlideFile(std::shared_ptr<const storage::Object> opened);

  std::shared_ptr<const storage::Object> object;
  std::string name;  ///< for error texts
  FileKind kind = FileKind::other;
  /// Null where it is not found, or the object is no file of this machine: OpenSlide opens files by
  /// their paths.
  const OpenSlideLibrary* openslide = nullptr;
  std::string vendor;  ///< OpenSlide's name of the format; empty where it knows none
};

}  // namespace headrace::imaging
