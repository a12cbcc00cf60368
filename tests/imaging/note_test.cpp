// Notes of volumes: the sentence of every code, and what stores hold of it.
#include "headrace/imaging/note.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headrace/core/error.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::imaging {
namespace {

struct Golden {
  std::string name;
  Note note;
  std::string text;
};

const std::vector<Golden> kGolden{
    {"nifti-without-form", make_note(NoteCode::nifti_without_form),
     "The NIfTI header has neither qform nor sform: unit directions and origin 0 are assumed."},
    {"nifti-pixdim-differs", make_note(NoteCode::nifti_pixdim_differs),
     "The sform's voxel size differs from pixdim; pixdim is taken, as ITK does."},
    {"nifti-forms-disagree", make_note(NoteCode::nifti_forms_disagree),
     "The NIfTI header's sform and qform disagree; as ITK does, a sform of code 1 is taken, else the qform."},
    {"slices-missing", make_note(NoteCode::slices_missing, {2, 10, 3, -12.5, 4, -2.69, 3.27}),
     "2 of 10 slices missing (first between slice 3 at -12.50 mm and slice 4 at -2.69 mm along "
     "the normal), where neighbours are 3.270 mm apart: resampled to 3.27 mm."},
    {"slices-doubled", make_note(NoteCode::slices_doubled, {1, 3, 4, 7.125, 2.5}),
     "1 slices doubled (first slice 3 and slice 4, both at 7.12 mm along the normal): resampled "
     "to 2.5 mm."},
    {"slices-uneven", make_note(NoteCode::slices_uneven, {1.9, 4.37, 5, 6, 3.27}),
     "unevenly spaced slices (1.900 to 4.370 mm, first between slice 5 and slice 6): resampled to "
     "3.27 mm."},
    {"slices-shifted", make_note(NoteCode::slices_shifted, {5.5, 8.6612, 3.27}),
     "slices shifted against each other by up to 5.50 mm in their plane (gantry tilt 8.7 "
     "degrees): resampled to 3.27 mm."},
    {"segments-overlap", make_note(NoteCode::segments_overlap, {8589934592.0}),
     "segments overlap in 8589934592 voxels; the later frame's segment is taken there."},
    {"contours-left-out", make_note(NoteCode::contours_left_out, {7, 2}),
     "structure 7: 2 points and open lines left out, which enclose nothing."},
    {"body-empty", make_note(NoteCode::body_empty, {-300}),
     "No voxel of a body lies above -300 HU, so the body mask is empty."},
    {"channel-resampled", make_note(NoteCode::channel_resampled, {1, 100.0 / 3}),
     "Channel 1 resampled onto the grid of the first; 33.3 % of the voxels lie outside of it."},
    {"channel-partial", make_note(NoteCode::channel_partial, {2, 71.28}),
     "Channel 2 shows 71.3 % of the body; its statistics are of that part."},
    {"values-implausible", make_note(NoteCode::values_implausible, {0, 412.25, 3, 1100}),
     "Channel 0: values do not look like its unit: mean 412.2, percentiles 0.5 and 99.5 of the body "
     "3 and 1100."},
    {"values-few", make_note(NoteCode::values_few, {0, 0, 1, 2}),
     "Channel 0: 2 different values are stored, 0 to 1: rounding may have destroyed what the file "
     "shows."},
    {"values-cut", make_note(NoteCode::values_cut, {1, -160, 240, 40.595399}),
     "Channel 1: values -160 to 240, and 40.6 % of the voxels have the lowest: clipped, or their "
     "background set, so the body mask does not tell body from air."},
    {"one-colour", make_note(NoteCode::one_colour, {243, 243, 0}),
     "Every pixel has one colour (red 243, green 243, blue 0)."},
    {"no-tissue", make_note(NoteCode::no_tissue), "No tissue is found on the slide."},
    {"not-bright-field", make_note(NoteCode::not_bright_field, {0.875}),
     "88 % of the image is black: it does not look like a bright-field slide; fluorescence and "
     "other kinds of picture are not supported."},
    {"slide-blurred", make_note(NoteCode::slide_blurred, {31.5, 65, 0.9, 40, 0.998}),
     "The slide is blurred: sharpness 31.5, expected at least 65 (median of 40 windows on tissue at "
     "1.00 µm a pixel, 90 % of them below)."},
    {"stains-unlike", make_note(NoteCode::stains_unlike, {12.4, 61.2, 45}),
     "The stains lie 12° from haematoxylin and 61° from eosin, expected at most 45°: another "
     "stain, or another kind of picture."},
    {"pixel-size-ignored", make_note(NoteCode::pixel_size_ignored, {42.333333, 21.166667}),
     "The file states pixels of 21.17 x 42.33 micrometres, which a scan of tissue does not have (a "
     "density for screen or print): the pixel size is not known."},
    {"pages-left-out", make_note(NoteCode::pages_left_out, {2, 90, 120}),
     "2 other pictures of the file were not taken; the largest of them has 120x90 pixels."},
    {"pages-unreadable", make_note(NoteCode::pages_unreadable),
     "The file's list of pictures is damaged after the first: those behind it are not seen."},
    {"samples-left-out", make_note(NoteCode::samples_left_out, {1}),
     "1 sample a pixel beside the colours was not taken; the file does not say that it is "
     "transparency."},
    {"slices-filled", make_note(NoteCode::slices_filled, {16, 32}),
     "16 of 32 slices lie where the source has none: interpolated, and ignore in labels."},
    {"slices-rounded", make_note(NoteCode::slices_rounded, {0.0544, 0.6267}),
     "Slice positions lie up to 0.054 mm off even ones, as rounded numbers do: taken as even, "
     "0.6267 mm apart."},
    {"copies-left-out", make_note(NoteCode::copies_left_out, {3}),
     "3 files are copies of other slices and are left out."},
    {"rescale-stated", make_note(NoteCode::rescale_stated, {1, -1024}),
     "Values are 1 times the stored ones plus -1024, as an option states."},
    {"contours-outside", make_note(NoteCode::contours_outside, {2, 3, 1}),
     "structure 2: 3 contours outside the image and 1 between its slices left out."},
    {"contours-doubled", make_note(NoteCode::contours_doubled, {2, 3}),
     "structure 2: 3 contours are there twice and taken once."},
    {"contours-missing", make_note(NoteCode::contours_missing, {2, 3}),
     "structure 2: 3 slices between its contours have none and are background there."},
    {"contours-filled", make_note(NoteCode::contours_filled, {2, 3, 5}),
     "structure 2: 3 slices between its contours have none and are filled, since the contours are stated to be 5 mm thick."},
    {"contours-joined", make_note(NoteCode::contours_joined, {2, 8}),
     "structure 2: 8 contours cross others of their slice and are one area with them."},
    {"structure-empty", make_note(NoteCode::structure_empty, {2}),
     "structure 2 encloses no voxel."},
    {"frames-outside", make_note(NoteCode::frames_outside, {4}),
     "4 frames of the segmentation lie outside the image and are left out."},
    {"labels-by-frame", make_note(NoteCode::labels_by_frame),
     "The labels refer to no series; they are matched by their frame of reference."},
    {"labels-other-frame", make_note(NoteCode::labels_other_frame),
     "The labels state another frame of reference than the series; they are taken as places in that of the series."},
    {"labels-rounded", make_note(NoteCode::labels_rounded, {416, 0.00025}),
     "416 voxels of the mask are not whole numbers, by up to 0.00025, and are rounded."},
    {"mask-of-255", make_note(NoteCode::mask_of_255, {416}),
     "The mask has no values but 0 and 255: 255 is taken as the class, in 416 voxels."},
    {"mask-255-ignored", make_note(NoteCode::mask_255_ignored, {416}),
     "The mask has no values but 0 and 255, which is ignore here, in 416 voxels, since other masks have values of classes."},
    {"mask-cropped", make_note(NoteCode::mask_cropped, {41820}),
     "The mask covers a part of the image; the other 41820 voxels are background."},
    {"mask-full-scale", make_note(NoteCode::mask_full_scale, {255, 14000}),
     "The mask holds only 0 and 255, and the store has one class: 255 is taken as that class "
     "(14000 pixels of the mask)."},
    {"mask-rounded", make_note(NoteCode::mask_rounded, {4, 3, 0}),
     "The mask's size is that of the image divided by 4, rounded; 3 rows and 0 columns of the "
     "image outside the mask are ignore."},
    {"polygons-outside", make_note(NoteCode::polygons_outside, {3, 1, 4, 8}),
     "Of 4 polygons 3 lie outside the image and 1 are cut at its edge; with coordinates divided "
     "by 8 all would lie inside, so they may be of another magnification."},
    {"polygons-degenerate", make_note(NoteCode::polygons_degenerate, {2, 1}),
     "2 polygons and 1 holes left out that enclose nothing or stand there twice."},
    {"objects-empty", make_note(NoteCode::objects_empty, {3}),
     "3 objects left out that have no geometry."},
    {"pixel-size-overruled", make_note(NoteCode::pixel_size_overruled, {5, 0.5, 0.25}),
     "The table states pixels of 5 micrometres, the file 0.25 x 0.5: the table's size is taken."},
    {"polygons-from-scan", make_note(NoteCode::polygons_from_scan, {200, 100}),
     "The scan begins at x 100, y 200 of the slide's canvas, and QuPath counts from there: the "
     "polygons are moved by that."},
    {"polygons-from-canvas", make_note(NoteCode::polygons_from_canvas, {200, 100}),
     "The scan begins at x 100, y 200 of the slide's canvas, but the polygons reach out of a "
     "picture of its size: they are taken as counted from the canvas, and not moved."},
    {"mask-of-scan", make_note(NoteCode::mask_of_scan, {200, 100, 2}),
     "The mask's size is that of the scan divided by 2: it is placed where the scan begins on the "
     "slide's canvas, at x 100, y 200."},
    {"pixel-size-of-other", make_note(NoteCode::pixel_size_of_other, {1200, 1600}),
     "The file's description states a picture of 1600x1200 pixels, which this is not: its pixel size "
     "is not taken."}};

TEST(Note, EveryCodeHasItsNameAndSentence) {
  std::vector<std::string> names;
  for (const auto& [name, note, text] : kGolden) {
    names.push_back(name);
    EXPECT_EQ(headrace::name_of(note.code), name);
    EXPECT_EQ(text_of(note), text);
  }
  EXPECT_EQ(names, names_of<NoteCode>());
}

TEST(Note, ComesBackFromItsJson) {
  for (const auto& [name, note, text] : kGolden) {
    const Json json = to_json(note);
    EXPECT_EQ(json, (Json{{"code", name}, {"values", note.values}}));
    EXPECT_EQ(note_from_json(Json::parse(json.dump()), "here"), note);
  }
  EXPECT_EQ(to_json(std::vector<Note>()).dump(), "[]");
  EXPECT_EQ(to_json(std::vector<Note>{make_note(NoteCode::body_empty, {-300})}).dump(),
            R"([{"code":"body-empty","values":[-300.0]}])");
}

TEST(Note, OtherJsonIsRefused) {
  for (const char* text :
       {R"("slices of Jane")", "{}", "[]", "3", R"({"code": "jane", "values": []})",
        R"({"code": 3, "values": []})", R"({"code": "body-empty"})",
        R"({"code": "body-empty", "values": []})", R"({"code": "body-empty", "values": [1, 2]})",
        R"({"code": "body-empty", "values": ["Jane"]})",
        R"({"code": "body-empty", "values": -300})"}) {
    const std::string error =
        error_of(ErrorCode::malformed, [&] { note_from_json(Json::parse(text), "image a"); });
    EXPECT_EQ(error.find("image a: "), 0u) << text;
  }
}

TEST(Note, KeepsSixDecimalsAndNoNegativeZero) {
  const Note note = make_note(NoteCode::channel_partial, {-1e-9, 12.3456784});
  EXPECT_EQ(note.values[1], 12.345678);
  EXPECT_FALSE(std::signbit(note.values[0]));
}

TEST(Note, OfOtherCodesOrNumbersIsAnError) {
  error_of(ErrorCode::internal, [] { make_note(NoteCode::body_empty); });
  EXPECT_NE(error_of(ErrorCode::internal,
                     [] {
                       make_note(NoteCode::body_empty, {1, 2});
                     })
                .find("'body-empty' of 2 values, expected 1"),
            std::string::npos);
  const Note empty = make_note(NoteCode::body_empty, {-300});
  EXPECT_NE(error_of(ErrorCode::internal, [&] { fault_text(empty, [](double) { return "a"; }); })
                .find("'body-empty'"),
            std::string::npos);
}

}  // namespace
}  // namespace headrace::imaging
