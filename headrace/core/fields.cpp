#include "headrace/core/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

bool belongs(const Field& field) { return !field.misfit || field.misfit().empty(); }

/// As in YAML, without quotes.
std::string plain_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::vector<std::string> entries;
  for (const Json& entry : value) entries.push_back(plain_text(entry));
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

void read_field(YamlMap& map, const Field& field) {
  const auto value = map.find(field.key);
  if (!value) {
    if (field.form.read_null && belongs(field) && map.has(field.key)) field.form.read_null();
    return;
  }
  if (field.misfit) {
    if (const std::string problem = field.misfit(); !problem.empty()) value->reject(problem);
  }
  if (field.form.inner == nullptr) {
    if (!field.form.read) fail(ErrorCode::internal, "key {} has no reader here", field.key);
    return field.form.read(*value);
  }
  YamlMap nested(*value);
  read_fields(nested, *field.form.inner);
  nested.finish();
}

}  // namespace

Field Field::unless(std::function<std::string()> problem) && {
  misfit = std::move(problem);
  return std::move(*this);
}
Field Field::decides_nothing() && {
  hash = Hashed::never;
  return std::move(*this);
}
Field Field::hashed_if(bool counts) && {
  hash = counts ? Hashed::yes : Hashed::not_now;
  return std::move(*this);
}
Field Field::written_if(bool present) && {
  in_json = present;
  return std::move(*this);
}

void read_fields(YamlMap& map, const Fields& fields) {
  for (const Field& field : fields) read_field(map, field);
}

Json fields_json(const Fields& fields) {
  Json json = Json::object();
  for (const Field& field : fields) {
    if (!field.in_json || !belongs(field)) continue;
    json[field.key] =
        field.form.inner == nullptr ? field.form.json() : fields_json(*field.form.inner);
  }
  return json;
}

Json hashed_json(const Fields& fields) {
  Json json = Json::object();
  for (const Field& field : fields) {
    if (!field.in_json || field.hash != Hashed::yes || !belongs(field)) continue;
    json[field.key] =
        field.form.inner == nullptr ? field.form.json() : hashed_json(*field.form.inner);
  }
  return json;
}

std::vector<KeyFacts> list_keys(const Fields& fields, const std::string& prefix) {
  std::vector<KeyFacts> keys;
  for (const Field& field : fields) {
    const std::string key = prefix + field.key;
    if (field.form.inner != nullptr) {
      for (KeyFacts& one : list_keys(*field.form.inner, key + ".")) keys.push_back(std::move(one));
      continue;
    }
    keys.push_back(
        {key, field.default_text.empty() ? plain_text(field.form.json()) : field.default_text,
         field.form.accepts, field.text, field.form.choices, field.hash == Hashed::never});
  }
  return keys;
}

namespace detail {
std::string limits_text(double low, double high) { return fmt::format("{} to {}", low, high); }
std::string limits_text(std::int64_t low, std::int64_t high) {
  return fmt::format("{} to {}", low, high);
}
}  // namespace detail

namespace form {

Form flag(bool& value) {
  return {[&value](const YamlValue& from) { value = from.as_bool(); },
          [&value] { return Json(value); },
          "true or false",
          {}};
}

Form text(std::string& value) {
  return {[&value](const YamlValue& from) { value = from.as_string(); },
          [&value] { return Json(value); },
          "text",
          {}};
}

Form text_or_null(std::string& value) {
  Form form = text(value);
  form.json = [&value] { return value.empty() ? Json(nullptr) : Json(value); };
  form.accepts = "text or null";
  form.read_null = [&value] { value.clear(); };
  return form;
}

Form texts(std::vector<std::string>& values) {
  return {[&values](const YamlValue& from) {
            values.clear();
            for (const YamlValue& entry : from.as_list()) values.push_back(entry.as_string());
          },
          [&values] { return Json(values); },
          "a list of names",
          {}};
}

Form distinct_texts(std::vector<std::string>& values, std::string what) {
  Form form = texts(values);
  form.read = [&values, what = std::move(what)](const YamlValue& from) {
    values.clear();
    for (const YamlValue& entry : from.as_list()) {
      std::string name = entry.as_string();
      if (std::find(values.begin(), values.end(), name) != values.end())
        entry.reject(fmt::format("{} '{}' stands twice in the list; keep one", what, name));
      values.push_back(std::move(name));
    }
  };
  return form;
}

Form section(Fields inner) {
  return {.read = {},
          .json = {},
          .accepts = "keys",
          .choices = {},
          .inner = std::make_shared<const Fields>(std::move(inner))};
}

Form one_of(std::vector<std::string> names, std::function<void(const std::string&)> set,
            std::function<std::string_view()> name) {
  const std::string accepts = fmt::format("{}", fmt::join(names, ", "));
  return {[names, set = std::move(set)](const YamlValue& from) { set(from.as_choice(names)); },
          [name = std::move(name)] { return Json(std::string(name())); }, accepts, names};
}

}  // namespace form
}  // namespace headrace
