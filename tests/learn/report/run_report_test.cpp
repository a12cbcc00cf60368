#include "learn/report/run_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/picture/image_file.hpp"

namespace headrace::report {
namespace {

/// A run folder as training leaves it, by hand.
class RunReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = std::filesystem::temp_directory_path() /
           ("headrace-report-" + std::to_string(getpid()) + "-" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(run_);
    std::filesystem::create_directories(run_ / "montage");
    put("config.json",
        {{"task", "gleason"},
         {"data", {{"store", "/home/someone/phantoms.zarr"}, {"train", "train"}, {"val", "val"}}},
         {"patch", {{"size", {64, 64}}, {"mpp", 4.0}}},
         {"model", {{"name", "unet2d"}, {"widths", {8, 16}}}},
         {"train", {{"loss", {{"pixel", "cross_entropy"}, {"region", "dice"}}}}},
         {"eval", {{"min_cancer", 0.02}, {"min_area", 0.05}}}});
    put("run.json", {{"config_hash", "c0ffee"},
                     {"dataset_hash", "da7a5e7"},
                     {"code_version", "1.2.3"},
                     {"runtime", {{"threads", 2}}},
                     {"decoder", "libjpeg-turbo 2.1.5"},
                     {"parameters", 12345},
                     {"images", 3},
                     {"cohorts", {"phantom"}},
                     {"classes", kClasses}});
  }
  void TearDown() override { std::filesystem::remove_all(run_); }

  void put(const std::string& name, const Json& value) {
    std::ofstream(run_ / name) << value.dump();
  }
  void finish() {
    std::ofstream(run_ / "metrics.jsonl")
        << R"({"step":5,"loss":1.5,"cross_entropy":1.0,"learning_rate":0.004})"
        << "\n"
        << R"({"step":10,"loss":0.75,"cross_entropy":0.5})"
        << "\n"
        << R"({"step":10,"validation":{"mean_dice":0.6,"dice":{"background":0.9,"pattern3":0.6},"kappa":0.5}})"
        << "\n";
    imaging::write_png((run_ / "montage/p.png").string(), pixels::Image8(4, 4, 3));
    const Json graded = {{"kappa", 0.4321}, {"accuracy", 0.75}, {"matrix", Json::array()}};
    const Json found = {{"matched", 3}, {"missed", 4},  {"invented", 5},
                        {"f1", 0.4},    {"sq", 0.7171}, {"pq", 0.2868}};
    const Json detected = {
        {"positives", 2}, {"negatives", 1}, {"auc", 0.8181}, {"sensitivity", 0.5151}};
    Json figures = {
        {"mean_dice", 0.6543},
        {"pixels", 1000},
        {"set_pixels", 1234},
        {"images", 1},
        {"tumour",
         {{"dice", 0.7272},
          {"iou", 0.5714},
          {"auc", 0.9191},
          {"pixels", 2234},
          {"positives", 734},
          {"classes", {"pattern3"}},
          {"objects", found}}},
        {"objects", {{"pattern3", found}}},
        {"detection", {{"specificity", 0.9}, {"slides", detected}, {"cases", detected}}},
        {"calibration",
         {{"ece", 0.0321}, {"brier", 0.1234}, {"count", 2234}, {"bins", Json::array()}}},
        {"interval_95", {{"tumour", {{"dice", {0.6161, 0.8383}}}}}},
        {"dice", {{"background", 0.9}, {"pattern3", 0.6543}}},
        {"iou", {{"background", 0.8}, {"pattern3", nullptr}}},
        {"matrix", {{600, 100}, {50, 250}}},
        {"gleason", graded}};
    for (int i = 0; i < 6; ++i)
      figures["gleason"]["matrix"].push_back({0, 0, 0, 0, 0, i == 1 ? 1 : 0});
    figures["gleason"]["by_case"] = figures["gleason"];
    figures["gleason"]["slides"] = figures["gleason"]["by_case"]["cases"] = 1;
    const Json grade = {{"primary", 3}, {"secondary", 4}, {"grade_group", 2}};
    put("eval.json", {{"classes", kClasses},
                      {"labels", {"background", "pattern3", "any tissue"}},
                      {"class_sets", {{"any tissue", kClasses}}},
                      {"split", "val"},
                      {"tiles", 9},
                      {"overall", figures},
                      {"cohorts", {{"phantom", figures}}},
                      {"scanners", {{"scanner <X>", figures}}},
                      {"images",
                       {{{"id", "slide-1"},
                         {"case", "case-1"},
                         {"cohort", "phantom"},
                         {"scanner", "s"},
                         {"mean_dice", 0.5},
                         {"tumour", {{"dice", 0.2522}, {"auc", 0.5353}}},
                         {"tumour_share", 0.4545},
                         {"predicted_px", {{"background", 1}, {"pattern3", 3}}},
                         {"true_grade", grade},
                         {"predicted_grade", grade}}}},
                      {"montage",
                       {{{"image", "slide-1"},
                         {"tile_yx", {0, 96}},
                         {"input", "montage/p.png"},
                         {"truth", "montage/p.png"},
                         {"prediction", "montage/p.png"}}}}});
    put("summary.json",
        {{"steps", 10},
         {"loss", 0.75},
         {"mean_dice", 0.6543},
         {"kappa", 0.4321},
         {"best", {{"step", 10}, {"mean_dice", 0.6}}},
         {"weights_sha256", "feed"},
         {"time",
          {{"wall_s", 9.0},
           {"model_s", 6.0},
           {"data_wait_s", 2.0},
           {"stall_fraction", 0.25},
           {"validate_s", 1.0},
           {"checkpoint_s", 0.5},
           {"patches_per_s", 5.0},
           {"loader",
            {{"read_s", 1.0}, {"decode_s", 2.0}, {"transform_s", 3.0}, {"bytes_read", 4096}}}}}});
  }

  static inline const Json kClasses = {"background", "pattern3"};
  std::filesystem::path run_;
};

void expect_holds(const std::string& html, const std::string& text) {
  EXPECT_NE(html.find(text), std::string::npos) << "missing: " << text;
}

TEST_F(RunReportTest, HoldsEveryPartAndNothingFromOutside) {
  finish();
  const std::string html = render_run(run_);
  for (const char* text : {"0.654",
                           "0.432",
                           "c0ffee",
                           "da7a5e7",
                           "feed",
                           "pattern3",
                           "slide-1",
                           "3+4 (group 2)",
                           "<svg",
                           "data:image/png;base64,iVBOR",
                           "waiting for data",
                           "25.0",
                           "Phantoms.",
                           "best weights",
                           "Learning rate",
                           "No gates",
                           "Data card",
                           "Model card",
                           "medical device",
                           "headrace replay",
                           "phantoms.zarr",
                           "default-src 'none'",
                           "not a model’s worth in the clinic",
                           "scanner &lt;X&gt;",
                           "ISUP grade groups"}) {
    expect_holds(html, text);
  }
  for (const char* text :
       {"http:", "https:", "//cdn", "<script", "<link", "url(", "@import", "<X>", "/home/"}) {
    EXPECT_EQ(html.find(text), std::string::npos) << "found: " << text;
  }
  EXPECT_EQ(html.find(run_.parent_path().string() + "/"), std::string::npos);
}

TEST_F(RunReportTest, TumourStructuresAndSetsAreShown) {
  finish();
  const std::string html = render_run(run_);
  for (const char* text :
       {"Tumour against the rest", "0.727", "0.919", "0.616–0.838", "0.818", "0.515", "0.717",
        "0.287", "0.252", "0.535", "any tissue (one of background, pattern3)", "Calibration",
        "0.0321", "kappa <b>0.432</b>", "</span>any tissue"}) {
    expect_holds(html, text);
  }
}

TEST_F(RunReportTest, AnUnfinishedRunIsShownAsFarAsItWent) {
  std::ofstream(run_ / "metrics.jsonl") << R"({"step":5,"loss":1.5,"cross_entropy":1.0})"
                                        << "\n"
                                        << R"({"step":6,"lo)";
  const std::string html = render_run(run_);
  expect_holds(html, "has not come to its end");
  expect_holds(html, "Training loss");
  EXPECT_EQ(html.find("Segmentation on split"), std::string::npos);
}

TEST_F(RunReportTest, TheSameFilesGiveTheSamePage) {
  finish();
  EXPECT_EQ(render_run(run_), render_run(run_));
}

TEST_F(RunReportTest, OtherEvaluationsAreListed) {
  finish();
  std::ifstream in(run_ / "eval.json");
  Json other = Json::parse(in);
  other["store"] = "elsewhere.zarr";
  other["weights"] = "best";
  other["dataset_hash"] = "0123456789abcdef";
  put("eval-best-val-0123456789ab.json", other);
  expect_holds(render_run(run_), "elsewhere.zarr");
}

TEST_F(RunReportTest, StrayFilesAreNamedAndLeftOut) {
  finish();
  put("eval-notes.json", Json::object());
  put("eval-list.json", {1, 2});
  std::ofstream(run_ / "eval-text.json") << "not JSON";
  const std::string page = render_run(run_);
  expect_holds(page,
               "Left out, since they are no evaluations that can be read: "
               "<code>eval-list.json</code>, <code>eval-notes.json</code>, "
               "<code>eval-text.json</code>");
}

TEST_F(RunReportTest, GatesOfAFileAreNotTheRunsOwn) {
  finish();
  std::ifstream in(run_ / "eval.json");
  Json eval = Json::parse(in);
  const Json held = {{"figure", "mean_dice"},
                     {"group", "overall"},
                     {"found", 0.6},
                     {"passed", true},
                     {"least", 0.5}};
  Json missed = held;
  missed["passed"] = false;
  missed["least"] = 0.9;
  eval["gate"] = {{"passed", true}, {"figures", {held}}, {"file", "easy.yaml"}};
  std::ifstream end(run_ / "summary.json");
  Json summary = Json::parse(end);
  summary["gate"] = {{"passed", false}, {"figures", {missed}}};
  put("summary.json", summary);
  put("eval.json", eval);
  const char* own = "Gates missed: 1 of 1.";
  const char* file = "Gates of easy.yaml, not the run’s own, passed: all 1 hold.";
  std::string page = render_run(run_);
  expect_holds(page, own);
  expect_holds(page, file);
  EXPECT_EQ(page.find("Gates passed"), std::string::npos);
  // What the evaluation says of them is later than the end of the training.
  eval["own_gate"] = {{"passed", true}, {"figures", {held, held}}};
  put("eval.json", eval);
  page = render_run(run_);
  expect_holds(page, "Gates passed: all 2 hold.");
  expect_holds(page, file);
}

TEST_F(RunReportTest, NoRunIsNamed) {
  try {
    render_run(run_ / "none");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(error.what()).find("config.json is missing"), std::string::npos)
        << error.what();
  }
}

TEST_F(RunReportTest, RealCohortsAreNotCalledPhantoms) {
  put("run.json", {{"config_hash", "c"},
                   {"dataset_hash", "d"},
                   {"code_version", "1"},
                   {"runtime", Json::object()},
                   {"decoder", "x"},
                   {"parameters", 1},
                   {"images", 3},
                   {"cohorts", {"radboud"}},
                   {"classes", kClasses}});
  EXPECT_EQ(render_run(run_).find("Phantoms."), std::string::npos);
}

}  // namespace
}  // namespace headrace::report
