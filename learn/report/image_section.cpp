#include "learn/report/image_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"

namespace headrace::report {
namespace {

std::string grade_text(const Json& grade) {
  if (grade.is_null()) return "not known";
  const int group = grade.at("grade_group").get<int>(), primary = grade.at("primary").get<int>();
  if (group == 0) return "no cancer";
  if (primary == 0) return fmt::format("group {}", group);
  const int tertiary = grade.value("tertiary", 0);
  return fmt::format("{}+{}{} (group {})", primary, grade.at("secondary").get<int>(),
                     tertiary > 0 ? fmt::format(", tertiary {}", tertiary) : "", group);
}

/// Predicted areas without background, as a thin bar.
std::string area_bar(const Json& image, const std::vector<std::string>& names) {
  double sum = 0;
  for (std::size_t c = 1; c < names.size(); ++c)
    sum += image.at("predicted_px").at(names[c]).get<double>();
  std::string out = "<div class=\"area\">";
  for (std::size_t c = 1; c < names.size() && sum > 0; ++c) {
    const double part = image.at("predicted_px").at(names[c]).get<double>() / sum * 100;
    out += fmt::format("<span title=\"{} {:.1f} %\" style=\"width:{:.2f}%;background:{}\"></span>",
                       escaped_markup(names[c]), part, part, pixels::css(pixels::class_colour(c)));
  }
  return out + "</div>";
}

/// The images to list: lowest figure first, those without it last, equal ones by id.
std::vector<const Json*> worst_images(const Json& eval) {
  const JsonPath path = image_figure(eval).path;
  struct Place {
    double value;
    std::string id;
    const Json* image;
  };
  std::vector<Place> order;
  for (const Json& image : eval.at("images")) {
    const Json value = value_at(image, path);
    order.push_back({value.is_number() ? value.get<double>() : 1e300,
                     image.at("id").get<std::string>(), &image});
  }
  std::sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
    return a.value != b.value ? a.value < b.value : a.id < b.id;
  });
  std::vector<const Json*> out;
  for (std::size_t i = 0; i < order.size() && i < kImagesShown; ++i) out.push_back(order[i].image);
  return out;
}

/// The folded table, and how many images it leaves out.
std::string listed(const RunData& data, const Table& table, const char* csv) {
  const std::size_t images = data.eval.at("images").size();
  const std::string order = "sorted by " + image_figure(data.eval).name + ", the lowest first";
  const std::string title = images > table.rows.size()
                                ? fmt::format("The {} lowest of {} images, {}; {} has all",
                                              table.rows.size(), images, order, csv)
                                : fmt::format("All {} images, {}", images, order);
  return folded(title, table.html());
}

}  // namespace

std::string image_section(const RunData& data) {
  const auto names = names_of(data.eval.at("classes"));
  const bool gleason = data.gleason();
  const std::string word = region_word(data.eval);
  const auto figures =
      measure::figures_at(&measure::Figure::image_column, measure::JudgedKind::slides);
  Table table{{"Image", "Case", "Cohort", "Scanner"}, {}, {false, false, false, false}};
  for (const measure::Figure* of : figures)
    table.head.push_back(measure::filled(of->image_column.text, "", word));
  table.head.emplace_back("Share");
  table.numeric.resize(table.head.size(), true);
  if (gleason)
    table.head.insert(table.head.end(), {"True grade", "Predicted", "", "Predicted areas"});
  for (const Json* pointer : worst_images(data.eval)) {
    const Json& image = *pointer;
    table.rows.push_back({text_of(image.at("id")), text_of(image.at("case")),
                          text_of(image.at("cohort")), text_of(image.at("scanner"))});
    auto& row = table.rows.back();
    for (const measure::Figure* of : figures)
      row.push_back(figure(value_in(image, of->image_path()), of->digits));
    row.push_back(figure(image.at("tumour_share")));
    if (!gleason) continue;
    const Json &truth = image.at("true_grade"), &predicted = image.at("predicted_grade");
    const bool same = !truth.is_null() && truth.at("grade_group") == predicted.at("grade_group");
    const char* mark = truth.is_null() ? ""
                       : same          ? "<span class=\"good\">✓</span>"
                                       : "<span class=\"off\">✗</span>";
    row.insert(row.end(), {grade_text(truth), grade_text(predicted), mark, area_bar(image, names)});
  }
  return section(gleason ? "Slides" : "Images",
                 fmt::format("<p>Share: the predicted {}’s part of the predicted tissue, by which "
                             "slides and cases are ranked. eval-cases.csv has the cases.</p>",
                             lowered(word)) +
                     listed(data, table, "eval-slides.csv"));
}

std::string volume_image_section(const RunData& data) {
  const auto classes = names_of(data.eval.at("classes"));
  const bool lesions = !data.eval.at("lesion_classes").empty();
  const double operating = data.eval.value("lesion_probability", 0.0);
  auto figures = measure::figures_at(&measure::Figure::image_column, measure::JudgedKind::volumes);
  const auto by_class = std::stable_partition(
      figures.begin(), figures.end(), [](const measure::Figure* of) { return !of->by_class(); });
  Table table{{"Volume", "Case", "Cohort", "Phase"}, {}, {false, false, false, false}};
  for (auto of = figures.begin(); of != by_class; ++of)
    table.head.emplace_back((*of)->image_column.text);
  if (lesions) table.head.insert(table.head.end(), {"Lesions hit", "False positives"});
  for (std::size_t c = 1; c < classes.size(); ++c) {
    for (auto of = by_class; of != figures.end(); ++of)
      table.head.push_back(
          measure::filled((*of)->image_column.text, class_label(classes[c], c), ""));
  }
  table.numeric.resize(table.head.size(), true);
  for (const Json* pointer : worst_images(data.eval)) {
    const Json& image = *pointer;
    std::vector<std::string> row{text_of(image.at("id")), text_of(image.at("case")),
                                 text_of(image.at("cohort")), text_of(image.at("phase"))};
    for (auto of = figures.begin(); of != by_class; ++of)
      row.push_back(figure(value_in(image, (*of)->image_path()), (*of)->digits));
    if (lesions) {
      std::size_t hits = 0, wrong = 0;
      for (const Json& call : image.at("calls")) {
        if (call.at("score").get<double>() >= operating)
          ++(call.at("hit").get<bool>() ? hits : wrong);
      }
      row.push_back(fmt::format("{} of {}", hits, image.at("lesions").size()));
      row.push_back(std::to_string(wrong));
    }
    for (std::size_t c = 1; c < classes.size(); ++c) {
      const Json& word = image.at("structure").at(classes[c]);
      const bool plain = word.is_null() || word == "found" || word == "absent";
      for (auto of = by_class; of != figures.end(); ++of) {
        const Json& value = value_in(image, (*of)->image_path(classes[c]));
        // The word says why there is no distance.
        row.push_back(plain || value.is_number()
                          ? figure(value, (*of)->digits)
                          : "<span class=\"off\">" + text_of(word) + "</span>");
      }
    }
    table.rows.push_back(std::move(row));
  }
  return section("Volumes", listed(data, table, "eval-volumes.csv"));
}

}  // namespace headrace::report
