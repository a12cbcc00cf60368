// The rules for pages, units and colours of a TIFF, on directories made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/imaging/tiff/ome_images.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/imaging/tiff/tiff_pixel_size.hpp"
#include "headrace/imaging/xml_tags.hpp"

namespace headrace::imaging {
namespace {

TEST(XmlTags, TakesEitherQuoteAnyOrderAndReferences) {
  XmlTags tags(
      "<?xml version='1.0'?><!-- <a b='1'/> --><ome:OME a = 'x>y' b=\"it's &lt;&#181;&#xB5;&amp;\">"
      "text<B/></ome:OME>");
  const auto ome = tags.next();
  ASSERT_TRUE(ome);
  EXPECT_EQ(ome->name, "OME");
  EXPECT_EQ(ome->attributes.at("a"), "x>y");
  EXPECT_EQ(ome->attributes.at("b"), "it's <\xC2\xB5\xC2\xB5&");
  EXPECT_EQ(ome->text, "text");
  const auto b = tags.next();
  ASSERT_TRUE(b);
  EXPECT_TRUE(b->alone);
  const auto end = tags.next();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->closing);
  EXPECT_EQ(end->name, "OME");
  EXPECT_FALSE(tags.next());
}

TEST(XmlTags, NeverReadBeyondTheirText) {
  for (const char* text :
       {"<", "<a", "<a b", "<a b=", "<a b='", "<a b='c'", "<!--", "<?", "<![CDATA[", "&",
        "<a b='&#'>", "<a b='&#x;'>", "<a b='&#99999999999;'>", "</", "<>"}) {
    XmlTags tags(text);
    while (tags.next()) {
    }
  }
}

TEST(OmeUnits, EveryLengthInMicrometres) {
  const struct {
    double value;
    const char* unit;
  } quarter[] = {{0.25, ""},
                 {0.25, "\xC2\xB5m"},
                 {0.25, "um"},
                 {250, "nm"},
                 {2.5e5, "pm"},
                 {2.5e8, "fm"},
                 {2500, "\xC3\x85"},
                 {2.5e-4, "mm"},
                 {2.5e-5, "cm"},
                 {2.5e-7, "m"},
                 {2.5e-10, "km"},
                 {0.25 / 25400, "in"},
                 {0.25 / 25.4, "thou"},
                 {0.25 * 72 / 25400, "pt"}};
  for (const auto& [value, unit] : quarter) {
    const auto found = ome_micrometres(value, unit);
    ASSERT_TRUE(found) << unit;
    EXPECT_NEAR(*found, 0.25, 1e-12) << unit;
  }
  EXPECT_EQ(ome_micrometres(250, "nm"), 0.25);
  EXPECT_FALSE(ome_micrometres(1, "pixel"));
  EXPECT_FALSE(ome_micrometres(1, "reference frame"));
}

TiffDirectory rgb() {
  TiffDirectory d;
  d.height = d.width = 100;
  d.samples = 3;
  d.bits = 8;
  d.photometric = 2;
  return d;
}

TEST(TiffPixelSize, ByTheDirectorysOwnUnit) {
  TiffDirectory d = rgb();
  const struct {
    std::uint16_t unit;
    float pixels;
  } quarter[] = {{2, 101600}, {3, 40000}, {4, 4000}, {5, 4}};
  for (const auto& [unit, pixels] : quarter) {
    d.resolution_unit = unit;
    d.x_resolution = d.y_resolution = pixels;
    const PixelSize size = tiff_pixel_size(d, {});
    ASSERT_TRUE(size.known()) << unit;
    EXPECT_EQ(*size.mpp_x, 0.25) << unit;
  }
  for (const std::uint16_t unit : {0, 1, 6, 99}) {
    d.resolution_unit = unit;
    EXPECT_FALSE(tiff_pixel_size(d, {}).known()) << unit;
  }
  d.resolution_unit = 3;
  d.x_resolution = 20000;
  d.y_resolution = 40000;
  EXPECT_EQ(*tiff_pixel_size(d, {}).mpp_x, 0.5);
  EXPECT_EQ(*tiff_pixel_size(d, {}).mpp_y, 0.25);
}

TEST(TiffColours, OneRuleWhateverTheLayoutAndCompression) {
  for (const std::uint16_t compression : {1, 5, 7, 8, 32773, 34712, 50000}) {
    for (const bool tiled : {false, true}) {
      for (const std::uint16_t planar : {1, 2}) {
        TiffDirectory d = rgb();
        d.compression = compression;
        d.planar = planar;
        d.tile_height = d.tile_width = tiled ? 64 : 0;
        EXPECT_FALSE(why_no_rgb(d));
        d.bits = 16;
        EXPECT_THAT(*why_no_rgb(d), testing::HasSubstr("16 bits a sample; images of 8 bits"));
        d.bits = 8;
        d.orientation = 6;
        EXPECT_THAT(*why_no_rgb(d), testing::HasSubstr("Orientation 6"));
        d.orientation = 1;
        d.sample_format = 3;
        EXPECT_THAT(*why_no_rgb(d), testing::HasSubstr("not unsigned integers"));
        d.sample_format = 1;
        d.samples = 4;
        EXPECT_EQ(samples_left_out(d), 1);
        d.extra_samples = {0};
        EXPECT_EQ(tiff_alpha(d), TiffAlpha::none);
        d.extra_samples = {1};
        EXPECT_EQ(tiff_alpha(d), TiffAlpha::multiplied);
        d.extra_samples = {2};
        EXPECT_EQ(tiff_alpha(d), TiffAlpha::separate);
        EXPECT_EQ(samples_left_out(d), 0);
        d.photometric = 1;
        EXPECT_THAT(*why_no_rgb(d), testing::HasSubstr("4 samples a pixel"));
      }
    }
  }
}

TEST(TiffDirectory, ABlockWithoutBytesOrPlaceIsMissing) {
  TiffDirectory d = rgb();
  d.tile_height = d.tile_width = 64;
  d.tile_offsets = {100, 0, 300, 0};
  d.tile_bytes = {10, 10, 0, 0};
  EXPECT_FALSE(d.is_missing(0));
  EXPECT_TRUE(d.is_missing(1));
  EXPECT_TRUE(d.is_missing(2));
  EXPECT_TRUE(d.is_missing(3));
  d.tile_height = d.tile_width = 0;
  d.strip_offsets = {8, 0};
  d.strip_bytes = {10, 10};
  EXPECT_FALSE(d.is_missing(0));
  EXPECT_TRUE(d.is_missing(1));
}

}  // namespace
}  // namespace headrace::imaging
