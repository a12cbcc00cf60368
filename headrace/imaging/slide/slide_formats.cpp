#include "headrace/imaging/slide/slide_formats.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

#include "headrace/core/folder_walk.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/slide/aperio_slide.hpp"
#include "headrace/imaging/slide/plain_slide.hpp"
#include "headrace/imaging/slide/tiff_slide.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

namespace fs = std::filesystem;

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

std::span<const SlideFormat> slide_formats() {
  constexpr auto kAlone = SlideBeside::nothing, kFolder = SlideBeside::folder,
                 kNames = SlideBeside::names;
  static const std::vector<SlideFormat> kFormats{
      {"aperio", {".svs"}, kAlone, true, is_aperio_slide, open_aperio_slide},
      {"hamamatsu", {".ndpi"}},
      {"hamamatsu", {".vms", ".vmu"}, kNames},
      {"mirax", {".mrxs"}, kFolder},
      {"leica", {".scn"}},
      {"ventana", {".bif"}},
      {"sakura", {".svslide"}},
      {"zeiss", {".czi", ".zvi"}},
      {"dicom", {".dcm"}},
      {"tiff",
       {".tif", ".tiff", ".qptiff", ".btf", ".tf8"},
       kAlone,
       true,
       is_tiff_slide,
       open_tiff_slide},
      {"png", {".png"}, kAlone, false, is_png_slide, open_png_slide},
      {"jpeg", {".jpg", ".jpeg"}, kAlone, false, is_jpeg_slide, open_jpeg_slide},
  };
  return kFormats;
}

const SlideFormat* slide_format_of(const std::string& path) {
  const std::string ending = lowered(fs::path(path).extension().string());
  const auto formats = slide_formats();
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const SlideFormat& f) {
    return std::find(f.endings.begin(), f.endings.end(), ending) != f.endings.end();
  });
  return found == formats.end() ? nullptr : &*found;
}

const SlideFormat* slide_format_by_bytes(const SlideFile& file) {
  const auto formats = slide_formats();
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const SlideFormat& f) {
    return f.detect != nullptr && f.detect(file);
  });
  return found == formats.end() ? nullptr : &*found;
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
  const auto formats = slide_formats();
  return std::any_of(formats.begin(), formats.end(), [&](const SlideFormat& format) {
    return format.beside == SlideBeside::folder &&
           std::any_of(format.endings.begin(), format.endings.end(), [&](std::string_view ending) {
             return fs::exists(folder + std::string(ending));
           });
  });
}

}  // namespace headrace::imaging
