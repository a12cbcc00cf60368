#include "headrace/imaging/slide/slide_formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

#include "headrace/core/folder_walk.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/open_store.hpp"

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

/// Values of the lines "Key=Value" that may be names of files in the same folder, each once.
std::set<std::string> values_of(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const auto head = storage::open_input(path)->head(kMostBytes);
  std::istringstream text(std::string(reinterpret_cast<const char*>(head.data()), head.size()));
  std::set<std::string> values;
  for (std::string line; std::getline(text, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 1);
    while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())))
      value.pop_back();
    const bool plain = value.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (plain && !value.empty() && value != fs::path(path).filename()) values.insert(value);
  }
  return values;
}

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
  const auto add = [&](const fs::path& file) {
    std::error_code odd;  // such as a loop of links
    if (fs::is_regular_file(file, odd)) files.push_back(file.string());
  };
  if (format->beside == SlideBeside::names) {
    for (const std::string& name : values_of(path)) add(fs::path(path).parent_path() / name);
  } else if (const fs::path folder = fs::path(path).replace_extension(); fs::is_directory(folder)) {
    for (const auto& entry : list_folder(folder)) add(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_folder_of_slide(const std::string& folder) {
  return std::any_of(kFormats.begin(), kFormats.end(), [&](const SlideFormat& format) {
    return format.beside == SlideBeside::folder && fs::exists(folder + std::string(format.ending));
  });
}

}  // namespace headrace::imaging
