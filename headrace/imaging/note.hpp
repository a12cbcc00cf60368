#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"

namespace headrace::imaging {

/// What may be noted of a slide, a volume or their labels. A store holds the code and its values, never text,
/// so nothing of a file can get into it by a note; the sentence is made when it is shown. A code
/// keeps its name and its values for good, since stores hold them.
enum class NoteCode {
  nifti_without_form,    ///< no values
  nifti_pixdim_differs,  ///< no values
  nifti_forms_disagree,  ///< no values
  // Slices have numbers from 0, places along their normal; spacing: the finest step that recurs, to
  // which they are resampled.
  slices_missing,     ///< missing, all with them, slice before, mm, slice after, mm, spacing
  slices_doubled,     ///< doubled, first two slices, their mm, spacing
  slices_uneven,      ///< least mm, most mm, slice before the first uneven step, after it, spacing
  slices_shifted,     ///< most mm in the plane, degrees of tilt, spacing
  segments_overlap,   ///< voxels
  contours_left_out,  ///< number of the structure, contours
  body_empty,         ///< threshold in HU
  channel_resampled,  ///< channel, percent of the voxels outside of its series
  channel_partial,    ///< channel, percent of the body that it shows
  // Values of a channel, in its unit; lowest and highest: of the whole volume.
  values_implausible,  ///< channel, mean, percentiles 0.5 and 99.5 of the body
  values_few,          ///< channel, lowest, highest, different values
  values_cut,          ///< channel, lowest, highest, percent of the voxels that have the lowest
  // Pixels of a slide.
  one_colour,          ///< red, green, blue
  no_tissue,           ///< no values
  not_bright_field,    ///< share of the image that is black
  slide_blurred,       ///< median sharpness, limit, share of windows below it, windows, µm a pixel
  stains_unlike,       ///< degrees from haematoxylin, from eosin, limit
  pixel_size_ignored,  ///< micrometres a pixel in y and x
  pages_left_out,      ///< pages, height and width of the largest
  pages_unreadable,    ///< no values
  samples_left_out,    ///< samples a pixel that are not colours
  slices_filled,       ///< slices of the volume that no slice of the source is at, all slices
  slices_rounded,      ///< most mm that a slice lies off the even places, spacing
  copies_left_out,     ///< files that are copies of others
  rescale_stated,      ///< slope, intercept
  // Labels; structures by their numbers.
  contours_outside,    ///< structure, contours outside the image, contours between its slices
  contours_doubled,    ///< structure, contours
  contours_missing,    ///< structure, slices between its contours that have none
  contours_filled,     ///< structure, slices, mm that its contours are stated to be thick
  contours_joined,     ///< structure, contours that cross others of their slice
  structure_empty,     ///< structure
  frames_outside,      ///< frames of a segmentation
  labels_by_frame,     ///< no values
  labels_other_frame,  ///< no values
  labels_rounded,      ///< voxels, most that one was off
  mask_of_255,         ///< voxels
  mask_255_ignored,    ///< voxels
  mask_cropped,        ///< voxels of the image outside of the mask
  // Annotations of slides.
  mask_full_scale,   ///< value that is the class, its pixels of the mask
  mask_rounded,      ///< downsampling, rows and columns of the image outside the mask
  polygons_outside,  ///< polygons outside the image, cut at its edge, all; divisor of coordinates
                     ///< by which all would lie inside, 0 where few are outside
  polygons_degenerate,  ///< polygons, holes
  objects_empty,        ///< objects
  // Slides again.
  pixel_size_overruled,  ///< micrometres that the table states, those of the file in y and x
  // Where annotations lie on slides whose scan is a part of their canvas.
  polygons_from_scan,    ///< first row and column of the scan
  polygons_from_canvas,  ///< the same
  mask_of_scan,          ///< the same, downsampling
  pixel_size_of_other    ///< height and width that the description states
};

/// One thing that was odd, or how it was resolved.
struct Note {
  NoteCode code = NoteCode::nifti_without_form;
  std::vector<double> values;

  bool operator==(const Note&) const = default;
};

/// Values are kept to six decimals: more than any sentence shows, and fewer than those in which
/// the mathematical functions of two machines may differ. Errors: internal (not as many values as
/// the code has).
Note make_note(NoteCode code, std::vector<double> values = {});

/// The number of values of a code.
std::size_t value_count(NoteCode code);

/// The words for a slice, by its number.
using SliceWords = std::function<std::string(double)>;

/// The note as a sentence.
std::string text_of(const Note& note);
/// A fault of a stack of slices (codes slices_…) as a clause, without what was done about it.
/// Errors: internal (another code).
std::string fault_text(const Note& note, const SliceWords& words);

/// {"code": name, "values": [numbers]}, as stores hold it.
Json to_json(const Note& note);
Json to_json(const std::vector<Note>& notes);
/// Errors: malformed; `origin` names the object.
Note note_from_json(const Json& json, const std::string& origin);

}  // namespace headrace::imaging

namespace headrace {

template <>
inline constexpr auto kNamesOf<imaging::NoteCode> = names<imaging::NoteCode>({
    {imaging::NoteCode::nifti_without_form, "nifti-without-form"},
    {imaging::NoteCode::nifti_pixdim_differs, "nifti-pixdim-differs"},
    {imaging::NoteCode::nifti_forms_disagree, "nifti-forms-disagree"},
    {imaging::NoteCode::slices_missing, "slices-missing"},
    {imaging::NoteCode::slices_doubled, "slices-doubled"},
    {imaging::NoteCode::slices_uneven, "slices-uneven"},
    {imaging::NoteCode::slices_shifted, "slices-shifted"},
    {imaging::NoteCode::segments_overlap, "segments-overlap"},
    {imaging::NoteCode::contours_left_out, "contours-left-out"},
    {imaging::NoteCode::body_empty, "body-empty"},
    {imaging::NoteCode::channel_resampled, "channel-resampled"},
    {imaging::NoteCode::channel_partial, "channel-partial"},
    {imaging::NoteCode::values_implausible, "values-implausible"},
    {imaging::NoteCode::values_few, "values-few"},
    {imaging::NoteCode::values_cut, "values-cut"},
    {imaging::NoteCode::one_colour, "one-colour"},
    {imaging::NoteCode::no_tissue, "no-tissue"},
    {imaging::NoteCode::not_bright_field, "not-bright-field"},
    {imaging::NoteCode::slide_blurred, "slide-blurred"},
    {imaging::NoteCode::stains_unlike, "stains-unlike"},
    {imaging::NoteCode::pixel_size_ignored, "pixel-size-ignored"},
    {imaging::NoteCode::pages_left_out, "pages-left-out"},
    {imaging::NoteCode::pages_unreadable, "pages-unreadable"},
    {imaging::NoteCode::samples_left_out, "samples-left-out"},
    {imaging::NoteCode::slices_filled, "slices-filled"},
    {imaging::NoteCode::slices_rounded, "slices-rounded"},
    {imaging::NoteCode::copies_left_out, "copies-left-out"},
    {imaging::NoteCode::rescale_stated, "rescale-stated"},
    {imaging::NoteCode::contours_outside, "contours-outside"},
    {imaging::NoteCode::contours_doubled, "contours-doubled"},
    {imaging::NoteCode::contours_missing, "contours-missing"},
    {imaging::NoteCode::contours_filled, "contours-filled"},
    {imaging::NoteCode::contours_joined, "contours-joined"},
    {imaging::NoteCode::structure_empty, "structure-empty"},
    {imaging::NoteCode::frames_outside, "frames-outside"},
    {imaging::NoteCode::labels_by_frame, "labels-by-frame"},
    {imaging::NoteCode::labels_other_frame, "labels-other-frame"},
    {imaging::NoteCode::labels_rounded, "labels-rounded"},
    {imaging::NoteCode::mask_of_255, "mask-of-255"},
    {imaging::NoteCode::mask_255_ignored, "mask-255-ignored"},
    {imaging::NoteCode::mask_cropped, "mask-cropped"},
    {imaging::NoteCode::mask_full_scale, "mask-full-scale"},
    {imaging::NoteCode::mask_rounded, "mask-rounded"},
    {imaging::NoteCode::polygons_outside, "polygons-outside"},
    {imaging::NoteCode::polygons_degenerate, "polygons-degenerate"},
    {imaging::NoteCode::objects_empty, "objects-empty"},
    {imaging::NoteCode::pixel_size_overruled, "pixel-size-overruled"},
    {imaging::NoteCode::polygons_from_scan, "polygons-from-scan"},
    {imaging::NoteCode::polygons_from_canvas, "polygons-from-canvas"},
    {imaging::NoteCode::mask_of_scan, "mask-of-scan"},
    {imaging::NoteCode::pixel_size_of_other, "pixel-size-of-other"},
});

}  // namespace headrace
