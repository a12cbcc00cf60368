#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/plane_picture.hpp"
#include "learn/report/run_report.hpp"

namespace headrace::report {
namespace {

Plane grey_plane(std::int64_t height, std::int64_t width) {
  Plane plane;
  plane.height = height;
  plane.width = width;
  plane.values.assign(static_cast<std::size_t>(height * width), 0.5f);
  plane.truth.assign(plane.values.size(), 0);
  plane.predicted = plane.truth;
  return plane;
}

TEST(PlanePicture, HasThePatientsProportions) {
  Plane plane = grey_plane(10, 40);
  plane.row_mm = 5;
  plane.column_mm = 0.5;
  const pixels::Image8 out = plane_picture(plane, 200);  // 50 × 20 mm
  EXPECT_EQ(out.height, 200);
  EXPECT_EQ(out.width, 80);
}

TEST(PlanePicture, OutlinesWhatIsTrueAndTintsWhatWasSaid) {
  Plane plane = grey_plane(20, 20);
  for (std::int64_t y = 5; y < 15; ++y) {
    for (std::int64_t x = 5; x < 15; ++x) {
      plane.truth[static_cast<std::size_t>(y * 20 + x)] = 1;
      if (x >= 10) plane.predicted[static_cast<std::size_t>(y * 20 + x)] = 2;
    }
  }
  plane.truth[0] = plane.predicted[0] = 255;
  const pixels::Image8 out = plane_picture(plane, 20);
  const pixels::Rgb line = pixels::class_colour(1), tint = pixels::class_colour(2);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(out.row(5)[3 * 7 + c], line[c]);
    EXPECT_EQ(out.row(14)[3 * 12 + c], line[c]);
    EXPECT_EQ(out.row(9)[3 * 8 + c], 128);  // true, not said: left as it is
    EXPECT_NEAR(out.row(9)[3 * 11 + c], 127.5 * 0.6 + tint[c] * 0.4, 1);
    EXPECT_EQ(out.row(0)[c], 128);  // not annotated
    EXPECT_EQ(out.row(2)[3 * 2 + c], 128);
  }
}

TEST(VolumeReport, ShowsFrocIntervalsPhasesAndPlanes) {
  const auto run = std::filesystem::temp_directory_path() /
                   ("headrace-volume-report-" + std::to_string(getpid()));
  std::filesystem::remove_all(run);
  std::filesystem::create_directories(run / "montage");
  const auto put = [&](const char* name, const Json& value) {
    std::ofstream(run / name) << value.dump();
  };
  const Json classes = {"background", "lesion"};
  put("config.json", {{"task", "colorectal"},
                      {"data", {{"store", "ct.zarr"}, {"train", "train"}, {"val", "val"}}},
                      {"patch", {{"size", {32, 32, 32}}, {"spacing_mm", {5.0, 5.0, 5.0}}}},
                      {"model", {{"name", "unet3d"}, {"widths", {8, 16}}}},
                      {"train", {{"loss", {{"pixel", "cross_entropy"}, {"region", "dice"}}}}},
                      {"eval", {{"lesion_probability", 0.4}, {"surface_tolerance_mm", 2.5}}}});
  put("run.json", {{"config_hash", "c"},
                   {"dataset_hash", "d"},
                   {"code_version", "1"},
                   {"runtime", Json::object()},
                   {"decoder", "x"},
                   {"parameters", 1},
                   {"images", 3},
                   {"cohorts", {"a"}},
                   {"classes", classes}});
  imaging::write_png((run / "montage/p.png").string(), pixels::Image8(4, 4, 3));
  Json lesion = {
      {"lesions", 4},   {"calls", 7},
      {"hits", 3},      {"scans", 2},
      {"froc", 0.4567}, {"curve", {{0.0, 0.25, 0.9}, {0.5, 0.75, 0.6}, {12.0, 0.75, 0.5}}}};
  lesion["sensitivity"] = 0.75;
  lesion["precision"] = 0.4286;
  lesion["false_positives_per_scan"] = 2.0;
  lesion["case"] = {{"auc", 0.8125},
                    {"sensitivity", 1.0},
                    {"specificity", nullptr},
                    {"sensitivity_at_specificity", nullptr}};
  lesion["voxel"] = {{"auc", 0.9321},
                     {"ece", 0.0123},
                     {"brier", 0.0456},
                     {"count", 4000},
                     {"bins", {nullptr, {0.1, 0.2, 3000}, {0.9, 0.7, 1000}}}};
  const Json size = {{"lesions", 2}, {"hits", 1}, {"sensitivity", 0.5}, {"sensitivity_at_1", 1.0}};
  for (const char* range : {"below_6_mm", "6_to_10_mm", "10_to_20_mm", "from_20_mm"})
    lesion["by_size"][range] = size;
  const std::vector<std::pair<std::string, std::string>> sensitivities{
      {"0.125", "0.301"}, {"0.25", "0.302"}, {"0.5", "0.303"}, {"1", "0.304"},
      {"2", "0.305"},     {"4", "0.306"},    {"8", "0.307"}};
  for (const auto& [at, value] : sensitivities) lesion["sensitivity_at_" + at] = std::stod(value);
  const Json figures = {
      {"images", 3},
      {"cases", 2},
      {"voxels", 1234567},
      {"set_voxels", 0},
      {"mean_dice", 0.777},
      {"dice", {{"background", 0.99}, {"lesion", 0.777}}},
      {"pooled_dice", {{"background", 0.98}, {"lesion", 0.7}}},
      {"surface_dice", {{"lesion", 0.654}}},
      {"hd95", {{"lesion", nullptr}}},
      {"hd95_penalised", {{"lesion", 456.7}}},
      {"hd95_undefined", {{"lesion", 1}}},
      {"structures", {{"lesion", {{"found", 2}, {"missed", 1}, {"invented", 0}, {"absent", 0}}}}},
      {"calibration",
       {{"ece", 0.0789}, {"brier", 0.2345}, {"count", 5000}, {"bins", {{0.95, 0.85, 5000}}}}},
      {"matrix", {{10, 1}, {2, 30}}},
      {"lesion", lesion},
      {"interval_95", {{"mean_dice", {0.111, 0.888}}, {"lesion", {{"froc", {0.222, 0.666}}}}}}};
  put("eval.json",
      {{"classes", classes},
       {"labels", classes},
       {"lesion_classes", {"lesion"}},
       {"lesion_probability", 0.4},
       {"split", "val"},
       {"tiles", 9},
       {"overall", figures},
       {"cohorts", {{"a", figures}}},
       {"phases", {{"portal-venous", figures}}},
       {"baseline",
        {{"rule", {{"balls", {{"lesion", {{"volume_mm3", 9}}}}}}},
         {"overall", {{"mean_dice", 0.1234}, {"lesion", {{"froc", 0.0567}}}}}}},
       {"images",
        {{{"id", "ct-1"},
          {"case", "case-1"},
          {"cohort", "a"},
          {"phase", "portal-venous"},
          {"mean_dice", 0.5},
          {"dice", {{"background", 0.9}, {"lesion", 0.5}}},
          {"hd95", {{"lesion", 7.25}}},
          {"structure", {{"lesion", "found"}}},
          {"lesions", {{{"hit", true}}, {{"hit", false}}}},
          {"calls", {{{"hit", true}, {"score", 0.5}}, {{"hit", false}, {"score", 0.2}}}}},
         {{"id", "ct-2"},
          {"case", "case-2"},
          {"cohort", "a"},
          {"phase", "portal-venous"},
          {"mean_dice", 0.0},
          {"dice", {{"background", 0.9}, {"lesion", 0.0}}},
          {"hd95", {{"lesion", nullptr}}},
          {"structure", {{"lesion", "missed"}}},
          {"lesions", {{{"hit", false}}}},
          {"calls", Json::array()}}}},
       {"montage",
        {{{"image", "ct-1"},
          {"tile_zyx", {3, 4, 5}},
          {"axial", "montage/p.png"},
          {"coronal", "montage/p.png"},
          {"sagittal", "montage/p.png"}}}}});
  const std::string html = render_run(run);
  for (const char* text :
       {"FROC", "0.457", "0.222–0.666", "0.111–0.888", "portal-venous", "1 of 2", "coronal",
        "slice 3, row 4, column 5", "2.5 mm",
        // The sides of the three planes, in radiological convention.
        "<i class=\"left\">R</i><i class=\"right\">L</i><i class=\"top\">A</i><i "
        "class=\"bottom\">P</i></span>axial",
        "<i class=\"left\">R</i><i class=\"right\">L</i><i class=\"top\">H</i><i "
        "class=\"bottom\">F</i></span>coronal",
        "<i class=\"left\">A</i><i class=\"right\">P</i><i class=\"top\">H</i><i "
        "class=\"bottom\">F</i></span>sagittal",
        "at least 0.4", "0.654", "7.2", "456.7",
        "<td class=\"n\"><span class=\"off\">missed</span></td>", "0.0789", "0.0456", "0.932",
        "0.812", "below 6 mm", "Calibration", "0.123", "0.057", "a ball for each class", "<svg"}) {
    EXPECT_NE(html.find(text), std::string::npos) << "missing: " << text;
  }
  for (const auto& [at, value] : sensitivities) {
    const std::string row =
        "<td class=\"n\">" + at + "</td><td class=\"n\"><b>" + value + "</b></td>";
    EXPECT_NE(html.find(row), std::string::npos) << "missing: " << row;
  }
  EXPECT_EQ(html.find("http:"), std::string::npos);
  EXPECT_LT(html.find("below 6 mm"), html.find("6 to 10 mm"));
  EXPECT_LT(html.find("6 to 10 mm"), html.find("10 to 20 mm"));

  // A cohort without lesions has an undefined sensitivity, not one of 0: no curve, and nobody is worse.
  Json eval = parse_json(read_file(run / "eval.json"), "eval.json");
  const auto in_legend = [&](const std::string& page, const std::string& cohort) {
    return page.find("\"></i>" + cohort + "</span>") != std::string::npos;
  };
  for (const int lesions : {2, 0}) {
    Json& other = eval["cohorts"]["none"] = eval["cohorts"]["a"];
    other["lesion"]["lesions"] = lesions;
    other["lesion"]["curve"] = {{3.0, lesions > 0 ? 0.5 : 0.0, 0.6}};
    other["lesion"]["froc"] = lesions > 0 ? Json(0.1) : Json(nullptr);
    put("eval.json", eval);
    const std::string page = render_run(run);
    EXPECT_TRUE(in_legend(page, "a"));
    EXPECT_EQ(in_legend(page, "none"), lesions > 0);
    EXPECT_EQ(page.find("none<span class=\"mark\">worst") != std::string::npos, lesions > 0);
    EXPECT_EQ(page.find("Cohort a is the worst"), std::string::npos);
  }

  // Lesions are counted of some classes only: no zeros for the others.
  Json card = {{"kind", "volume"}, {"labels", "annotation"}, {"label_names", classes}};
  for (const int lesions : {3, 0}) {
    card["splits"]["val"] = {{"cohorts", Json::object()},
                             {"scanners", Json::object()},
                             {"pixels", {{"background", 70}, {"lesion", 12345}}},
                             {"lesions", {{"background", 0}, {"lesion", lesions}}}};
    put("data_card.json", card);
    const std::string page = render_run(run);
    const std::size_t table = page.find("Annotated lesions by class");
    EXPECT_EQ(table != std::string::npos, lesions > 0);
    EXPECT_NE(page.find("12&#8239;345"), std::string::npos);
    if (table == std::string::npos) continue;
    const std::string rows = page.substr(table, page.find("</table>", table) - table);
    EXPECT_NE(rows.find("<td class=\"n\">3</td>"), std::string::npos) << rows;
    EXPECT_EQ(rows.find("background</td>"), std::string::npos) << rows;
  }
  std::filesystem::remove_all(run);
}

}  // namespace
}  // namespace headrace::report
