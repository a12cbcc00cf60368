#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/imaging/note.hpp"
#include "headrace/imaging/tiff/ome_images.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"

namespace headrace::imaging {

/// The pages of a TIFF that are the slide.
struct TiffPages {
  std::vector<TiffDirectory> levels;  ///< level 0 first, then by falling width
  /// Where red, green and blue are pages of their own, the levels of each; else empty.
  std::vector<std::vector<TiffDirectory>> planes;
  bool is_first = false;  ///< level 0 is the first page, and the whole of its picture
  std::vector<OmeImage> ome;
  std::vector<Note> notes;  ///< pages that were left out or can't be read
};

/// What a TIFF is to be: of one picture a mask may be marked as whatever it is.
enum class TiffRole { slide, mask };

/// Whether a description names its page a label, macro, overview or thumbnail.
bool names_side_picture(const std::string& description);

/// Chooses the slide among the pages of a TIFF: the largest picture that is not marked as reduced
/// or as a mask, nor named label, macro, overview or thumbnail, wherever it lies, in the main chain
/// or, larger than its page, among the SubIFDs (DNG and TIFF/EP have a thumbnail first); with the
/// pages that are its levels. Three grey pages of one size that are stated to be red, green and
/// blue are one picture. Where several pages are as large, or which is the slide can't be told, it
/// is refused.
///
/// errors  malformed and corrupt (the first directory can't be read), unsupported (which picture
///         is the slide can't be told; the text lists the pages)
TiffPages choose_tiff_pages(const storage::Object& file, TiffRole role = TiffRole::slide);

}  // namespace headrace::imaging
