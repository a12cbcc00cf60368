#include "headrace/cohort/stored_notes.hpp"

#include <fmt/format.h>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/imaging/note.hpp"

namespace headrace::cohort {
namespace {

/// Images that an older Headrace stored have sentences, those of a newer one may have notes that
/// can't be read: no reason to fail once the version is there.
std::string sentence_of(const Json& note, const std::string& origin) {
  if (note.is_string()) return note.get<std::string>();
  try {
    return text_of(imaging::note_from_json(note, origin));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::malformed) throw;
    return "a note that can't be read: of a newer version, or damaged";
  }
}

class NoteReader {
 public:
  explicit NoteReader(const storage::Store& store) : store_(store) {}

  /// `group`: the key of a group's zarr.json.
  void read(const std::string& group, const std::string& image, const std::string& labels) {
    const Json attributes =
        parse_json(store_.get_text(group), store_.describe(group)).value("attributes", Json());
    if (!attributes.is_object() || !attributes.contains("headrace")) return;
    const Json& own = attributes.at("headrace");
    if (!own.is_object() || !own.contains("notes")) return;
    const Json& notes = own.at("notes");
    // What is no list reads as one note that can't be read.
    for (const Json& note : notes.is_array() ? notes : Json::array({Json()}))
      found_.push_back({image, labels, sentence_of(note, group)});
  }

  std::vector<StoredNote> take() { return std::move(found_); }

 private:
  const storage::Store& store_;
  std::vector<StoredNote> found_;
};

}  // namespace

std::vector<StoredNote> notes_of(const Cohort& cohort) {
  const auto store = cohort.store();
  const auto version = StoreVersion::load(*store, cohort.dataset_hash());
  NoteReader reader(*store);
  for (const auto& [id, image] : version.images) {
    reader.read(fmt::format("images/{}/zarr.json", id), id, "");
    for (const auto& [set, label] : image.labels)
      reader.read(fmt::format("images/{}/labels/{}/zarr.json", id, label.group), id, set);
  }
  return reader.take();
}

}  // namespace headrace::cohort
