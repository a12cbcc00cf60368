#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/core/error.hpp"
#include "learn/predict/file_listing.hpp"
#include "learn/predict/output_folder.hpp"

namespace headrace::predict {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            ("output_folder_" +
             std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "in/sub");
    write("in/slide", "pixels");
    write("in/sub/other", "more");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
  }
  std::string in(const std::string& name) const { return (root_ / "in" / name).string(); }
  OutputFolder open() const { return {(root_ / "out").string(), {{"format", 1}}}; }
  void make_result(const std::string& id) const { fs::create_directories(root_ / "out" / id); }

  fs::path root_;
};

TEST_F(OutputFolderTest, KnowsAFileUntilItChanges) {
  const std::vector<std::string> inputs{in("slide")};
  {
    OutputFolder out = open();
    EXPECT_FALSE(out.finished(inputs));
    out.mark_finished(inputs, OutputFolder::stamps_of(inputs), {"slide"});
    EXPECT_FALSE(out.finished(inputs));  // the result is not there
    make_result("slide");
  }
  const OutputFolder out = open();  // as in the next call
  ASSERT_TRUE(out.finished(inputs));
  EXPECT_EQ(*out.finished(inputs), std::vector<std::string>{"slide"});
  write("in/slide", "others");
  EXPECT_THROW((void)out.finished(inputs), Error);
  EXPECT_EQ(out.images_of(inputs), std::vector<std::string>{"slide"});
}

TEST_F(OutputFolderTest, WhatAKillLeftBeforeTheFirstFileIsRemoved) {
  fs::create_directories(root_ / "out");
  write("out/.tmp-1-0", "half");
  const OutputFolder out = open();
  EXPECT_FALSE(fs::exists(root_ / "out/.tmp-1-0"));
  EXPECT_TRUE(fs::exists(root_ / "out/predict.json"));
}

TEST_F(OutputFolderTest, AFolderThatChangedIsNotKnown) {
  const std::vector<std::string> inputs{(root_ / "in").string()};
  OutputFolder out = open();
  make_result("slide");
  out.mark_finished(inputs, OutputFolder::stamps_of(inputs), {"slide"});
  EXPECT_TRUE(out.finished(inputs));
  write("in/sub/.hidden", "not counted");
  EXPECT_TRUE(out.finished(inputs));
  write("in/sub/third", "");
  EXPECT_FALSE(out.finished(inputs));
}

TEST_F(OutputFolderTest, RemembersContents) {
  open().remember({{"a", "1"}, {"b", "2"}});
  OutputFolder out = open();
  EXPECT_EQ(out.content_of("a"), "1");
  EXPECT_EQ(out.content_of("c"), "");
  out.remember({{"a", "3"}});
  EXPECT_EQ(out.content_of("a"), "3");
  EXPECT_EQ(out.content_of("b"), "2");
}

TEST_F(OutputFolderTest, AnUnreadableRecordIsAnErrorThatNamesIt) {
  { open().remember({{"a", "1"}}); }
  write("out/.inputs.json", "{");
  try {
    open();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(".inputs.json"), std::string::npos);
  }
}

TEST_F(OutputFolderTest, AListingSeesNamesSizesAndTimes) {
  const std::string folder = (root_ / "in").string();
  const auto files = list_files(folder);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "slide");
  EXPECT_EQ(files[0].size_bytes, 6u);
  EXPECT_EQ(files[1].path, "sub/other");
  const std::string before = listing_hash(files);
  EXPECT_EQ(listing_hash(list_files(folder)), before);
  fs::last_write_time(in("slide"), fs::last_write_time(in("slide")) + std::chrono::seconds(1));
  const std::string touched = listing_hash(list_files(folder));
  EXPECT_NE(touched, before);
  fs::rename(in("slide"), in("slides"));
  EXPECT_NE(listing_hash(list_files(folder)), touched);
  EXPECT_THROW(list_files(folder + "/no"), Error);
}

}  // namespace
}  // namespace headrace::predict
