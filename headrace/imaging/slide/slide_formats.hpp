#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::imaging {

/// Where a slide keeps files besides the one that is opened.
enum class SlideBeside {
  nothing,
  folder,  ///< all that lies in a folder of its name without the ending
  names    ///< in its own folder, the files that its text names; they begin as its own name does
           ///< without the ending
};

/// A kind of slide files, as their names show it. What reads a file is decided by its bytes
/// (SlideReader::open), never by its name.
struct SlideFormat {
  std::string_view ending;  ///< in small letters, with the dot
  bool by_openslide;        ///< a scanner's own format, which OpenSlide alone reads
  bool in_folders;          ///< a folder of slides is searched for it; false: a plain picture,
                            ///< which may be an overview, and which ingest takes, too
  SlideBeside beside = SlideBeside::nothing;
};

/// Each ending once.
std::span<const SlideFormat> slide_formats() noexcept;

/// The format of a file's name, in any case of letters; null where it is none of a slide's.
const SlideFormat* slide_format_of(const std::string& path);

/// The files that a slide keeps besides the one that is opened, sorted, those that are there; none of
/// most formats. Errors: io (a folder or file that can't be read).
std::vector<std::string> files_beside(const std::string& path);

/// Whether a folder holds the files of a slide beside it (MIRAX: x/ of x.mrxs).
bool is_folder_of_slide(const std::string& folder);

}  // namespace headrace::imaging
