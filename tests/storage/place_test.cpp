#include "headrace/storage/place.hpp"

#include <gtest/gtest.h>

#include "tests/core/error_of.hpp"

namespace headrace::storage {
namespace {

namespace fs = std::filesystem;

TEST(Place, APathIsWhatWasWritten) {
  for (const char* text : {"store.zarr", "./a/../b", "/data/a store", "~/x", "läsionen/胃.zarr",
                           "a//b/", "", "100%/x", "a#b?c=d", "dir/s3://b"}) {
    const Place place = Place::parse(text);
    EXPECT_FALSE(place.is_url()) << text;
    EXPECT_EQ(place.scheme(), "") << text;
    EXPECT_EQ(place.path().string(), text);
    EXPECT_EQ(place.describe(), text);
  }
}

TEST(Place, TextOfOtherSystemsIsAPlainName) {
  for (const char* text :
       {"C:\\data\\x", "C:/data/x", "C://data/x", "a:b", "a:/b", "host:/share/x", "s3:/b/x", "s3:b",
        "://x", "1s://x", "ä3://x", "s 3://x", "\\\\host\\x"}) {
    const Place place = Place::parse(text);
    EXPECT_FALSE(place.is_url()) << text;
    EXPECT_EQ(place.path().string(), text);
  }
}

TEST(Place, AUrlIsKeptAsItIs) {
  struct Case {
    const char *text, *scheme;
  };
  for (const auto& [text, scheme] : {Case{"s3://bucket/a b/läsionen", "s3"}, Case{"S3://b", "s3"},
                                     Case{"https://h:8042/x/../y//z?a=b#c", "https"},
                                     Case{"az+v2.x-y://c/", "az+v2.x-y"}, Case{"s3://", "s3"}}) {
    const Place place = Place::parse(text);
    EXPECT_TRUE(place.is_url()) << text;
    EXPECT_EQ(place.scheme(), scheme);
    EXPECT_EQ(place.describe(), text);
    EXPECT_EQ(place.absolute(), text);
    EXPECT_EQ(place, Place::parse(text));
    EXPECT_NE(error_of(ErrorCode::unsupported, [&] { place.path(); }).find(text),
              std::string::npos);
  }
}

TEST(Place, AFileUrlIsItsPath) {
  EXPECT_EQ(Place::parse("file:///x"), Place::parse("/x"));
  EXPECT_EQ(Place::parse("FILE:///a/b c"), Place::parse("/a/b c"));
  EXPECT_EQ(Place::parse("file://localhost/x"), Place::parse("/x"));
  EXPECT_EQ(Place::parse("file:///a%20b/l%C3%A4sion%2f1%25"), Place::parse("/a b/läsion/1%"));
  EXPECT_EQ(Place::parse("file:///x").describe(), "/x");
  for (const char* text : {"file://host/x", "file://x", "file://", "file:///a%2", "file:///a%zz",
                           "file:///a%00", "file:///a%+1", "file:///%"}) {
    EXPECT_NE(error_of(ErrorCode::usage, [&] { Place::parse(text); }).find(text),
              std::string::npos);
  }
  EXPECT_EQ(Place::parse("file:/x").path(), "file:/x");  // no "//": a name
}

TEST(Place, JoinWorksForBoth) {
  EXPECT_EQ(Place::parse("a").join("b/c"), Place::parse("a/b/c"));
  EXPECT_EQ(Place::parse("a/").join("b"), Place::parse("a/b"));
  EXPECT_EQ(Place().join("b"), Place::parse("b"));
  EXPECT_EQ(Place::parse("/a b").join("ä ö"), Place::parse("/a b/ä ö"));
  EXPECT_EQ(Place::parse("s3://b").join("x y"), Place::parse("s3://b/x y"));
  EXPECT_EQ(Place::parse("s3://b/").join("x/y"), Place::parse("s3://b/x/y"));
  EXPECT_EQ(Place::parse("s3://b/..").join("."), Place::parse("s3://b/../."));
  EXPECT_EQ(Place::parse("file:///a").join("b"), Place::parse("/a/b"));
  EXPECT_EQ(Place::parse("x").join("s3://b").path(), "x/s3://b");
  for (const char* text : {"a", "s3://b"})
    error_of(ErrorCode::usage, [&] { Place::parse(text).join("/x"); });
}

TEST(Place, OneFileHasOneAbsoluteName) {
  const std::string here = fs::current_path().string();
  for (const char* text : {"a/b", "a/b/", "./a/b", "a//b", "a/c/../b"})
    EXPECT_EQ(Place::parse(text).absolute(), here + "/a/b") << text;
  EXPECT_EQ(Place::parse("/a/").absolute(), "/a");
  EXPECT_EQ(Place::parse("/").absolute(), "/");
  EXPECT_EQ(Place::parse(".").absolute(), here);
  EXPECT_EQ(Place::parse("file:///a/../b/").absolute(), "/b");
}

}  // namespace
}  // namespace headrace::storage
