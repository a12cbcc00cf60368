#include "learn/measure/volume/volume_meter.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headrace/core/error.hpp"
#include "learn/measure/volume/group_figures.hpp"
#include "tests/learn/measure/mask_fixture.hpp"

namespace headrace::measure {
namespace {

using fixtures::Lcg;

constexpr std::array<std::int64_t, 3> kShape{4, 6, 8};
constexpr std::size_t kPixels = 6 * 8, kClasses = 3;

struct Slices {
  std::vector<float> probabilities;  ///< (z, classes, y, x)
  std::vector<std::uint8_t> truth, body;
};

Slices random_slices(std::uint64_t seed) {
  Lcg random(seed);
  Slices out;
  for (std::size_t z = 0; z < 4; ++z) {
    std::vector<float> p(kClasses * kPixels);
    for (std::size_t i = 0; i < kPixels; ++i) {
      float sum = 0;
      for (std::size_t c = 0; c < kClasses; ++c)
        sum += p[c * kPixels + i] = static_cast<float>(0.05 + random.uniform());
      for (std::size_t c = 0; c < kClasses; ++c) p[c * kPixels + i] /= sum;
      out.truth.push_back(
          static_cast<std::uint8_t>(random.next() % 4 == 3 ? 255 : random.next() % 3));
      out.body.push_back(random.next() % 3 > 0 ? 1 : 0);
    }
    out.probabilities.insert(out.probabilities.end(), p.begin(), p.end());
  }
  return out;
}

VolumeFigures measured(const Slices& slices, const VolumeRules& rules, bool annotated = true) {
  VolumeMeter meter(rules);
  meter.start(kShape, {2, 1, 1});
  for (std::size_t z = 0; z < 4; ++z) {
    using Bytes = std::span<const std::uint8_t>;
    meter.add({slices.probabilities.data() + z * kClasses * kPixels, kClasses * kPixels},
              annotated ? Bytes{slices.truth.data() + z * kPixels, kPixels} : Bytes{},
              {slices.body.data() + z * kPixels, kPixels});
  }
  return meter.finish();
}

VolumeRules rules_of_lesions() {
  VolumeRules rules;
  rules.classes = kClasses;
  rules.lesion_classes = {2};
  return rules;
}

TEST(VolumeMeter, SetsCountWhereTheyDecide) {
  // Value 3: class 1 or 2, both lesions; 4: class 0 or 1, which does not decide whether it is one.
  VolumeRules rules = rules_of_lesions();
  rules.lesion_classes = {1, 2};
  rules.class_sets = {{"lesion", {1, 2}}, {"unsure", {0, 1}}};
  Slices slices = random_slices(5), plain = slices, ignored = slices;
  std::size_t sets = 0;
  for (std::size_t i = 0; i < slices.truth.size(); ++i) {
    if (slices.truth[i] == 255 || i % 3 == 0) continue;
    ++sets;
    const bool lesion = i % 3 == 1;
    slices.truth[i] = lesion ? 3 : 4;
    plain.truth[i] = lesion ? 2 : 255;  // what lesion figures make of it
    ignored.truth[i] = 255;             // what figures of single classes make of it
  }
  const VolumeFigures ours = measured(slices, rules), as_plain = measured(plain, rules),
                      without = measured(ignored, rules);
  EXPECT_EQ(ours.set_voxels, sets);
  EXPECT_EQ(ours.lesion_scores.rows(), as_plain.lesion_scores.rows());
  ASSERT_EQ(ours.lesions.size(), as_plain.lesions.size());
  ASSERT_EQ(ours.calls.size(), as_plain.calls.size());
  EXPECT_GT(ours.lesions.size(), 0u);
  for (std::size_t k = 0; k < ours.calls.size(); ++k) {
    EXPECT_EQ(ours.calls[k].matched, as_plain.calls[k].matched);
    EXPECT_EQ(ours.calls[k].voxels, as_plain.calls[k].voxels);
  }
  const std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(ours.confusion.to_json(names), without.confusion.to_json(names));
  EXPECT_EQ(ours.surface_dice, without.surface_dice);
  EXPECT_EQ(ours.hd95_penalised_mm, without.hd95_penalised_mm);
  Calibration calibration;
  for (std::size_t i = 0; i < slices.truth.size(); ++i) {
    if (slices.truth[i] == 255 || slices.body[i] == 0) continue;
    const std::uint8_t label = slices.truth[i];
    const unsigned classes = label == 3 ? 6u : label == 4 ? 3u : 1u << label;
    calibration.add_classes(
        slices.probabilities.data() + i / kPixels * kClasses * kPixels + i % kPixels, kPixels,
        kClasses, classes);
  }
  EXPECT_EQ(ours.calibration.to_json(), calibration.to_json());
  slices.truth[0] = 5;
  EXPECT_THROW(measured(slices, rules), Error) << "neither class nor set";
}

TEST(VolumeMeter, CountsWhatIsAnnotatedAndCalibratesInTheBody) {
  const Slices slices = random_slices(1);
  const VolumeFigures figures = measured(slices, rules_of_lesions());
  Confusion confusion(kClasses);
  Calibration calibration;
  ScoreCounter scores;
  for (std::size_t i = 0; i < slices.truth.size(); ++i) {
    if (slices.truth[i] == 255) continue;
    const float* p = slices.probabilities.data() + i / kPixels * kClasses * kPixels + i % kPixels;
    std::size_t best = 0;
    for (std::size_t c = 1; c < kClasses; ++c) best = p[c * kPixels] > p[best * kPixels] ? c : best;
    confusion.add(slices.truth[i], best);
    if (slices.body[i] == 0) continue;
    calibration.add_classes(p, kPixels, kClasses, 1u << slices.truth[i]);
    scores.add(score_of(p[2 * kPixels]), slices.truth[i] == 2);
  }
  EXPECT_EQ(figures.confusion.to_json({"a", "b", "c"}), confusion.to_json({"a", "b", "c"}));
  EXPECT_EQ(figures.calibration.to_json(), calibration.to_json());
  EXPECT_EQ(figures.lesion_scores.rows(), scores.counts().rows());
}

TEST(VolumeMeter, WithoutLabelsNothingIsMeasured) {
  const VolumeFigures figures = measured(random_slices(2), rules_of_lesions(), false);
  EXPECT_FALSE(figures.annotated());
  EXPECT_TRUE(figures.calls.empty());
  EXPECT_EQ(figures.calibration.count(), 0u);
}

TEST(VolumeMeter, AVolumeIsWholeOrRefused) {
  VolumeMeter meter(rules_of_lesions());
  meter.start(kShape, {1, 1, 1});
  EXPECT_THROW(meter.finish(), Error);
}

GroupRules group_rules() {
  GroupRules rules;
  rules.classes = {"background", "liver", "lesion"};
  rules.lesions = true;
  return rules;
}

double number_at(const Json& json, const std::vector<std::string>& path) {
  const Json* at = &json;
  for (const std::string& key : path) at = &at->at(key);
  return at->get<double>();
}

TEST(GroupFigures, StandInTheirPlacesOfTheJson) {
  std::vector<VolumeFigures> volumes;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    volumes.push_back(measured(random_slices(seed), rules_of_lesions()));
  const CaseVolumes one{{&volumes[0], &volumes[1]}}, two{{&volumes[2]}};
  const CaseVolumes* const cases[] = {&one, &two};
  const Json json = group_json(cases, group_rules());
  std::size_t defined = 0;
  for (const GroupFigure& figure : group_figures(cases, group_rules())) {
    if (!figure.value) continue;
    ++defined;
    EXPECT_EQ(number_at(json, figure.path), *figure.value) << figure.path.back();
  }
  EXPECT_GT(defined, 30u);
  EXPECT_EQ(json.at("cases"), 2);
  EXPECT_EQ(json.at("images"), 3);
  EXPECT_EQ(json.at("structures").at("liver").at("found"), 3);
}

TEST(GroupFigures, ACaseDrawnTwiceCountsTwice) {
  const VolumeFigures volume = measured(random_slices(5), rules_of_lesions());
  const CaseVolumes one{{&volume}};
  const CaseVolumes* const cases[] = {&one, &one};
  const Json json = group_json(cases, group_rules());
  EXPECT_EQ(json.at("lesion").at("scans"), 2);
  EXPECT_EQ(json.at("lesion").at("case").at("positive"), 2);
  EXPECT_EQ(json.at("voxels"), 2 * volume.confusion.total());
}

/// A volume with one lesion or none, and with one call or none.
VolumeFigures volume_with(double lesion_mm3, double score, bool hit) {
  VolumeFigures out(3);
  out.confusion.add(0, 0, 100);
  LesionFinding lesion, call;
  lesion.volume_mm3 = lesion_mm3;
  lesion.matched = hit;
  lesion.score = call.score = score;
  call.matched = hit;
  if (lesion_mm3 > 0) out.lesions.push_back(lesion);
  if (score > 0) out.calls.push_back(call);
  return out;
}

TEST(GroupFigures, OfLesionsByHand) {
  const auto ball = [](double mm) { return std::numbers::pi / 6 * mm * mm * mm; };
  EXPECT_NEAR(ball_diameter_mm(ball(7)), 7, 1e-12);
  const VolumeFigures small = volume_with(ball(5), 0.3, true),
                      missed = volume_with(ball(8), 0, false),
                      large = volume_with(ball(25), 0.9, true),
                      healthy = volume_with(0, 0.6, false), silent = volume_with(0, 0, false);
  std::vector<CaseVolumes> cases;
  for (const VolumeFigures* volume : {&small, &missed, &large, &healthy, &silent})
    cases.push_back({{volume}});
  std::vector<const CaseVolumes*> pointers;
  for (const CaseVolumes& of : cases) pointers.push_back(&of);
  const Json lesion = group_json(pointers, group_rules()).at("lesion");
  EXPECT_EQ(lesion.at("lesions"), 3);
  EXPECT_EQ(lesion.at("calls"), 2);  // from 0.5 on
  EXPECT_EQ(lesion.at("hits"), 1);
  EXPECT_NEAR(lesion.at("sensitivity").get<double>(), 1.0 / 3, 1e-15);
  EXPECT_NEAR(lesion.at("precision").get<double>(), 0.5, 1e-15);
  EXPECT_NEAR(lesion.at("false_positives_per_scan").get<double>(), 0.2, 1e-15);
  EXPECT_NEAR(lesion.at("sensitivity_at_0.125").get<double>(), 1.0 / 3, 1e-15);
  EXPECT_NEAR(lesion.at("sensitivity_at_0.25").get<double>(), 2.0 / 3, 1e-15);
  const Json& sizes = lesion.at("by_size");
  EXPECT_EQ(sizes.at("below_6_mm").at("sensitivity"), 0);  // called at 0.3 alone
  EXPECT_EQ(sizes.at("below_6_mm").at("sensitivity_at_1"), 1);
  EXPECT_EQ(sizes.at("6_to_10_mm").at("sensitivity_at_1"), 0);
  EXPECT_TRUE(sizes.at("10_to_20_mm").at("sensitivity").is_null());
  EXPECT_EQ(sizes.at("from_20_mm").at("hits"), 1);
  // Cases: positive 0.3, 0, 0.9; negative 0.6, 0. Right pairs: 1, 0.5, 2 of 6.
  const Json& of_cases = lesion.at("case");
  EXPECT_NEAR(of_cases.at("auc").get<double>(), 3.5 / 6, 1e-15);
  EXPECT_NEAR(of_cases.at("sensitivity").get<double>(), 1.0 / 3, 1e-15);
  EXPECT_EQ(of_cases.at("specificity"), 0.5);
  EXPECT_NEAR(of_cases.at("sensitivity_at_specificity").get<double>(), 1.0 / 3, 1e-15);
}

TEST(GroupFigures, MissedAndInventedStructuresAreCounted) {
  const auto volume = [](std::uint64_t truth, std::uint64_t both, std::uint64_t said) {
    VolumeFigures out(2);
    out.confusion.add(0, 0, 50);
    out.confusion.add(1, 0, truth);
    out.confusion.add(1, 1, both);
    out.confusion.add(0, 1, said);
    if (both > 0) out.hd95_mm[1] = 2;
    if (truth + both + said > 0) out.hd95_penalised_mm[1] = out.hd95_mm[1].value_or(100);
    return out;
  };
  const VolumeFigures all[] = {volume(2, 3, 0), volume(4, 0, 0), volume(0, 0, 5), volume(0, 0, 0)};
  CaseVolumes one;
  for (const VolumeFigures& figures : all) one.volumes.push_back(&figures);
  const CaseVolumes* const cases[] = {&one};
  GroupRules rules;
  rules.classes = {"background", "liver"};
  const Json json = group_json(cases, rules);
  const Json expected = {{"found", 1}, {"missed", 1}, {"invented", 1}, {"absent", 1}};
  EXPECT_EQ(json.at("structures").at("liver"), expected);
  EXPECT_EQ(json.at("hd95_undefined").at("liver"), 2);
  EXPECT_EQ(json.at("hd95").at("liver"), 2);
  EXPECT_NEAR(json.at("hd95_penalised").at("liver").get<double>(), (2 + 100 + 100) / 3.0, 1e-12);
  EXPECT_FALSE(json.contains("lesion"));
}

}  // namespace
}  // namespace headrace::measure
