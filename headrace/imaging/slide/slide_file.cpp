#include "headrace/imaging/slide/slide_file.hpp"

#include <utility>

namespace headrace::imaging {

SlideFile::SlideFile(std::shared_ptr<const storage::Object> opened)
    : object(std::move(opened)), name(object->describe()), kind(file_kind(*object)) {
  const std::string path = object->local_path();
  if (path.empty()) return;
  openslide = openslide_library();
  const char* known = openslide != nullptr ? openslide->detect_vendor(path.c_str()) : nullptr;
  if (known != nullptr) vendor = known;
}

}  // namespace headrace::imaging
