// What may stand in a store of volumes: names, notes, keys, and names of objects.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/imaging/note.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/names/identifying_text.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/ingest/phi/phi_rules.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"

namespace headrace::ingest {
namespace {

TEST(IdentifyingText, FindsDatesInEveryUsualForm) {
  for (const char* text :
       {"20190304", "CT20190304", "20190304T1200", "20190304123000", "201903041230", "2019-03-04",
        "seen 2019/3/4", "2019.03.04", "2019_03_04", "04.03.2019", "4/3/2019", "03-31-1999",
        "31 12 2099", "x_1900_01_01_y"}) {
    EXPECT_EQ(why_identifying(text), "a date") << text;
  }
}

TEST(IdentifyingText, FindsUidsAndNames) {
  EXPECT_EQ(why_identifying("1.2.840.10008"), "a DICOM UID");
  EXPECT_EQ(why_identifying("series 1.3.6.1 of"), "a DICOM UID");
  EXPECT_EQ(why_identifying("Doe^Jane"), "a person's name");
}

TEST(IdentifyingText, LeavesPseudonymsAndNumbersAlone) {
  for (const char* text :
       {"", "colon_001", "case_00042", "s0011", "12345678", "19991301", "20190232999", "0.5.0",
        "1.25.3", "3.270 to 6.540 mm", "-1024", "18000101", "2019-13-40", "40.03.2019", "9-9-99",
        "first between slice 3 at 12.50 mm and slice 4 at 19.04 mm"}) {
    EXPECT_EQ(why_identifying(text), std::nullopt) << text;
  }
}

TEST(StoreNames, KnowsPseudonyms) {
  EXPECT_TRUE(is_pseudonym_id("0123456789ab-0123cdef"));
  EXPECT_TRUE(is_pseudonym_id("0123456789ab-20190304"));  // a hash may look like a date
  EXPECT_TRUE(is_pseudonym_id("0123456789ab-0123cdef-2"));
  for (const char* text :
       {"0123456789ab", "0123456789AB-0123cdef", "0123456789ab_0123cdef", "0123456789ab-0123cdef-",
        "0123456789ab-0123cdef-x", "", "0123456789ab-0123cdef-20190304"}) {
    EXPECT_FALSE(is_pseudonym_id(text)) << text;
  }
}

TEST(StoreNames, RefusesWhatMayIdentifyOrIsNoName) {
  EXPECT_FALSE(why_no_name("colon_001", false));
  EXPECT_FALSE(why_no_name("Site A", true));
  EXPECT_TRUE(why_no_name("Site A", false));
  EXPECT_TRUE(why_no_name("", true));
  EXPECT_TRUE(why_no_name(".hidden", true));
  EXPECT_TRUE(why_no_name("a/b", true));
  EXPECT_TRUE(why_no_name("ct-2019-03-04", false));
  EXPECT_TRUE(why_no_name("M\xC3\xBCller", true));
  EXPECT_TRUE(why_no_name(std::string(129, 'a'), false));
}

/// What is said of a file that is named by a UID.
std::string refusal_of_uid_name(bool names_by_files) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "headrace-refusal-of-uid-name";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "1.3.6.1.4.1.9328.50.4.0001.nii.gz").string();
  std::ofstream(file) << "names are looked at before the content";
  VolumeIngestOptions options;
  options.inputs = {file};
  options.out = (folder / "store.zarr").string();
  options.without_labels = true;
  options.names_by_files = names_by_files;
  std::string said;
  try {
    BadInputs bad(OnError::stop);
    (void)find_volume_inputs(options, bad);
    bad.check(0);
  } catch (const Error& error) {
    said = error.what();
  }
  std::filesystem::remove_all(folder);
  return said;
}

TEST(StoreNames, RefusalsNameOnlyOptionsThatTheCallerHas) {
  const std::string of_ingest = refusal_of_uid_name(false);
  EXPECT_NE(of_ingest.find("a DICOM UID"), std::string::npos) << of_ingest;
  EXPECT_NE(of_ingest.find("number the images"), std::string::npos) << of_ingest;
  const std::string of_predict = refusal_of_uid_name(true);
  EXPECT_NE(of_predict.find("a DICOM UID"), std::string::npos) << of_predict;
  EXPECT_NE(of_predict.find("rename the file"), std::string::npos) << of_predict;
  EXPECT_EQ(of_predict.find("number"), std::string::npos) << of_predict;
  EXPECT_EQ(of_predict.find("table"), std::string::npos) << of_predict;
}

TEST(PhiRules, KnowTheirPathsAndNoOthers) {
  EXPECT_EQ(phi_kind({"images", "*", "columns", "case"}), PhiKind::name);
  EXPECT_EQ(phi_kind({"codecs", "*", "configuration", "codecs", "*", "configuration", "cname"}),
            PhiKind::word);
  EXPECT_EQ(phi_kind({"codecs", "*", "configuration", "index_codecs", "*", "name"}), PhiKind::word);
  EXPECT_FALSE(phi_kind({"attributes", "headrace", "PatientID"}));
  EXPECT_FALSE(phi_kind({"case"}));
  EXPECT_FALSE(phi_kind({"attributes", "headrace", "cas"}));
  EXPECT_FALSE(phi_leads_on({"attributes", "head"}));
  EXPECT_TRUE(phi_leads_on({"attributes", "headrace"}));
}

TEST(PhiRules, ValuesMustBeOfTheirKindAndAreNotRepeated) {
  const std::set<std::string> classes{"background", "lesion"};
  EXPECT_FALSE(phi_problem(PhiKind::word, "train", classes));
  EXPECT_FALSE(phi_problem(PhiKind::class_name, "lesion", classes));
  EXPECT_FALSE(phi_problem(PhiKind::number, 1.5, classes));
  EXPECT_TRUE(phi_problem(PhiKind::class_name, 5, classes));
  EXPECT_TRUE(phi_problem(PhiKind::number, "12345", classes));
  EXPECT_TRUE(phi_problem(PhiKind::hash, std::string(63, 'a'), classes));
  EXPECT_TRUE(phi_problem(PhiKind::name, Json{{"a", 1}}, classes));
  EXPECT_FALSE(phi_problem(PhiKind::note_code, "body-empty", classes));
  EXPECT_TRUE(phi_problem(PhiKind::word, "body-empty", classes));
  for (const auto kind : {PhiKind::number, PhiKind::word, PhiKind::note_code, PhiKind::hash,
                          PhiKind::name, PhiKind::class_name}) {
    const auto problem = phi_problem(kind, "Doe^Jane", classes);
    ASSERT_TRUE(problem);
    EXPECT_EQ(problem->find("Doe"), std::string::npos) << *problem;
  }
}

/// Whether the rules take a note that a store holds.
bool note_passes(const Json& note) {
  for (const auto& [key, item] : note.items()) {
    std::vector<std::string> path{"attributes", "headrace", "notes", "*", key};
    if (item.is_array()) path.emplace_back("*");
    const auto kind = phi_kind(path);
    if (!kind) return false;
    for (const Json& value : item.is_array() ? item : Json::array({item})) {
      if (phi_problem(*kind, value, {})) return false;
    }
  }
  return true;
}

TEST(PhiRules, TakeNotesOfEveryCodeAndNoTextInThem) {
  for (const auto& [code, name] : kNamesOf<imaging::NoteCode>) {
    Json note =
        to_json(imaging::make_note(code, std::vector<double>(imaging::value_count(code), -12.25)));
    EXPECT_TRUE(note_passes(note)) << name;
    note["values"].push_back("slice of Jane");
    EXPECT_FALSE(note_passes(note)) << name;
  }
  EXPECT_FALSE(note_passes({{"code", "jane"}, {"values", Json::array()}}));
  EXPECT_FALSE(note_passes({{"code", "1 slices doubled"}, {"values", Json::array()}}));
  EXPECT_FALSE(note_passes({{"code", "body-empty"}, {"text", "Jane"}}));
  EXPECT_FALSE(phi_kind({"attributes", "headrace", "notes", "*"}));
}

TEST(PhiRules, KnowTheNamesOfObjects) {
  for (const char* key :
       {"zarr.json",
        "manifest.json",
        "images/zarr.json",
        "images/a/zarr.json",
        "images/a/0/zarr.json",
        "images/a/0/c/0/1/2",
        "images/a/labels/zarr.json",
        "images/a/labels/annotation-0123456789ab/zarr.json",
        "images/a/labels/reader-2-0123456789ab/2/c/0/0/0",
        "images/a/masks/zarr.json",
        "images/a/masks/body/zarr.json",
        "images/a/masks/body/c/0/0/0",
        "index/a/zarr.json",
        "index/a/c/0/0",
        "histograms/a/c/0/0",
        "images/a/labels/annotation-0123456789ab/index/c/0/0",
        "images/a/labels/annotation-0123456789ab/lesions/zarr.json",
        "manifests/a/pixels.json",
        "manifests/a/annotation-0123456789ab.json",
        "sources/a.json",
        "versions/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.json"}) {
    EXPECT_TRUE(phi_known_object(key)) << key;
  }
  for (const char* key : {"",
                          "a",
                          "images",
                          "images/a",
                          "images/a/0",
                          "images/a/x/zarr.json",
                          "images/a/0/d/0",
                          "images/a/0/c/x",
                          "images/Doe^Jane/zarr.json",
                          "images/20190304/zarr.json",
                          "images/a/labels/jane/0/zarr.json",
                          "images/a/masks/table/zarr.json",
                          "images/a/0/zarr.json/x",
                          "index/a/c/2019030401",
                          "thumbnail.png",
                          "images/a/header.txt",
                          "patients/a/zarr.json",
                          "lesions/a/zarr.json",
                          "images/a/labels/annotation-0123456789ab/table/zarr.json",
                          "images/a/labels/annotation/zarr.json",
                          "images/a/labels/Doe^Jane-0123456789ab/zarr.json",
                          "manifests/a/Doe.json",
                          "versions/round-2.json",
                          "sources/20190304.json"}) {
    EXPECT_FALSE(phi_known_object(key)) << key;
  }
}

}  // namespace
}  // namespace headrace::ingest
