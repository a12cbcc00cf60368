#include "headrace/imaging/slide/slide_formats.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "headrace/core/folder_walk.hpp"
#include "headrace/core/text.hpp"

namespace headrace::imaging {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFormats{
    SlideFormat{".svs", true, true},
    SlideFormat{".tif", false, true},
    SlideFormat{".tiff", false, true},
    SlideFormat{".ndpi", true, true},
    SlideFormat{".mrxs", true, true, SlideBeside::folder},
    SlideFormat{".scn", true, true},
    SlideFormat{".bif", true, true},
    SlideFormat{".vms", true, true, SlideBeside::names},
    SlideFormat{".vmu", true, true, SlideBeside::names},
    SlideFormat{".svslide", true, true},
    SlideFormat{".zvi", true, true},
    SlideFormat{".czi", true, true},
    SlideFormat{".dcm", true, true},
    SlideFormat{".qptiff", false, true},
    SlideFormat{".btf", false, true},
    SlideFormat{".tf8", false, true},
    SlideFormat{".png", false, false},
    SlideFormat{".jpg", false, false},
    SlideFormat{".jpeg", false, false},
};

}  // namespace

std::span<const SlideFormat> slide_formats() noexcept { return kFormats; }

const SlideFormat* slide_format_of(const std::string& path) {
  const std::string ending = lowered(fs::path(path).extension().string());
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const SlideFormat& f) { return f.ending == ending; });
  return found == kFormats.end() ? nullptr : &*found;
}

std::vector<std::string> files_beside(const std::string& path) {
  const SlideFormat* format = slide_format_of(path);
  std::vector<std::string> files;
  if (format == nullptr || format->beside == SlideBeside::nothing) return files;
  const fs::path stem = fs::path(path).replace_extension();
  const bool folder = format->beside == SlideBeside::folder;
  if (folder && !fs::is_directory(stem)) return files;
  const fs::path at = folder ? stem : stem.has_parent_path() ? stem.parent_path() : fs::path(".");
  for (const auto& entry : list_folder(at)) {
    const fs::path name = entry.path().filename();
    const bool own = folder || (name.string().starts_with(stem.filename().string()) &&
                                name != fs::path(path).filename());
    std::error_code odd;  // such as a loop of links
    if (own && entry.is_regular_file(odd)) files.push_back(entry.path().string());
  }
  return files;
}

bool is_folder_of_slide(const std::string& folder) {
  return std::any_of(kFormats.begin(), kFormats.end(), [&](const SlideFormat& format) {
    return format.beside == SlideBeside::folder && fs::exists(folder + std::string(format.ending));
  });
}

}  // namespace headrace::imaging
