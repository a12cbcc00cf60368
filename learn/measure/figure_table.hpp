#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::measure {

struct VolumeFigures;

/// Of what images an evaluation is.
enum class JudgedKind : std::uint8_t { slides = 1, volumes = 2, both = 3 };
enum class Better : std::uint8_t { more, less };

/// What a figure is called where it is shown; empty: it is not shown there. "{class}" stands for the
/// name of a class, "{region}" for what the tumour is called ("tumour", or "foreground").
struct FigurePlace {
  std::string_view text;
  JudgedKind of = JudgedKind::both;  ///< shown only in evaluations of these
};

/// Places among the main figures of a task, from 1 on; 0: none. The first sorts groups.
struct MainPlaces {
  int grading = 0, lesions = 0, volumes = 0, slides = 0;
};

/// What leaves to trackers, by places from 1 on; 0: it does not. A key that is new comes last.
struct TrackedPlaces {
  int number = 0;  ///< of validations and groups, with all numbers that are below its first key
  int column = 0;  ///< of the tables of groups, with its interval
};

/// One row: all that is said of a figure of eval.json, or of one that each class has.
struct Figure {
  /// Its path in a group of eval.json, joined by dots; "{class}" for the name of a class, which is
  /// last, or before the last key; other words in braces for what else varies.
  std::string_view key;
  std::string_view title;  ///< for people; of main figures as it is shown
  std::string_view unit = {};
  JudgedKind of = JudgedKind::both;
  Better better = Better::more;
  double margin = 0.02;     ///< that a promotion allows where nobody says one, in its unit
  int digits = 3;           ///< after the point, in reports
  bool background = false;  ///< of figures by class: class 0 has one, too
  bool count = false;       ///< how many, not how good
  bool asked = false;       ///< stated by the config, not found
  /// Of a volume, by class; the group's figure is the mean of the defined ones. Null: made otherwise.
  std::vector<std::optional<double>> VolumeFigures::*values = nullptr;
  /// It was added when there were evaluations: those without it are read, and it is undefined there.
  bool later = false;

  // Where it appears, each in the order of the table.
  std::string_view csv = {};        ///< column of the evaluation's CSV
  std::string_view image_key = {};  ///< its path in images[], where that is another one
  MainPlaces main = {};
  FigurePlace baseline = {};         ///< report: row beside the baseline
  FigurePlace by_group = {};         ///< report: a table of all groups by class
  FigurePlace group_column = {};     ///< report: column of groups where it is no main figure
  FigurePlace class_column = {};     ///< report: column of classes
  bool class_interval = true;        ///< report: with its interval there
  FigurePlace image_column = {};     ///< report: column of single images
  std::string_view lesion_row = {};  ///< report: row of the detection of lesions
  std::string_view console = {};     ///< `headrace eval`: before its value
  bool console_baseline = false;     ///< `headrace eval`: after it that of the baseline
  std::string_view validation = {};  ///< key in validations of metrics.jsonl
  bool compared = false;             ///< a line of `headrace diff`; its JSON has all
  TrackedPlaces tracked = {};

  bool by_class() const { return key.find("{class}") != std::string_view::npos; }
  /// Whether evaluations of this kind have it.
  bool in(JudgedKind kind) const;
  /// The path in a group, or in an image, of the figure of a class.
  JsonPath path(std::string_view of_class = {}) const;
  JsonPath image_path(std::string_view of_class = {}) const;
  /// The path without the class: of an object by class.
  JsonPath root() const;
};

/// Every figure of evaluations that is no mere count, and the counts that are shown or compared.
std::span<const Figure> figure_table();

/// The row of a figure by its name (figure_names.hpp); null where there is none.
const Figure* find_figure(std::string_view name);

/// The rows that are shown at a place of an evaluation, in order.
std::vector<const Figure*> figures_at(FigurePlace Figure::*place, JudgedKind kind);
/// The rows with values of single volumes, in order.
std::vector<const Figure*> figures_of_volumes();

/// A text of the table with the names in it.
std::string filled(std::string_view text, std::string_view of_class, std::string_view region);

/// For programs in other languages: [{key, title, unit, of[], smaller_is_better, by_class,
/// validation, tracked{number, column}}]. What a row does not have is empty, or 0.
Json figure_table_json();

}  // namespace headrace::measure
