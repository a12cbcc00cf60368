#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "headrace/imaging/note.hpp"

namespace headrace::imaging::detail {

using NoteValues = std::vector<double>;

/// How many values a note has, and its sentence.
struct NoteRule {
  NoteCode code;
  std::size_t values;
  std::string (*text)(const NoteValues&);
};

const std::vector<NoteRule>& slide_note_rules();
const std::vector<NoteRule>& volume_note_rules();
const std::vector<NoteRule>& label_note_rules();  ///< of labels of slides and volumes

}  // namespace headrace::imaging::detail
