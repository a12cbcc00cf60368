#include <fmt/format.h>

#include "headrace/imaging/note_rules.hpp"

namespace headrace::imaging::detail {
namespace {

template <NoteCode kCode>
std::string resampled(const NoteValues& values) {
  const auto words = [](double slice) { return fmt::format("slice {:.0f}", slice); };
  return fmt::format("{}: resampled to {:.4g} mm.", fault_text({kCode, values}, words),
                     values.back());
}

}  // namespace

const std::vector<NoteRule>& volume_note_rules() {
  static const std::vector<NoteRule> kRules{
      {NoteCode::nifti_without_form, 0,
       [](const NoteValues&) -> std::string {
         return "The NIfTI header has neither qform nor sform: unit directions and origin 0 are "
                "assumed.";
       }},
      {NoteCode::nifti_pixdim_differs, 0,
       [](const NoteValues&) -> std::string {
         return "The sform's voxel size differs from pixdim; pixdim is taken, as ITK does.";
       }},
      {NoteCode::nifti_forms_disagree, 0,
       [](const NoteValues&) -> std::string {
         return "The NIfTI header's sform and qform disagree; as ITK does, a sform of code 1 is "
                "taken, else the qform.";
       }},
      {NoteCode::slices_missing, 7, resampled<NoteCode::slices_missing>},
      {NoteCode::slices_doubled, 5, resampled<NoteCode::slices_doubled>},
      {NoteCode::slices_uneven, 5, resampled<NoteCode::slices_uneven>},
      {NoteCode::slices_shifted, 3, resampled<NoteCode::slices_shifted>},
      {NoteCode::body_empty, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format("No voxel of a body lies above {:.0f} HU, so the body mask is empty.",
                            v[0]);
       }},
      {NoteCode::channel_resampled, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "Channel {:.0f} resampled onto the grid of the first; {:.1f} % of the voxels lie outside "
             "of it.",
             v[0], v[1]);
       }},
      {NoteCode::channel_partial, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "Channel {:.0f} shows {:.1f} % of the body; its statistics are of that part.", v[0],
             v[1]);
       }},
      {NoteCode::values_implausible, 4,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "Channel {:.0f}: values do not look like its unit: mean {:.4g}, percentiles 0.5 and 99.5 "
             "of the body {:.4g} and {:.4g}.",
             v[0], v[1], v[2], v[3]);
       }},
      {NoteCode::values_few, 4,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "Channel {:.0f}: {:.0f} different values are stored, {:.4g} to {:.4g}: rounding may have "
             "destroyed what the file shows.",
             v[0], v[3], v[1], v[2]);
       }},
      {NoteCode::values_cut, 4,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "Channel {:.0f}: values {:.4g} to {:.4g}, and {:.1f} % of the voxels have the lowest: "
             "clipped, or their background set, so the body mask does not tell body from air.",
             v[0], v[1], v[2], v[3]);
       }},
      {NoteCode::slices_filled, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "{:.0f} of {:.0f} slices lie where the source has none: interpolated, and ignore in "
             "labels.",
             v[0], v[1]);
       }},
      {NoteCode::slices_rounded, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "Slice positions lie up to {:.3f} mm off even ones, as rounded numbers do: taken as even, "
             "{:.4g} mm apart.",
             v[0], v[1]);
       }},
      {NoteCode::copies_left_out, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format("{:.0f} files are copies of other slices and are left out.", v[0]);
       }},
      {NoteCode::rescale_stated, 2, [](const NoteValues& v) -> std::string {
         return fmt::format("Values are {:g} times the stored ones plus {:g}, as an option states.",
                            v[0], v[1]);
       }}};
  return kRules;
}

}  // namespace headrace::imaging::detail
