#include "learn/predict/slide/slide_findings_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/core/csv_line.hpp"
#include "learn/predict/slide/equivocal_regions.hpp"

namespace headrace::predict {
namespace {

double number_of(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double rounded(double value, int decimals) {
  return number_of(fmt::format("{:.{}f}", value, decimals));
}

/// Null where there is no value; else 6 significant digits.
Json measure(const std::optional<double>& value) {
  return value ? Json(number_of(fmt::format("{:.6g}", *value))) : Json(nullptr);
}

/// Null where the whole is nothing or not known.
Json share(std::uint64_t part, const std::optional<std::uint64_t>& whole) {
  if (!whole || *whole == 0) return nullptr;
  return rounded(static_cast<double>(part) / static_cast<double>(*whole), 4);
}

Json or_none(int pattern) { return pattern == 0 ? Json(nullptr) : Json(pattern); }

Json grade_json(const std::optional<CancerGrade>& found, const measure::TumourRule& rule) {
  if (!found) return nullptr;
  Json percent = Json::object();
  for (std::size_t k = 0; k < rule.patterns.pattern.size(); ++k) {
    if (!rule.patterns.pattern[k]) continue;
    const auto& value = found->percent_of_cancer[k];
    percent[rule.classes[*rule.patterns.pattern[k]]] =
        value ? Json(rounded(*value, 2)) : Json(nullptr);
  }
  return {{"cancer", found->cancer()},
          {"primary", or_none(found->grade.primary)},
          {"secondary", or_none(found->grade.secondary)},
          {"tertiary", or_none(found->grade.tertiary)},
          {"grade_group", found->grade.grade_group},
          {"percent_of_cancer", percent}};
}

/// The key of what regions are of.
std::string region_of(const measure::TumourRule& rule) {
  return rule.stated ? "tumour" : "foreground";
}

/// Areas of some classes together.
class Areas {
 public:
  Areas(const ClassAreas& areas, const measure::TumourRule& rule) : areas_(areas), rule_(rule) {}

  template <typename Inside>
  Json of(const Inside& inside) const {
    std::uint64_t pixels = 0;
    double mm2 = 0;
    for (std::size_t c = 0; c < areas_.px.size(); ++c) {
      if (!inside(c)) continue;
      pixels += areas_.px[c];
      if (!areas_.mm2.empty()) mm2 += areas_.mm2[c];
    }
    return {{"pixels", pixels},
            {"area_mm2", measure(areas_.mm2.empty() ? std::nullopt : std::optional(mm2))}};
  }

  Json by_class() const {
    Json all = Json::object();
    const auto tissue = areas_.tissue_px(rule_);
    for (std::size_t c = 0; c < areas_.px.size(); ++c) {
      Json one = of([&](std::size_t k) { return k == c; });
      one["share_of_tissue"] = c == 0 ? Json(nullptr) : share(areas_.px[c], tissue);
      all[rule_.classes[c]] = std::move(one);
    }
    return all;
  }
  Json tissue() const {
    if (!rule_.other_tissue()) return {{"pixels", nullptr}, {"area_mm2", nullptr}};
    return of([](std::size_t c) { return c > 0; });
  }
  Json tumour() const {
    Json one = of([&](std::size_t c) { return c > 0 && rule_.tumour[c]; });
    one["share_of_tissue"] = share(areas_.tumour_px(rule_), areas_.tissue_px(rule_));
    one["classes"] = Json::array();
    for (std::size_t c = 1; c < rule_.classes.size(); ++c) {
      if (rule_.tumour[c]) one["classes"].push_back(rule_.classes[c]);
    }
    return one;
  }
  /// What slides and cases have.
  Json all() const {
    Json out = {{"classes", by_class()},
                {"predicted", of([](std::size_t) { return true; })},
                {"tissue", tissue()},
                {"tumour", nullptr}};
    out[region_of(rule_)] = tumour();
    return out;
  }

 private:
  const ClassAreas& areas_;
  const measure::TumourRule& rule_;
};

/// A box of the map in pixels of level 0; the map's last pixels may reach beyond the slide.
template <typename Boxed>
Json box_json(const Boxed& boxed, const result::SlideMap& map) {
  const auto at = [](std::int64_t pixel, double scale, std::int64_t end) {
    const double level0 = static_cast<double>(pixel) * scale;
    return rounded(end > 0 ? std::min(level0, static_cast<double>(end)) : level0, 2);
  };
  const auto [y, x] = map.level0_px_yx;
  return {at(boxed.y0, y, map.level0_height), at(boxed.x0, x, map.level0_width),
          at(boxed.y1, y, map.level0_height), at(boxed.x1, x, map.level0_width)};
}

/// What tells which region it is.
Json place_json(const SlideRegion& region, const SlideFacts& facts) {
  Json centroid = Json::array();
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double mean =
        static_cast<double>(region.doubled_yx[axis]) / (2 * static_cast<double>(region.pixels));
    centroid.push_back(rounded(mean * facts.map.level0_px_yx[axis], 2));
  }
  return {{"number", region.number},        {"class", facts.rule.classes[region.label]},
          {"pixels", region.pixels},        {"area_mm2", measure(facts.area_mm2(region.pixels))},
          {"centroid_level0_yx", centroid}, {"box_level0_yxyx", box_json(region, facts.map)}};
}

Json region_json(const SlideRegion& region, const SlideFacts& facts) {
  Json json = place_json(region, facts);
  json["tumour"] = facts.rule.stated ? Json(facts.tumour(region.label)) : Json(nullptr);
  json["mean_probability"] = Json::object();
  for (std::size_t c = 0; c < facts.classes(); ++c)
    json["mean_probability"][facts.rule.classes[c]] = rounded(region.mean_probability(c), 4);
  json["mean_entropy"] = rounded(region.mean_entropy(), 4);
  return json;
}

Json equivocal_json(const EquivocalRegion& equivocal, const SlideFindings& findings) {
  const SlideFacts& facts = findings.facts;
  const SlideRegion& region = findings.regions[equivocal.region];
  Json json = place_json(region, facts);
  json["about"] = name_of(equivocal.about);
  json["second_class"] = facts.rule.classes[equivocal.second];
  json["doubt"] = rounded(equivocal.doubt, 4);
  json["first_probability"] = rounded(equivocal.first_probability, 4);
  json["second_probability"] = rounded(equivocal.second_probability, 4);
  const bool graded = findings.grade.has_value();
  json["changes_grade_group"] = graded ? Json(equivocal.changes_grade()) : Json(nullptr);
  json["second_grade_group"] = graded ? Json(equivocal.second_grade_group) : Json(nullptr);
  json["why"] = doubt_sentence(equivocal, region, facts);
  return json;
}

Json piece_json(const TissuePiece& piece, std::size_t number, const SlideFacts& facts) {
  const double length = std::sqrt(static_cast<double>(piece.squared_length_px));
  const bool known = facts.rule.other_tissue();
  const std::string region = region_of(facts.rule);
  return {{"number", number},
          {"box_level0_yxyx", box_json(piece, facts.map)},
          {"tissue_pixels", known ? Json(piece.tissue_px) : Json(nullptr)},
          {"tissue_area_mm2", known ? measure(facts.area_mm2(piece.tissue_px)) : Json(nullptr)},
          {region + "_pixels", piece.tumour_px},
          {region + "_area_mm2", measure(facts.area_mm2(piece.tumour_px))},
          {"foci", piece.foci},
          {region + "_length_px", rounded(length, 2)},
          {region + "_length_mm", measure(facts.length_mm(length))}};
}

Json left_out_json(const LeftOut& small) {
  return {{"count", small.count}, {"pixels", small.pixels}};
}

Json pieces_json(const SlideFindings& findings) {
  const SlideFacts& facts = findings.facts;
  Json list = Json::array();
  for (const TissuePiece& piece : findings.pieces)
    list.push_back(piece_json(piece, list.size() + 1, facts));
  return {{"cell_px", facts.piece_cell_px()},
          {"least_pixels", facts.least_region_px()},
          {"count", findings.pieces.size()},
          {"smaller", left_out_json(findings.small_pieces)},
          {"list", list}};
}

Json regions_json(const SlideFindings& findings) {
  const std::uint64_t least = findings.facts.least_region_px();
  Json list = Json::array();
  for (const SlideRegion& region : findings.regions)
    list.push_back(region_json(region, findings.facts));
  return {{"least_pixels", least},
          {"least_area_mm2", measure(findings.facts.area_mm2(least))},
          {"count", findings.regions.size()},
          {"smaller", left_out_json(findings.small_regions)},
          {"list", list}};
}

}  // namespace

Json to_json(const SlideFindings& findings) {
  const SlideFacts& facts = findings.facts;
  Json json = Areas(findings.areas, facts.rule).all();
  json["grade"] = grade_json(findings.grade, facts.rule);
  const double length = findings.tumour_length_px(), longest = findings.longest_tumour_px();
  json[region_of(facts.rule)].update({{"foci", findings.foci()},
                                      {"length_px", rounded(length, 2)},
                                      {"length_mm", measure(facts.length_mm(length))},
                                      {"longest_px", rounded(longest, 2)},
                                      {"longest_mm", measure(facts.length_mm(longest))}});
  json["regions"] = regions_json(findings);
  Json equivocal = Json::array();
  for (std::size_t i = 0; i < std::min(findings.equivocal.size(), kListedEquivocal); ++i)
    equivocal.push_back(equivocal_json(findings.equivocal[i], findings));
  json["equivocal"] = {{"doubt_above", facts.options.min_doubt},
                       {"count", findings.equivocal.size()},
                       {"list", std::move(equivocal)}};
  json["tissue_pieces"] = pieces_json(findings);
  return json;
}

Json to_json(const CaseFindings& findings) {
  Json json = Areas(findings.areas, findings.rule).all();
  json["slides"] = findings.slides;
  json["grade"] = grade_json(findings.grade, findings.rule);
  return json;
}

std::string regions_csv(const SlideFindings& findings) {
  const auto& classes = findings.facts.rule.classes;
  std::vector<Json> head{"number", "class", "tumour", "pixels", "area_mm2"};
  for (const char* name : {"centroid_level0_y", "centroid_level0_x", "box_level0_y0",
                           "box_level0_x0", "box_level0_y1", "box_level0_x1"})
    head.emplace_back(name);
  for (const std::string& name : classes) head.emplace_back("mean_probability_" + name);
  head.emplace_back("mean_entropy");
  head.emplace_back("equivocal_rank");
  std::map<std::size_t, std::size_t> rank;
  for (std::size_t i = 0; i < findings.equivocal.size(); ++i)
    rank[findings.equivocal[i].region] = i + 1;
  std::string out = csv_line(head);
  for (std::size_t i = 0; i < findings.regions.size(); ++i) {
    const Json json = region_json(findings.regions[i], findings.facts);
    std::vector<Json> cells;
    for (const char* key : {"number", "class", "tumour", "pixels", "area_mm2"})
      cells.push_back(json.at(key));
    for (const char* key : {"centroid_level0_yx", "box_level0_yxyx"})
      cells.insert(cells.end(), json.at(key).begin(), json.at(key).end());
    for (const std::string& name : classes) cells.push_back(json.at("mean_probability").at(name));
    cells.push_back(json.at("mean_entropy"));
    cells.push_back(rank.count(i) > 0 ? Json(rank.at(i)) : Json(nullptr));
    out += csv_line(cells);
  }
  return out;
}

}  // namespace headrace::predict
