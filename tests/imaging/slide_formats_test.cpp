#include "headrace/imaging/slide/slide_formats.hpp"

#include <gtest/gtest.h>

#include <set>

#include "headrace/imaging/source_stamp.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using Names = std::vector<std::string>;

Names beside(const TempFolder& folder, const std::string& name) {
  Names names;
  for (const std::string& path : files_beside(folder / name))
    names.push_back(std::filesystem::relative(path, folder / ".").generic_string());
  return names;
}

TEST(SlideFormats, EachEndingIsThereOnceInSmallLetters) {
  std::set<std::string_view> endings;
  for (const SlideFormat& format : slide_formats()) {
    EXPECT_EQ(format.detect == nullptr, format.open == nullptr) << format.name;
    EXPECT_TRUE(format.in_folders || format.open != nullptr) << format.name;
    for (const std::string_view ending : format.endings) {
      EXPECT_TRUE(endings.insert(ending).second) << ending;
      EXPECT_EQ(slide_format_of("a/b.x" + std::string(ending)), &format);
    }
  }
  EXPECT_EQ(slide_format_of("CASE.SVS"), slide_format_of("case.svs"));
  EXPECT_EQ(slide_format_of("case.nii"), nullptr);
  EXPECT_EQ(slide_format_of("svs"), nullptr);
}

TEST(SlideFormats, KnowWhatASlideKeepsBesideItsFile) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "m");
  std::filesystem::create_directories(folder / "m2");
  for (const char* name : {"m.mrxs", "m/Data1.dat", "m/Data0.dat", "m2/Data0.dat", "v(1,0).jpg",
                           "v_map2.jpg", "v_mask.png", "v1.jpg", "lone.mrxs", "s.svs"})
    folder.write(name, "1");
  folder.write("v.vms",
               "[Virtual Microscope Specimen]\r\nNoLayers=1\r\nImageFile=v(1,0).jpg\r\n"
               "MapFile=v_map2.jpg\r\nMacroImage=v_macro.jpg\r\nOther=../s.svs\r\nSelf=v.vms\r\n");
  EXPECT_EQ(beside(folder, "m.mrxs"), (Names{"m/Data0.dat", "m/Data1.dat"}));
  EXPECT_EQ(beside(folder, "v.vms"), (Names{"v(1,0).jpg", "v_map2.jpg"}));
  EXPECT_EQ(beside(folder, "lone.mrxs"), Names{});
  EXPECT_EQ(beside(folder, "s.svs"), Names{});
  EXPECT_TRUE(is_folder_of_slide(folder / "m"));
  EXPECT_FALSE(is_folder_of_slide(folder / "m2"));
}

TEST(SourceStamp, ChangesWithTheFilesBeside) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "m");
  for (const char* name : {"m.mrxs", "m/Data0.dat", "v_map2.jpg"}) folder.write(name, "1");
  folder.write("v.vms", "MapFile=v_map2.jpg\n");
  for (const auto& [slide, part] : {std::pair{"m.mrxs", "m/Data0.dat"}, {"v.vms", "v_map2.jpg"}}) {
    const SourceStamp before = stamp_source(folder / slide);
    folder.write(part, "12");
    const SourceStamp after = stamp_source(folder / slide);
    EXPECT_EQ(after.size_bytes, before.size_bytes + 1);
    EXPECT_NE(after.sha256, before.sha256);
  }
}

}  // namespace
}  // namespace headrace::imaging
