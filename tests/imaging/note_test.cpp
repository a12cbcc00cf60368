// Notes of volumes: the sentence of every code, and what stores hold of it.
#include "headrace/imaging/volume/note.hpp"

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
     "The NIfTI header's sform and qform disagree; the qform is taken, as ITK does."},
    {"slices-missing", make_note(NoteCode::slices_missing, {2, 10, 3, -12.5, 4, -2.69, 3.27}),
     "2 of 10 slices missing (first between slice 3 at -12.50 mm and slice 4 at -2.69 mm along "
     "the normal), where neighbours are 3.270 mm apart: resampled to 3.27 mm."},
    {"slices-doubled", make_note(NoteCode::slices_doubled, {1, 3, 4, 7.125, 2.5}),
     "1 slices doubled (first slice 3 and slice 4, both at 7.12 mm along the normal): resampled "
     "to 2.5 mm."},
    {"slices-uneven", make_note(NoteCode::slices_uneven, {1.9, 4.37, 5, 6, 3.27}),
     "unevenly spaced slices (1.900 to 4.370 mm, median 3.270 mm, first between slice 5 and slice "
     "6): resampled to 3.27 mm."},
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
     "Channel 2 shows 71.3 % of the body; its statistics are of that part."}};

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
