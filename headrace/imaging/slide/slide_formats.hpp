#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::imaging {

class SlideReader;
struct SlideFile;

/// Where a slide keeps files besides the one that is opened.
enum class SlideBeside {
  nothing,
  folder,  ///< all that lies in a folder of its name without the ending
  names    ///< in its own folder, the files that its text names; they begin as its own name does
           ///< without the ending
};

/// A kind of slide files: what their names look like, and how their bytes are known and read. What
/// reads a file is decided by its bytes (SlideReader::open), never by its name.
struct SlideFormat {
  std::string_view name;                  ///< OpenSlide's, where it has one
  std::vector<std::string_view> endings;  ///< in small letters, with the dot
  SlideBeside beside = SlideBeside::nothing;
  bool in_folders = true;  ///< a folder of slides is searched for it; false: a plain picture, which
                           ///< may be an overview, and which ingest takes, too
  bool (*detect)(const SlideFile& file) = nullptr;
  /// Null, as detect: a scanner's own format, which OpenSlide alone knows and reads. Errors: as
  /// SlideReader::open.
  std::unique_ptr<SlideReader> (*open)(const SlideFile& file) = nullptr;
};

/// Each ending once; a format that is known by its bytes before those that take what it lets pass.
std::span<const SlideFormat> slide_formats();

/// The format of a file's name, in any case of letters; null where it is none of a slide's.
const SlideFormat* slide_format_of(const std::string& path);

/// The format that knows the bytes, of those that need no OpenSlide; null where none does. Errors:
/// io.
const SlideFormat* slide_format_by_bytes(const SlideFile& file);

/// The files that a slide keeps besides the one that is opened, sorted, those that are there; none of
/// most formats. Errors: io (a folder or file that can't be read).
std::vector<std::string> files_beside(const std::string& path);

/// Whether a folder holds the files of a slide beside it (MIRAX: x/ of x.mrxs).
bool is_folder_of_slide(const std::string& folder);

}  // namespace headrace::imaging
