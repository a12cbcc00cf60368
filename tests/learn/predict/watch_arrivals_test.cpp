#include <gtest/gtest.h>

#include <algorithm>

#include "learn/predict/watch/arrivals.hpp"
#include "learn/predict/watch/settling.hpp"

namespace headrace::predict {
namespace {

using Names = std::vector<std::string>;

ListedFile file(const std::string& path, std::uint64_t size = 1) { return {path, size, 5}; }

std::vector<ListedFile> files(Names paths) {
  std::sort(paths.begin(), paths.end());
  std::vector<ListedFile> out;
  for (const std::string& path : paths) out.push_back(file(path));
  return out;
}

ArrivalRules rules(Names images, std::size_t channels = 1) {
  ArrivalRules out;
  out.channels = channels;
  out.is_image = [images](const ListedFile& f) {
    return std::any_of(images.begin(), images.end(),
                       [&](const std::string& ending) { return f.path.ends_with(ending); });
  };
  out.is_dicom = [](const ListedFile& f) { return f.path.ends_with(".dcm"); };
  return out;
}

Names names(const std::vector<Arrival>& arrivals) {
  Names out;
  for (const Arrival& one : arrivals) out.push_back(one.name);
  return out;
}

Names paths(const Arrival& arrival) {
  Names out;
  for (const ListedFile& one : arrival.files) out.push_back(one.path);
  return out;
}

TEST(Arrivals, AFileIsAnInputAndOthersAreNone) {
  const auto found = arrivals_in(files({"a.svs", "x/b.svs", "x/notes.txt", "c.svs.part", "d.tmp"}),
                                 rules({".svs"}));
  EXPECT_EQ(names(found), (Names{"a.svs", "x/b.svs"}));
  EXPECT_EQ(found[1].inputs, Names{"x/b.svs"});
  EXPECT_TRUE(found[1].waits_for.empty());
}

TEST(Arrivals, AFileWaitsForItsUnfinishedTwin) {
  const auto found = arrivals_in(files({"a.svs", "a.svs.crdownload", "b.svs"}), rules({".svs"}));
  ASSERT_EQ(names(found), (Names{"a.svs", "b.svs"}));
  EXPECT_EQ(found[0].waits_for, "a.svs.crdownload");
  EXPECT_EQ(paths(found[0]), (Names{"a.svs", "a.svs.crdownload"}));  // it is seen to grow
  EXPECT_TRUE(found[1].waits_for.empty());
}

TEST(Arrivals, MiraxHasItsFolderAndVmsItsNeighbours) {
  const auto found = arrivals_in(files({"s.mrxs", "s/Data0.dat", "s/Index.dat.part", "s2/Data0.dat",
                                        "v.vms", "v(1,0).jpg", "v_map2.jpg", "w.jpg", "x/v.jpg"}),
                                 rules({".mrxs", ".vms", ".jpg"}));
  ASSERT_EQ(names(found), (Names{"s.mrxs", "v.vms", "w.jpg", "x/v.jpg"}));
  EXPECT_EQ(paths(found[0]), (Names{"s.mrxs", "s/Data0.dat", "s/Index.dat.part"}));
  EXPECT_EQ(found[0].waits_for, "s/Index.dat.part");
  EXPECT_EQ(found[1].inputs, Names{"v.vms"});
  EXPECT_EQ(found[1].files.size(), 3u);
}

TEST(Arrivals, AHeaderHasItsDataButNotOtherVolumes) {
  const auto found =
      arrivals_in(files({"a.mhd", "a.zraw", "a.nii", "ab.raw"}), rules({".mhd", ".nii"}));
  ASSERT_EQ(names(found), (Names{"a.mhd", "a.nii"}));
  EXPECT_EQ(paths(found[0]), (Names{"a.mhd", "a.zraw"}));
}

TEST(Arrivals, TheTopmostFolderWithDicomIsOneInput) {
  const auto tree = files({"p/st/ct/1.dcm", "p/st/ct/2.dcm", "p/st/ct/sub/3.dcm",
                           "p/st/ct/scan.nii", "p/st/pet/1.dcm", "p/st/DICOMDIR", "p/scan.nii"});
  const auto one = arrivals_in(tree, rules({".nii"}));
  ASSERT_EQ(names(one), (Names{"p/scan.nii", "p/st/ct", "p/st/pet"}));
  EXPECT_EQ(paths(one[1]),
            (Names{"p/st/ct/1.dcm", "p/st/ct/2.dcm", "p/st/ct/scan.nii", "p/st/ct/sub/3.dcm"}));
  // The series of a study stay together where a run reads several channels.
  const auto joined = arrivals_in(tree, rules({".nii"}, 2));
  ASSERT_EQ(names(joined), (Names{"p/scan.nii", "p/st"}));
  EXPECT_EQ(joined[1].inputs, Names{"p/st"});
  EXPECT_EQ(joined[1].files.size(), 6u);
  // But not all that lies in the watched folder.
  EXPECT_EQ(names(arrivals_in(files({"a/1.dcm", "b/1.dcm"}), rules({}, 2))), (Names{"a", "b"}));
}

TEST(Arrivals, DicomWithoutAFolderIsToldApart) {
  const auto found = arrivals_in(files({"1.dcm", "2.dcm", "a/1.dcm"}), rules({".dcm"}));
  ASSERT_EQ(names(found), (Names{"1.dcm", "a"}));
  EXPECT_TRUE(found[0].without_folder);
  EXPECT_EQ(found[0].files.size(), 2u);
  EXPECT_FALSE(found[1].without_folder);
}

TEST(Arrivals, NumberedChannelsAreOneInput) {
  const auto tree =
      files({"x/a_0000.nii.gz", "x/a_0001.nii.gz", "y/a_0001.nii.gz", "b_0002.nii.gz"});
  const auto found = arrivals_in(tree, rules({".nii.gz"}, 2));
  ASSERT_EQ(names(found), (Names{"b_0002.nii.gz", "x/a", "y/a"}));
  EXPECT_EQ(found[1].inputs, (Names{"x/a_0000.nii.gz", "x/a_0001.nii.gz"}));
  EXPECT_EQ(arrivals_in(tree, rules({".nii.gz"})).size(), 4u);
}

class SettlingTest : public testing::Test {
 protected:
  /// Another look, at one slide of this size.
  bool due(std::uint64_t size, double now_s, const std::string& waits_for = "") {
    arrival.name = "a";
    arrival.files = {file("a", size)};
    arrival.waits_for = waits_for;
    settling.look({arrival}, now_s);
    return settling.due(arrival);
  }

  Settling settling{10};
  Arrival arrival;
};

TEST_F(SettlingTest, WholeAfterTwoEqualLooksFarEnoughApart) {
  EXPECT_FALSE(due(1, 100));
  EXPECT_TRUE(settling.news());
  EXPECT_TRUE(settling.pending());
  EXPECT_FALSE(due(1, 109));
  EXPECT_FALSE(settling.news());
  EXPECT_FALSE(due(2, 110));  // it grew
  EXPECT_FALSE(due(2, 119));
  EXPECT_TRUE(due(2, 120));
  settling.take(arrival);
  EXPECT_FALSE(due(2, 200));
  EXPECT_FALSE(settling.pending());
  EXPECT_FALSE(due(3, 201));
  EXPECT_TRUE(due(3, 211));  // it changed after it was taken
}

TEST_F(SettlingTest, OneLookIsNeverEnough) {
  Settling eager(0);
  arrival.name = "a";
  arrival.files = {file("a")};
  eager.look({arrival}, 5);
  EXPECT_FALSE(eager.due(arrival));
  eager.look({arrival}, 5);
  EXPECT_TRUE(eager.due(arrival));
}

TEST_F(SettlingTest, WhatWaitsForAnotherFileIsToldOnce) {
  due(1, 0, "a.part");
  EXPECT_FALSE(settling.stuck(arrival));
  EXPECT_FALSE(due(1, 20, "a.part"));
  EXPECT_FALSE(settling.pending());
  EXPECT_TRUE(settling.stuck(arrival));
  EXPECT_FALSE(settling.stuck(arrival));
  EXPECT_FALSE(due(1, 21));  // the other file is gone: the time begins anew
  EXPECT_TRUE(due(1, 31));
}

TEST_F(SettlingTest, WhatIsGoneIsForgotten) {
  due(1, 0);
  settling.look({}, 1);
  EXPECT_FALSE(settling.pending());
  EXPECT_FALSE(due(1, 30));
  EXPECT_TRUE(settling.news());
}

TEST(PartialName, ByItsEndingInAnyCase) {
  for (const char* name : {"a.part", "a.svs.PART", "x/a.filepart", "a.crdownload", "a.tmp"})
    EXPECT_TRUE(is_partial_name(name)) << name;
  for (const char* name : {"part", "a.part.svs", "a.svs", "tmp/a.svs"})
    EXPECT_FALSE(is_partial_name(name)) << name;
}

}  // namespace
}  // namespace headrace::predict
