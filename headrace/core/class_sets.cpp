#include "headrace/core/class_sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMostValues = 255;  // 255 is ignore

/// Values of the named classes; `where` begins each error text.
ClassSet make_set(const std::string& name, const std::vector<std::string>& members,
                  const std::vector<std::string>& classes, const std::string& where,
                  ErrorCode code) {
  if (name.empty() || std::find(classes.begin(), classes.end(), name) != classes.end()) {
    fail(code, "{}: a set needs a name that no class has, found '{}'", where, name);
  }
  ClassSet set{name, {}};
  for (const std::string& member : members) {
    const auto found = std::find(classes.begin(), classes.end(), member);
    if (found == classes.end()) {
      const auto nearest = nearest_name(member, classes);
      fail(code, "{}: '{}' of set '{}' is none of the classes ({}){}", where, member, name,
           fmt::join(classes, ", "), nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    }
    set.classes.push_back(static_cast<std::uint8_t>(found - classes.begin()));
  }
  std::sort(set.classes.begin(), set.classes.end());
  const bool twice =
      std::adjacent_find(set.classes.begin(), set.classes.end()) != set.classes.end();
  if (set.classes.size() < 2 || twice) {
    fail(code, "{}: set '{}' needs two or more different classes, found '{}'", where, name,
         fmt::join(members, "+"));
  }
  return set;
}

std::vector<ClassSet> in_order(std::vector<ClassSet> sets, std::size_t classes,
                               const std::string& where, ErrorCode code) {
  std::sort(sets.begin(), sets.end(),
            [](const ClassSet& a, const ClassSet& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < sets.size(); ++i) {
    if (sets[i].name == sets[i - 1].name)
      fail(code, "{}: set '{}' stands there twice", where, sets[i].name);
    for (std::size_t k = 0; k < i; ++k) {
      if (sets[i].classes == sets[k].classes) {
        fail(code, "{}: sets '{}' and '{}' are of the same classes; one of them is enough", where,
             sets[k].name, sets[i].name);
      }
    }
  }
  if (classes + sets.size() > kMostValues) {
    fail(code, "{}: {} classes and {} sets; {} label values are possible", where, classes,
         sets.size(), kMostValues);
  }
  return sets;
}

}  // namespace

std::vector<ClassSet> parse_class_sets(const std::vector<std::string>& texts,
                                       const std::vector<std::string>& classes,
                                       const std::string& origin) {
  std::vector<ClassSet> sets;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      fail(ErrorCode::usage,
           "{}: expected NAME=CLASS+CLASS as cancer=pattern3+pattern4, found '{}'", origin, text);
    }
    sets.push_back(make_set(text.substr(0, equals), split(text.substr(equals + 1), '+'), classes,
                            origin, ErrorCode::usage));
  }
  return in_order(std::move(sets), classes.size(), origin, ErrorCode::usage);
}

Json to_json(const std::vector<ClassSet>& sets, const std::vector<std::string>& classes) {
  Json json = Json::object();
  for (const ClassSet& set : sets) {
    for (const std::uint8_t c : set.classes) json[set.name].push_back(classes.at(c));
  }
  return json;
}

std::vector<ClassSet> class_sets_of(const Json& json, const std::vector<std::string>& classes,
                                    const std::string& origin) {
  std::map<std::string, std::vector<std::string>> named;
  try {
    named = json.get<decltype(named)>();
  } catch (const Json::exception&) {
    fail(ErrorCode::malformed, "{}: 'class_sets' is not a mapping from names to lists of classes",
         origin);
  }
  std::vector<ClassSet> sets;
  for (const auto& [name, members] : named)
    sets.push_back(make_set(name, members, classes, origin, ErrorCode::malformed));
  return in_order(std::move(sets), classes.size(), origin, ErrorCode::malformed);
}

std::vector<std::string> label_names(const std::vector<std::string>& classes,
                                     const std::vector<ClassSet>& sets) {
  std::vector<std::string> names = classes;
  for (const ClassSet& set : sets) names.push_back(set.name);
  return names;
}

std::vector<ClassMask> classes_by_value(std::size_t classes, const std::vector<ClassSet>& sets) {
  std::vector<ClassMask> out(256);
  for (std::size_t c = 0; c < classes; ++c) out[c].set(c);
  for (std::size_t k = 0; k < sets.size(); ++k) {
    for (const std::uint8_t c : sets[k].classes) out[classes + k].set(c);
  }
  return out;
}

std::vector<Membership> region_membership(const std::vector<bool>& region,
                                          const std::vector<ClassSet>& sets) {
  std::vector<Membership> by_value(256, Membership::undecided);
  for (std::size_t c = 0; c < region.size(); ++c)
    by_value[c] = region[c] ? Membership::inside : Membership::outside;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const auto& classes = sets[k].classes;
    const auto inside =
        std::count_if(classes.begin(), classes.end(), [&](std::uint8_t c) { return region[c]; });
    if (inside == 0) by_value[region.size() + k] = Membership::outside;
    if (inside == static_cast<std::ptrdiff_t>(classes.size()))
      by_value[region.size() + k] = Membership::inside;
  }
  return by_value;
}

}  // namespace headrace
