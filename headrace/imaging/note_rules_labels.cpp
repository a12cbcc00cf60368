#include <fmt/format.h>

#include <algorithm>

#include "headrace/imaging/note_rules.hpp"

namespace headrace::imaging::detail {

const std::vector<NoteRule>& label_note_rules() {
  static const std::vector<NoteRule> kRules{
      {NoteCode::segments_overlap, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "segments overlap in {:.0f} voxels; the later frame's segment is taken there.", v[0]);
       }},
      {NoteCode::contours_left_out, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "structure {:.0f}: {:.0f} points and open lines left out, which enclose nothing.",
             v[0], v[1]);
       }},
      {NoteCode::contours_outside, 3,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "structure {:.0f}: {:.0f} contours outside the image and {:.0f} between its slices left "
             "out.",
             v[0], v[1], v[2]);
       }},
      {NoteCode::contours_doubled, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format("structure {:.0f}: {:.0f} contours are there twice and taken once.",
                            v[0], v[1]);
       }},
      {NoteCode::contours_missing, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "structure {:.0f}: {:.0f} slices between its contours have none and are background "
             "there.",
             v[0], v[1]);
       }},
      {NoteCode::contours_filled, 3,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "structure {:.0f}: {:.0f} slices between its contours have none and are filled, since the "
             "contours are stated to be {:.4g} mm thick.",
             v[0], v[1], v[2]);
       }},
      {NoteCode::contours_joined, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "structure {:.0f}: {:.0f} contours cross others of their slice and are one area with "
             "them.",
             v[0], v[1]);
       }},
      {NoteCode::structure_empty, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format("structure {:.0f} encloses no voxel.", v[0]);
       }},
      {NoteCode::frames_outside, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "{:.0f} frames of the segmentation lie outside the image and are left out.", v[0]);
       }},
      {NoteCode::labels_by_frame, 0,
       [](const NoteValues&) -> std::string {
         return "The labels refer to no series; they are matched by their frame of reference.";
       }},
      {NoteCode::labels_other_frame, 0,
       [](const NoteValues&) -> std::string {
         return "The labels state another frame of reference than the series; they are taken as places "
                "in that of the series.";
       }},
      {NoteCode::labels_rounded, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "{:.0f} voxels of the mask are not whole numbers, by up to {:.2g}, and are rounded.",
             v[0], std::max(v[1], 1e-6));
       }},
      {NoteCode::mask_of_255, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The mask has no values but 0 and 255: 255 is taken as the class, in {:.0f} voxels.",
             v[0]);
       }},
      {NoteCode::mask_255_ignored, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The mask has no values but 0 and 255, which is ignore here, in {:.0f} voxels, since "
             "other masks have values of classes.",
             v[0]);
       }},
      {NoteCode::mask_cropped, 1,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The mask covers a part of the image; the other {:.0f} voxels are background.", v[0]);
       }},
      {NoteCode::mask_full_scale, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The mask holds only 0 and {:.0f}, and the store has one class: {:.0f} is taken as that "
             "class ({:.0f} pixels of the mask).",
             v[0], v[0], v[1]);
       }},
      {NoteCode::mask_rounded, 3,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The mask's size is that of the image divided by {:.0f}, rounded; {:.0f} rows and {:.0f} "
             "columns of the image outside the mask are ignore.",
             v[0], v[1], v[2]);
       }},
      {NoteCode::polygons_outside, 4,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "Of {:.0f} polygons {:.0f} lie outside the image and {:.0f} are cut at its edge{}.",
             v[2], v[0], v[1],
             v[3] > 0 ? fmt::format("; with coordinates divided by {:.0f} all would lie inside, so "
                                    "they may be of another magnification",
                                    v[3])
                      : "");
       }},
      {NoteCode::polygons_degenerate, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "{:.0f} polygons and {:.0f} holes left out that enclose nothing or stand there twice.",
             v[0], v[1]);
       }},
      {NoteCode::polygons_from_scan, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The scan begins at x {:.0f}, y {:.0f} of the slide's canvas, and QuPath counts from "
             "there: the polygons are moved by that.",
             v[1], v[0]);
       }},
      {NoteCode::polygons_from_canvas, 2,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The scan begins at x {:.0f}, y {:.0f} of the slide's canvas, but the polygons reach out "
             "of a picture of its size: they are taken as counted from the canvas, and not moved.",
             v[1], v[0]);
       }},
      {NoteCode::mask_of_scan, 3,
       [](const NoteValues& v) -> std::string {
         return fmt::format(
             "The mask's size is that of the scan divided by {:.0f}: it is placed where the scan "
             "begins on the slide's canvas, at x {:.0f}, y {:.0f}.",
             v[2], v[1], v[0]);
       }},
      {NoteCode::objects_empty, 1, [](const NoteValues& v) -> std::string {
         return fmt::format("{:.0f} objects left out that have no geometry.", v[0]);
       }}};
  return kRules;
}

}  // namespace headrace::imaging::detail
