#include "headrace/imaging/volume/note.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"

namespace headrace::imaging {

std::size_t value_count(NoteCode code) {
  switch (code) {
    case NoteCode::nifti_without_form:
    case NoteCode::nifti_pixdim_differs:
    case NoteCode::nifti_forms_disagree:
      return 0;
    case NoteCode::segments_overlap:
    case NoteCode::body_empty:
      return 1;
    case NoteCode::contours_left_out:
    case NoteCode::channel_resampled:
    case NoteCode::channel_partial:
      return 2;
    case NoteCode::slices_shifted:
      return 3;
    case NoteCode::slices_doubled:
    case NoteCode::slices_uneven:
      return 5;
    case NoteCode::slices_missing:
      return 7;
  }
  fail(ErrorCode::internal, "a note of unknown code");
}

Note make_note(NoteCode code, std::vector<double> values) {
  if (values.size() != value_count(code)) {
    fail(ErrorCode::internal, "a note '{}' of {} values, expected {}", headrace::name_of(code),
         values.size(), value_count(code));
  }
  for (double& value : values) value = to_six_decimals(value);
  return {code, std::move(values)};
}

std::string fault_text(const Note& note, const SliceWords& words) {
  const auto& v = note.values;
  switch (note.code) {
    case NoteCode::slices_missing:
      return fmt::format(
          "{:.0f} of {:.0f} slices missing (first between {} at {:.2f} mm and {} at {:.2f} mm "
          "along the normal), where neighbours are {:.3f} mm apart",
          v[0], v[1], words(v[2]), v[3], words(v[4]), v[5], v[6]);
    case NoteCode::slices_doubled:
      return fmt::format(
          "{:.0f} slices doubled (first {} and {}, both at {:.2f} mm along the normal)", v[0],
          words(v[1]), words(v[2]), v[3]);
    case NoteCode::slices_uneven:
      return fmt::format(
          "unevenly spaced slices ({:.3f} to {:.3f} mm, median {:.3f} mm, first between {} and {})",
          v[0], v[1], v[4], words(v[2]), words(v[3]));
    case NoteCode::slices_shifted:
      return fmt::format(
          "slices shifted against each other by up to {:.2f} mm in their plane (gantry tilt "
          "{:.1f} degrees)",
          v[0], v[1]);
    default:
      fail(ErrorCode::internal, "a note '{}', expected a fault of slices",
           headrace::name_of(note.code));
  }
}

std::string text_of(const Note& note) {
  const auto& v = note.values;
  switch (note.code) {
    case NoteCode::nifti_without_form:
      return "The NIfTI header has neither qform nor sform: unit directions and origin 0 are "
             "assumed.";
    case NoteCode::nifti_pixdim_differs:
      return "The sform's voxel size differs from pixdim; pixdim is taken, as ITK does.";
    case NoteCode::nifti_forms_disagree:
      return "The NIfTI header's sform and qform disagree; the qform is taken, as ITK does.";
    case NoteCode::slices_missing:
    case NoteCode::slices_doubled:
    case NoteCode::slices_uneven:
    case NoteCode::slices_shifted: {
      const auto words = [](double slice) { return fmt::format("slice {:.0f}", slice); };
      return fmt::format("{}: resampled to {:.4g} mm.", fault_text(note, words), v.back());
    }
    case NoteCode::segments_overlap:
      return fmt::format(
          "segments overlap in {:.0f} voxels; the later frame's segment is taken there.", v[0]);
    case NoteCode::contours_left_out:
      return fmt::format(
          "structure {:.0f}: {:.0f} points and open lines left out, which enclose nothing.", v[0],
          v[1]);
    case NoteCode::body_empty:
      return fmt::format("No voxel of a body lies above {:.0f} HU, so the body mask is empty.",
                         v[0]);
    case NoteCode::channel_resampled:
      return fmt::format(
          "Channel {:.0f} resampled onto the grid of the first; {:.1f} % of the voxels lie outside "
          "of it.",
          v[0], v[1]);
    case NoteCode::channel_partial:
      return fmt::format(
          "Channel {:.0f} shows {:.1f} % of the body; its statistics are of that part.", v[0],
          v[1]);
  }
  fail(ErrorCode::internal, "a note of unknown code");
}

Json to_json(const Note& note) {
  return {{"code", std::string(headrace::name_of(note.code))}, {"values", note.values}};
}

Json to_json(const std::vector<Note>& notes) {
  Json list = Json::array();
  for (const Note& note : notes) list.push_back(to_json(note));
  return list;
}

Note note_from_json(const Json& json, const std::string& origin) {
  try {
    const auto code = value_named<NoteCode>(json.at("code").get<std::string>());
    const auto values = json.at("values").get<std::vector<double>>();
    if (code && values.size() == value_count(*code)) return {*code, values};
  } catch (const Json::exception&) {
    // Told below.
  }
  fail(ErrorCode::malformed,
       "{}: a note that can't be read: of a newer version, or damaged; headrace verify checks the "
       "store",
       origin);
}

}  // namespace headrace::imaging
