#include "headrace/ingest/inputs/image_search.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/dicom/slide_files.hpp"
#include "headrace/imaging/file_kind.hpp"
#include "headrace/imaging/slide/slide_formats.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::array kDicomEndings{".dicom", ".dic", ".ima"};

/// No ending at all, or what follows the last point of an identifier ("1.2.840.10008").
bool has_no_ending(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending.size() < 2 || std::all_of(ending.begin() + 1, ending.end(),
                                          [](unsigned char c) { return c >= '0' && c <= '9'; });
}

bool has_dicom_ending(const fs::path& path) {
  const std::string ending = lowered(path.extension().string());
  return std::find(kDicomEndings.begin(), kDicomEndings.end(), ending) != kDicomEndings.end();
}

/// Why a picture beside a slide is none itself: it is named as the slide with what it shows of it
/// after that, x_mask.png or x.svs-thumbnail.jpg beside x.svs. names: of the images of its folder,
/// with and without their endings, in small letters.
std::optional<std::string> why_beside(const fs::path& path, const std::set<std::string>& names) {
  constexpr std::array kPlain{".png", ".jpg", ".jpeg", ".tif", ".tiff"};
  constexpr std::array kPictures{"label", "macro", "overview", "thumbnail", "thumb"};
  const std::string ending = lowered(path.extension().string());
  if (std::find(kPlain.begin(), kPlain.end(), ending) == kPlain.end()) return std::nullopt;
  const std::string stem = lowered(path.stem().string());
  const auto at = stem.find_last_of("_-. ");
  if (at == std::string::npos || at == 0 || !names.contains(stem.substr(0, at)))
    return std::nullopt;
  const std::string shown = stem.substr(at + 1);
  if (shown == "mask") return "named as the mask of a slide beside it (masks are annotations)";
  if (std::find(kPictures.begin(), kPictures.end(), shown) == kPictures.end()) return std::nullopt;
  return "named as the label, macro or thumbnail of a slide beside it";
}

/// One folder, with all below it.
class Walk {
 public:
  Walk(std::string annotations, UnusedFiles& unused)
      : annotations_(std::move(annotations)), unused_(unused) {}

  void look_into(const fs::path& folder) {
    std::error_code failed;
    const fs::path real = fs::canonical(folder, failed);
    if (failed || !folders_.insert(real).second)
      return;  // a loop, or a folder seen by another link
    std::vector<fs::directory_entry> entries = list_folder(folder);
    // Those that are no links first, so that a file keeps its own name.
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return a.is_symlink() != b.is_symlink() ? b.is_symlink() : a.path() < b.path();
    });
    std::set<std::string> names;
    for (const auto& entry : entries) {
      const fs::path name = entry.path().filename();
      if (has_image_ending(name.string()))
        names.insert({lowered(name.string()), lowered(name.stem().string())});
    }
    for (const auto& entry : entries) {
      if (entry.is_directory(failed)) {
        look_into_part(entry);
      } else if (entry.is_regular_file(failed)) {
        look_at(entry.path(), names);
      } else if (const auto why = why_not_read(entry); why && is_looked_at(entry.path())) {
        unused_.push_back({entry.path().string(), *why});
      }
    }
  }

  /// By the file that they are in the end: the first path that led there.
  std::map<std::string, std::string> take() {
    for (const auto& slide : imaging::find_dicom_slides(dicom_)) {
      for (const auto& file : slide.levels) add(file);
      for (const auto& file : slide.associated) add(file);
    }
    for (const auto& file : dicom_) {
      if (!found_.contains(fs::canonical(file).string()))
        unused_.push_back({file, "DICOM, but no slide"});
    }
    return std::move(found_);
  }

 private:
  void look_into_part(const fs::directory_entry& entry) {
    const fs::path& folder = entry.path();
    if (lowered(folder.extension().string()) == ".zarr") return;  // a store is no folder of slides
    if (imaging::is_folder_of_slide(folder.string())) return;
    look_into(folder);
  }

  /// Hidden files, and annotations, are none of the images.
  bool is_looked_at(const fs::path& path) const {
    return !path.filename().string().starts_with(".") && !lies_below(path.string(), annotations_);
  }

  void look_at(const fs::path& path, const std::set<std::string>& names) {
    if (!is_looked_at(path)) return;
    if (const auto why = why_beside(path, names)) return unused_.push_back({path.string(), *why});
    if (has_image_ending(path.string())) return add(path.string());
    if (!has_no_ending(path) && !has_dicom_ending(path)) {
      unused_.push_back({path.string(), "no slide or image by its ending"});
    } else if (imaging::is_dicom_file(path.string())) {
      dicom_.push_back(path.string());
    } else if (imaging::file_kind(path.string()) != imaging::FileKind::other) {
      add(path.string());
    } else {
      unused_.push_back({path.string(), "no slide or image by its content"});
    }
  }

  /// A file that several links lead to is taken by its own name, where one of them has that.
  void add(std::string path) {
    const fs::path real = fs::canonical(path);
    const auto [place, fresh] = found_.try_emplace(real.string(), path);
    if (fresh || place->second == path) return;
    const auto has_own_name = [&](const std::string& p) {
      return fs::path(p).filename() == real.filename();
    };
    if (has_own_name(path) && !has_own_name(place->second)) std::swap(path, place->second);
    unused_.push_back({path, "a link to a file that is taken"});
  }

  std::string annotations_;
  UnusedFiles& unused_;
  std::set<fs::path> folders_;
  std::map<std::string, std::string> found_;
  std::vector<std::string> dicom_;
};

}  // namespace

bool has_image_ending(const std::string& name) { return imaging::slide_format_of(name) != nullptr; }

std::vector<std::string> image_files(const std::vector<std::string>& inputs,
                                     const std::string& annotations, BadInputs& bad,
                                     UnusedFiles* unused) {
  std::set<std::string> found;
  std::set<std::string> real;
  for (const auto& input : inputs) {
    const InputKind kind = input_kind(input);
    if (kind == InputKind::file || storage::is_remote(input)) {
      found.insert(input);
      continue;
    }
    if (kind == InputKind::neither) {
      bad.add({input, ErrorCode::not_found, no_input(input)});
      continue;
    }
    UnusedFiles here;
    std::map<std::string, std::string> files;
    try {
      Walk walk(annotations, here);
      walk.look_into(input);
      files = walk.take();
    } catch (const fs::filesystem_error& error) {
      fail(ErrorCode::io, "{}: can't be read ({})", error.path1().string(), error.code().message());
    }
    if (files.empty()) {
      fail(ErrorCode::usage, "{}: no slides or images in this folder{}", input, in_brackets(here));
    }
    for (const auto& [file, path] : files) {
      if (real.insert(file).second) found.insert(path);
    }
    if (unused != nullptr) unused->insert(unused->end(), here.begin(), here.end());
  }
  return {found.begin(), found.end()};
}

bool is_named_or_seen_dicom(const std::string& path) {
  if (storage::is_remote(path)) return false;  // its folder can't be looked through
  if (lowered(fs::path(path).extension().string()) == ".dcm") return true;
  return (has_no_ending(path) || has_dicom_ending(path)) && imaging::is_dicom_file(path);
}

}  // namespace headrace::ingest
