#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"

namespace headrace::imaging {

/// What may be noted of a volume or its labels. A store holds the code and its values, never text,
/// so nothing of a file can get into it by a note; the sentence is made when it is shown. A code
/// keeps its name and its values for good, since stores hold them.
enum class NoteCode {
  nifti_without_form,    ///< no values
  nifti_pixdim_differs,  ///< no values
  nifti_forms_disagree,  ///< no values
  // Slices have numbers from 0, places along their normal; spacing: the median, to which they are
  // resampled.
  slices_missing,     ///< missing, all with them, slice before, mm, slice after, mm, spacing
  slices_doubled,     ///< doubled, first two slices, their mm, spacing
  slices_uneven,      ///< least mm, most mm, slice before the first uneven step, after it, spacing
  slices_shifted,     ///< most mm in the plane, degrees of tilt, spacing
  segments_overlap,   ///< voxels
  contours_left_out,  ///< number of the structure, contours
  body_empty,         ///< threshold in HU
  channel_resampled,  ///< channel, percent of the voxels outside of its series
  channel_partial     ///< channel, percent of the body that it shows
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
});

}  // namespace headrace
