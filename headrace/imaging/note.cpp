#include "headrace/imaging/note.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"
#include "headrace/imaging/note_rules.hpp"

namespace headrace::imaging {
namespace {

const detail::NoteRule& rule_of(NoteCode code) {
  for (const auto* rules :
       {&detail::slide_note_rules(), &detail::volume_note_rules(), &detail::label_note_rules()}) {
    for (const detail::NoteRule& rule : *rules) {
      if (rule.code == code) return rule;
    }
  }
  fail(ErrorCode::internal, "a note of unknown code");
}

}  // namespace

std::size_t value_count(NoteCode code) { return rule_of(code).values; }

Note make_note(NoteCode code, std::vector<double> values) {
  if (values.size() != value_count(code)) {
    fail(ErrorCode::internal, "a note '{}' of {} values, expected {}", headrace::name_of(code),
         values.size(), value_count(code));
  }
  for (double& value : values) value = to_six_decimals(value);
  return {code, std::move(values)};
}

std::string fault_text(const Note& note, const SliceWords& words) {
  const auto& v = note.values;
  switch (note.code) {
    case NoteCode::slices_missing:
      return fmt::format(
          "{:.0f} of {:.0f} slices missing (first between {} at {:.2f} mm and {} at {:.2f} mm "
          "along the normal), where neighbours are {:.3f} mm apart",
          v[0], v[1], words(v[2]), v[3], words(v[4]), v[5], v[6]);
    case NoteCode::slices_doubled:
      return fmt::format(
          "{:.0f} slices doubled (first {} and {}, both at {:.2f} mm along the normal)", v[0],
          words(v[1]), words(v[2]), v[3]);
    case NoteCode::slices_uneven:
      return fmt::format("unevenly spaced slices ({:.3f} to {:.3f} mm, first between {} and {})",
                         v[0], v[1], words(v[2]), words(v[3]));
    case NoteCode::slices_shifted:
      return fmt::format(
          "slices shifted against each other by up to {:.2f} mm in their plane (gantry tilt "
          "{:.1f} degrees)",
          v[0], v[1]);
    default:
      fail(ErrorCode::internal, "a note '{}', expected a fault of slices",
           headrace::name_of(note.code));
  }
}

std::string text_of(const Note& note) { return rule_of(note.code).text(note.values); }

Json to_json(const Note& note) {
  return {{"code", std::string(headrace::name_of(note.code))}, {"values", note.values}};
}

Json to_json(const std::vector<Note>& notes) {
  Json list = Json::array();
  for (const Note& note : notes) list.push_back(to_json(note));
  return list;
}

Note note_from_json(const Json& json, const std::string& origin) {
  try {
    const auto code = value_named<NoteCode>(json.at("code").get<std::string>());
    const auto values = json.at("values").get<std::vector<double>>();
    if (code && values.size() == value_count(*code)) return {*code, values};
  } catch (const Json::exception&) {
    // Told below.
  }
  fail(ErrorCode::malformed,
       "{}: a note that can't be read: of a newer version, or damaged; headrace verify checks the "
       "store",
       origin);
}

}  // namespace headrace::imaging
