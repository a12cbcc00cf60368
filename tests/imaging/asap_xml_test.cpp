#include "headrace/imaging/slide/asap_xml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string annotation(const std::string& type, const std::string& group,
                       const std::vector<std::array<const char*, 3>>& places) {
  std::string text = R"(<Annotation Name="a" Type=")" + type + R"(" PartOfGroup=")" + group +
                     R"(" Color="#F4FA58"><Coordinates>)";
  for (const auto& [order, x, y] : places) {
    text +=
        std::string(R"(<Coordinate Order=")") + order + R"(" X=")" + x + R"(" Y=")" + y + R"("/>)";
  }
  return text + "</Coordinates></Annotation>";
}

std::string document(const std::string& annotations, const std::string& groups = "") {
  return R"(<?xml version="1.0"?><ASAP_Annotations><Annotations>)" + annotations +
         "</Annotations><AnnotationGroups>" + groups + "</AnnotationGroups></ASAP_Annotations>";
}

AnnotationFile parse(const std::string& text) {
  const TempFolder folder;
  return read_asap_xml(folder.write("a.xml", text));
}

TEST(AsapXml, PolygonsHaveTheirGroupsAndTheOrderOfTheirPlaces) {
  const auto found = parse(document(
      annotation("Polygon", "IDC", {{"1", "4", "0"}, {"0", "0.5", "0"}, {"2", "4,25", "4"}}) +
          annotation("Rectangle", "None",
                     {{"0", "0", "0"}, {"1", "2", "0"}, {"2", "2", "2"}, {"3", "0", "2"}}) +
          annotation("Dot", "IDC", {{"0", "1", "1"}}) +
          annotation("PointSet", "IDC", {{"0", "1", "1"}, {"1", "2", "2"}}) +
          annotation("Spline", "Tumor", {{"0", "1", "1"}, {"1", "2", "2"}}) +
          annotation("Polygon", "Tumor", {}),
      R"(<Group Name="IDC" PartOfGroup="Tumor"/><Group Name="Tumor" PartOfGroup="Lesion"/>)"
      R"(<Group Name="Lesion" PartOfGroup="None"/>)"));
  ASSERT_EQ(found.polygons.size(), 2u);
  EXPECT_EQ(found.polygons[0].class_name, "IDC");
  EXPECT_THAT(found.polygons[0].groups, ElementsAre("Tumor", "Lesion"));
  EXPECT_EQ(found.polygons[0].rings[0][0], (std::array<double, 2>{0.5, 0}));
  EXPECT_EQ(found.polygons[0].rings[0][2], (std::array<double, 2>{4.25, 4}));
  EXPECT_EQ(found.polygons[1].class_name, "");
  EXPECT_EQ(found.objects, 6u);
  EXPECT_EQ(found.points, 2u);
  EXPECT_EQ(found.degenerate_polygons, 1u);
  EXPECT_EQ(found.empty, 1u);
}

TEST(AsapXml, GroupsThatHoldEachOtherEnd) {
  const auto found = parse(
      document(annotation("Polygon", "a", {{"0", "0", "0"}, {"1", "4", "0"}, {"2", "4", "4"}}),
               R"(<Group Name="a" PartOfGroup="b"/><Group Name="b" PartOfGroup="a"/>)"));
  EXPECT_LE(found.polygons.at(0).groups.size(), 64u);
}

TEST(AsapXml, OtherXmlIsRefusedWithItsLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"<Annotations MicronsPerPixel=\"0.25\"/>", "its root is Annotations"},
      {"<ASAP_Annotations>\n<Annotations>", "line 2: not valid XML"},
      {"", "not valid XML"},
      {"<!DOCTYPE a [<!ENTITY b \"c\">]><ASAP_Annotations/>", "document type"},
      {document(annotation("Polygon", "a", {{"0", "nan", "1"}})), "not a place on a slide"},
      {document(annotation("Polygon", "a", {{"0", "x", "1"}})), "'x'"},
      {document(annotation("Blob", "a", {{"0", "1", "1"}})), "type 'Blob'"},
  };
  for (const auto& [text, expected] : cases) {
    const Error error = thrown_by([&, &text = text] { parse(text); });
    EXPECT_THAT(error.what(), HasSubstr(expected));
    EXPECT_THAT(error.what(), HasSubstr("a.xml"));
  }
  EXPECT_EQ(thrown_by([] { read_asap_xml("/nowhere/a.xml"); }).code(), ErrorCode::not_found);
}

}  // namespace
}  // namespace headrace::imaging
