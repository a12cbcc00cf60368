#include "learn/measure/figure_table.hpp"

#include <gtest/gtest.h>

#include <set>

#include "learn/measure/figure_names.hpp"
#include "learn/measure/slide/slide_group.hpp"
#include "learn/measure/volume/volume_metrics.hpp"

namespace headrace::measure {
namespace {

const std::vector<std::string> kClasses{"background", "liver", "a.missed"};

/// Groups without images, which have every figure that there is.
Json group_of(JudgedKind kind) {
  if (kind == JudgedKind::volumes) {
    GroupRules rules;
    rules.classes = kClasses;
    rules.lesions = true;
    return group_json({}, rules);
  }
  SlideRules rules;
  rules.classes = kClasses;
  rules.tumour = {false, true, true};
  rules.gleason = true;
  return slide_group_json({}, rules, nullptr, 0, 0);
}

class FigureTable : public testing::TestWithParam<JudgedKind> {};
INSTANTIATE_TEST_SUITE_P(OfBothKinds, FigureTable,
                         testing::Values(JudgedKind::slides, JudgedKind::volumes));

TEST_P(FigureTable, HasARowForEveryFigureThatIsNoCount) {
  for (const NamedFigure& figure : figures_of_group(group_of(GetParam()))) {
    if (figure.count) continue;
    const Figure* row = find_figure(figure.name);
    ASSERT_NE(row, nullptr) << figure.name;
    EXPECT_TRUE(row->in(GetParam())) << figure.name;
    EXPECT_FALSE(row->count) << figure.name;
  }
}

TEST_P(FigureTable, HasNoRowOfWhatNoEvaluationHas) {
  const Json group = group_of(GetParam());
  for (const Figure& row : figure_table()) {
    if (row.key == "structure.{class}") continue;  // of single volumes
    // Of "lesion.sensitivity_at_{rate}" the root is no path.
    const JsonPath head{row.root().front()};
    EXPECT_EQ(find_at(group, head) != nullptr, row.in(GetParam())) << row.key;
    const bool varies = row.key.find('{') != std::string_view::npos;
    if (row.in(GetParam()) && !varies) {
      EXPECT_NE(find_at(group, row.path()), nullptr) << row.key;
    }
    if (!row.in(GetParam()) || !row.by_class()) continue;
    EXPECT_NE(find_at(group, row.path("a.missed")), nullptr) << row.key;
    EXPECT_EQ(find_at(group, row.path("background")) != nullptr, row.background) << row.key;
  }
}

TEST(FigureTableRows, EachKeyStandsOnce) {
  std::set<std::string_view> keys;
  std::set<int> numbers, columns;
  for (const Figure& row : figure_table()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.title.empty()) << row.key;
    if (row.tracked.number > 0) {
      EXPECT_TRUE(numbers.insert(row.tracked.number).second) << row.key;
    }
    if (row.tracked.column > 0) {
      EXPECT_TRUE(columns.insert(row.tracked.column).second) << row.key;
    }
    if (row.csv.empty()) continue;
    EXPECT_EQ(row.by_class(), row.csv.find("{class}") != std::string_view::npos) << row.key;
  }
}

TEST(FigureTableRows, MainFiguresOfATaskHavePlacesFromOneOn) {
  for (const auto task :
       {&MainPlaces::grading, &MainPlaces::lesions, &MainPlaces::volumes, &MainPlaces::slides}) {
    std::set<int> places;
    for (const Figure& row : figure_table()) {
      if (row.main.*task == 0) continue;
      EXPECT_TRUE(places.insert(row.main.*task).second) << row.key;
      EXPECT_EQ(row.better, Better::more) << row.key;  // groups are sorted with the lowest first
    }
    EXPECT_EQ(*places.begin(), 1);
    EXPECT_EQ(*places.rbegin(), static_cast<int>(places.size()));
  }
}

TEST(FigureTableRows, AreFoundByNamesWhoseClassesHoldDotsAndWordsOfFigures) {
  const auto key_of = [](const char* name) {
    const Figure* row = find_figure(name);
    return row == nullptr ? std::string_view() : row->key;
  };
  EXPECT_EQ(key_of("dice.missed"), "dice.{class}");
  EXPECT_EQ(key_of("objects.a.missed.f1"), "objects.{class}.f1");
  EXPECT_EQ(key_of("objects.a.f1.missed"), "objects.{class}.missed");
  EXPECT_EQ(key_of("tumour.objects.missed"), "tumour.objects.missed");
  EXPECT_EQ(key_of("lesion.sensitivity_at_1"), "lesion.sensitivity_at_1");
  EXPECT_EQ(key_of("lesion.sensitivity_at_0.125"), "lesion.sensitivity_at_{rate}");
  EXPECT_EQ(key_of("lesion.by_size.6_to_10_mm.sensitivity"), "lesion.by_size.{size}.sensitivity");
  EXPECT_EQ(key_of("hd95"), "");
  EXPECT_EQ(key_of("hd95."), "");
  EXPECT_EQ(key_of("loss"), "");
}

TEST(FigureTableRows, GiveThePathsOfAClass) {
  const Figure& pq = *find_figure("objects.liver.pq");
  EXPECT_EQ(pq.path("a.missed"), (JsonPath{"objects", "a.missed", "pq"}));
  EXPECT_EQ(pq.root(), JsonPath{"objects"});
  const Figure& voxels = *find_figure("lesion.voxel.auc");
  EXPECT_EQ(voxels.path(), (JsonPath{"lesion", "voxel", "auc"}));
  EXPECT_EQ(voxels.image_path(), (JsonPath{"lesion_voxel", "auc"}));
}

TEST(FigureTableRows, TextsAreFilledOnce) {
  EXPECT_EQ(filled("{class} Dice of {region}", "{region}", "tumour"), "{region} Dice of tumour");
}

/// What single volumes have is read back from the file, whatever rows there are.
TEST(FigureTableRows, ValuesOfVolumesComeBackFromAnEvaluation) {
  VolumeRules rules;
  rules.classes = 2;
  GroupRules group_rules;
  group_rules.classes = {"background", "liver"};
  VolumeMetrics metrics(rules, group_rules, 0, 0);
  VolumeFigures figures(2);
  figures.confusion.add(1, 1, 5);
  double value = 0.25;
  for (const Figure* row : figures_of_volumes()) (figures.*row->values)[1] = value++;
  VolumeFacts facts;
  facts.id = facts.case_id = "a";
  metrics.add(0, facts, figures);
  const Json json = metrics.to_json(false);
  value = 0.25;
  for (const Figure* row : figures_of_volumes()) {
    EXPECT_EQ(*find_at(json.at("images").at(0), row->image_path("liver")), value) << row->key;
    EXPECT_EQ(*find_at(json.at("overall"), row->path("liver")), value++) << row->key;
  }
}

}  // namespace
}  // namespace headrace::measure
