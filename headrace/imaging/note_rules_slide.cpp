#include <fmt/format.h>

#include "headrace/imaging/note_rules.hpp"

namespace headrace::imaging::detail {

const std::vector<NoteRule>& slide_note_rules() {
  static const std::vector<NoteRule> kRules{
      {NoteCode::one_colour, 3,
       [](const NoteValues& v) -> std::string {
         return fmt::format("Every pixel has one colour (red {:.0f}, green {:.0f}, blue {:.0f}).",
                            v[0], v[1], v[2]);
       }},
      {NoteCode::no_tissue, 0,
       [](const NoteValues&) -> std::string { return "No tissue is found on the slide."; }},
      {NoteCode::not_bright_field, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "{:.0f} % of the image is black: it does not look like a bright-field slide; fluorescence "
             "and other kinds of picture are not supported.",
             100 * v[0]);
       }},
      {NoteCode::slide_blurred, 5,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The slide is blurred: sharpness {:.3g}, expected at least {:.3g} (median of {:.0f} "
             "windows on tissue at {:.2f} µm a pixel, {:.0f} % of them below).",
             v[0], v[1], v[3], v[4], 100 * v[2]);
       }},
      {NoteCode::stains_unlike, 3,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The stains lie {:.0f}° from haematoxylin and {:.0f}° from eosin, expected at most "
             "{:.0f}°: another stain, or another kind of picture.",
             v[0], v[1], v[2]);
       }},
      {NoteCode::pixel_size_ignored, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The file states pixels of {:.4g} x {:.4g} micrometres, which a scan of tissue does not "
             "have (a density for screen or print): the pixel size is not known.",
             v[1], v[0]);
       }},
      {NoteCode::pages_left_out, 3,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "{:.0f} other picture{} of the file {} not taken; the largest of them has {:.0f}x{:.0f} "
             "pixels.",
             v[0], v[0] == 1 ? "" : "s", v[0] == 1 ? "was" : "were", v[2], v[1]);
       }},
      {NoteCode::pages_unreadable, 0,
       [](const NoteValues&) -> std::string {
         return "The file's list of pictures is damaged after the first: those behind it are not "
                "seen.";
       }},
      {NoteCode::samples_left_out, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "{:.0f} sample{} a pixel beside the colours {} not taken; the file does not say that it "
             "is transparency.",
             v[0], v[0] == 1 ? "" : "s", v[0] == 1 ? "was" : "were");
       }},
      {NoteCode::pixel_size_of_other, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The file's description states a picture of {:.0f}x{:.0f} pixels, which this is not: its "
             "pixel size is not taken.",
             v[1], v[0]);
       }},
      {NoteCode::pixel_size_overruled, 3, [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The table states pixels of {:.4g} micrometres, the file {:.4g} x {:.4g}: the table's "
             "size is taken.",
             v[0], v[2], v[1]);
       }}};
  return kRules;
}

}  // namespace headrace::imaging::detail
