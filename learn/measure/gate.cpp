#include "learn/measure/gate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "learn/measure/figure_names.hpp"

namespace headrace::measure {
namespace {

constexpr const char* kOverall = "overall";

/// "each cohort" -> "cohorts"; empty for other scopes.
std::string kind_of_each(const std::string& scope) {
  constexpr std::string_view kEach = "each ";
  return scope.starts_with(kEach) ? scope.substr(kEach.size()) + "s" : "";
}

std::string kind_of(const std::string& scope) {
  if (const std::string each = kind_of_each(scope); !each.empty()) return each;
  for (const char* kind : kGroupKinds) {
    if (scope.starts_with(std::string(kind) + ".")) return kind;
  }
  return "";
}

bool matches(const std::string& name, const std::string& pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return name == pattern;
  const std::string head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() > head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

/// The pattern with what the name has in the place of a class, so that the two can be compared.
std::string filled(const std::string& pattern, const std::string& name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern;
  const auto before =
      std::count(pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(star), '.');
  const auto after =
      std::count(pattern.begin() + static_cast<std::ptrdiff_t>(star), pattern.end(), '.');
  std::size_t from = 0, to = name.size();
  for (std::ptrdiff_t i = 0; i < before; ++i) {
    const std::size_t dot = name.find('.', from);
    if (dot == std::string::npos) return pattern;
    from = dot + 1;
  }
  for (std::ptrdiff_t i = 0; i < after; ++i) {
    const std::size_t dot = to == 0 ? std::string::npos : name.rfind('.', to - 1);
    if (dot == std::string::npos) return pattern;
    to = dot;
  }
  if (to <= from) return pattern;
  return pattern.substr(0, star) + name.substr(from, to - from) + pattern.substr(star + 1);
}

bool is_known(const std::string& name, const std::vector<std::string>& known) {
  return std::any_of(known.begin(), known.end(),
                     [&](const std::string& pattern) { return matches(name, pattern); });
}

/// A figure and its group. Where the figure stands after a group's name, which may hold dots, the
/// longest known figure at its end is it, and what is before is the group.
struct Resolved {
  std::string scope, figure;
};
std::optional<Resolved> resolve(const GateEntry& entry, const std::vector<std::string>& known) {
  if (is_known(entry.figure, known)) return Resolved{entry.scope, entry.figure};
  const std::string kind = kind_of(entry.figure);
  if (kind.empty() || entry.scope != kOverall) return std::nullopt;
  for (std::size_t dot = entry.figure.find('.', kind.size() + 2); dot != std::string::npos;
       dot = entry.figure.find('.', dot + 1)) {
    if (is_known(entry.figure.substr(dot + 1), known))
      return Resolved{entry.figure.substr(0, dot), entry.figure.substr(dot + 1)};
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const GateEntry& entry, const std::vector<std::string>& known) {
  std::vector<std::string> candidates;
  for (const std::string& pattern : known) candidates.push_back(filled(pattern, entry.figure));
  const auto nearest = nearest_name(entry.figure, candidates);
  fail(ErrorCode::usage, "{}: '{}' is not a figure of this evaluation{}.", entry.location,
       entry.figure,
       nearest ? fmt::format("; did you mean '{}'?", *nearest)
               : fmt::format("; there are {}, and the same of groups (scope: cohorts.NAME)",
                             fmt::join(known, ", ")));
}

std::string bounds_text(const GateEntry& entry) {
  std::vector<std::string> asked;
  if (entry.least) asked.push_back(fmt::format("at least {}", *entry.least));
  if (entry.most) asked.push_back(fmt::format("at most {}", *entry.most));
  return fmt::format("{}", fmt::join(asked, " and "));
}

GateFigure judge(const GateEntry& entry, const std::string& figure, const FigureGroup& group) {
  GateFigure out{entry, group.text(), figure, {}, ""};
  const auto found = figure_of_group(*group.figures, figure);
  if (!found || !found->value) {
    out.why = "is undefined on this split";
    return out;
  }
  const std::string few = group.figures->value("no_interval", "");
  if (entry.bound == GateBound::value) {
    out.found = found->value;
    if (!found->count) out.why = few;
  } else if (const auto ends = interval_of(*group.figures, found->path)) {
    out.found = (*ends)[entry.bound == GateBound::lower ? 0 : 1];
  } else {
    out.why = fmt::format(
        "has no 95 % interval here, so this can't be decided ({}eval.bootstrap of the run's config "
        "makes them, of ten cases or more)",
        few.empty() ? "" : few + "; ");
  }
  return out;
}

std::vector<GateFigure> judge_scope(const GateEntry& entry, const Resolved& what,
                                    const std::vector<FigureGroup>& groups) {
  std::vector<GateFigure> out;
  const std::string each = kind_of_each(what.scope);
  std::vector<std::string> others;
  for (const FigureGroup& group : groups) {
    if (each.empty() ? group.text() == what.scope : group.kind == each)
      out.push_back(judge(entry, what.figure, group));
    if (group.kind == kind_of(what.scope)) others.push_back(group.name);
  }
  if (!out.empty()) return out;
  GateFigure missing{entry, what.scope, what.figure, {}, ""};
  missing.why = others.empty()
                    ? fmt::format("can't be held: this evaluation has no {}", kind_of(what.scope))
                    : fmt::format("can't be held: this evaluation has no such group, only {}",
                                  fmt::join(others, ", "));
  out.push_back(std::move(missing));
  return out;
}

}  // namespace

bool GateResult::passed() const {
  return std::all_of(figures.begin(), figures.end(),
                     [](const GateFigure& f) { return f.passed(); });
}

Json GateResult::to_json() const {
  Json out = {{"passed", passed()}, {"figures", Json::array()}};
  for (const GateFigure& figure : figures) {
    Json entry = figure.asked.to_json();
    entry["figure"] = figure.figure;
    entry["group"] = figure.group;
    entry["found"] = or_null(figure.found);
    entry["passed"] = figure.passed();
    if (!figure.found) {
      entry["why"] = figure.why;
    } else if (!figure.why.empty()) {
      entry["no_interval"] = figure.why;
    }
    out["figures"].push_back(std::move(entry));
  }
  return out;
}

std::string GateFigure::text() const {
  if (!found)
    return fmt::format("gate MISSED: {} {}; {} asked for", name(), why, bounds_text(asked));
  const std::string end = asked.bound == GateBound::value
                              ? ""
                              : fmt::format(" ({} end of its 95 % interval)", name_of(asked.bound));
  return fmt::format("gate {}: {}{} {:.4f}, {} asked for{}", passed() ? "passed" : "MISSED", name(),
                     end, *found, bounds_text(asked), why.empty() ? "" : fmt::format(" ({})", why));
}

std::string GateResult::text() const {
  std::string out;
  for (const GateFigure& figure : figures) out += figure.text() + "\n";
  return out;
}

void Gate::check_names(const std::vector<std::string>& known, bool phases) const {
  for (const GateEntry& entry : entries_) {
    const auto what = resolve(entry, known);
    if (!what) refuse(entry, known);
    if (!phases && kind_of(what->scope) == "phases") {
      fail(ErrorCode::usage, "{}: scope '{}': slides have no phases. Name cohorts or scanners.",
           entry.location, what->scope);
    }
  }
}

GateResult Gate::check(const Json& evaluation) const {
  GateResult result;
  if (entries_.empty()) return result;
  const std::vector<FigureGroup> groups = groups_of(evaluation);
  std::vector<std::string> known;
  for (const NamedFigure& figure : figures_of_group(*groups.front().figures))
    known.push_back(figure.name);
  for (const GateEntry& entry : entries_) {
    // A group's own figures first: cases have some that all images together do not have.
    std::optional<Resolved> what;
    for (const FigureGroup& group : groups) {
      const std::string start = group.text() + ".";
      if (entry.scope == kOverall && entry.figure.starts_with(start) &&
          figure_of_group(*group.figures, entry.figure.substr(start.size())))
        what = Resolved{group.text(), entry.figure.substr(start.size())};
      const bool asked = group.text() == entry.scope || group.kind == kind_of_each(entry.scope);
      if (asked && figure_of_group(*group.figures, entry.figure))
        what = Resolved{entry.scope, entry.figure};
    }
    if (!what) what = resolve(entry, known);
    if (!what) refuse(entry, known);
    for (GateFigure& figure : judge_scope(entry, *what, groups))
      result.figures.push_back(std::move(figure));
  }
  return result;
}

}  // namespace headrace::measure
