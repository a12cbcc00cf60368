#include "headrace/core/folder_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

struct FolderWalk : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / "folder_walk";

  FolderWalk() {
    fs::remove_all(root);
    for (const char* file : {"in/a", "in/sub/b", "other/c", "in/.hidden/d"}) {
      fs::create_directories((root / file).parent_path());
      std::ofstream(root / file) << file;
    }
    fs::create_directory_symlink(root / "other", root / "in/linked");
    fs::create_directory_symlink(root / "in", root / "in/sub/loop");
    fs::create_directory_symlink(root / "in/sub", root / "in/again");
    fs::create_symlink(root / "nowhere", root / "in/dangling");
  }

  std::vector<std::string> walked(const std::function<bool(const fs::path&)>& enter = {}) const {
    std::vector<std::string> names;
    walk_folder(
        root / "in",
        [&](const fs::directory_entry& entry) {
          names.push_back(entry.path().lexically_relative(root / "in").string());
        },
        enter);
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(FolderWalk, FollowsLinksAndEntersEachFolderOnceByItsOwnName) {
  EXPECT_THAT(walked(), testing::ElementsAre(".hidden/d", "a", "dangling", "linked/c", "sub/b"));
}

TEST_F(FolderWalk, LeavesOutWhatIsNotToBeEntered) {
  const auto shown = [](const fs::path& folder) {
    return !folder.filename().string().starts_with(".");
  };
  EXPECT_THAT(walked(shown), testing::ElementsAre("a", "dangling", "linked/c", "sub/b"));
}

TEST_F(FolderWalk, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(walk_folder(root / "gone", [](const auto&) {}), Error);
}

}  // namespace
}  // namespace headrace
