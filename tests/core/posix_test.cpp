#include "headrace/core/posix.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace headrace::posix {
namespace {

namespace fs = std::filesystem;

TEST(MakeFolders, EndsWhereAFolderAboveIsALinkToNothing) {
  std::string pattern = (fs::temp_directory_path() / "hr-posix-XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());
  fs::create_symlink(folder / "nowhere", folder / "link");
  EXPECT_EQ(make_folders((folder / "link/a/b").string()), ENOENT);
  EXPECT_EQ(make_folders("/proc/none/a"), ENOENT);
  EXPECT_EQ(make_folders((folder / "x/y/z").string()), 0);
  EXPECT_EQ(make_folders((folder / "x/y/z").string()), 0);
  EXPECT_TRUE(fs::is_directory(folder / "x/y/z"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace headrace::posix
