#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/cohort/store_version.hpp"
#include "headrace/ingest/store/recording_store.hpp"

namespace headrace::ingest {

/// Name of the label image made from annotations.
inline constexpr const char* kLabelName = "annotation";

/// The folder where label images are written before they have a name; nothing below it outlives a
/// run.
inline constexpr const char* kStagedLabels = ".ingest/labels/";

/// A label image that is being stored. It is written aside, and gets its name from its content:
/// <set>-<12 digits of the SHA-256 of its arrays>. So equal labels are stored once, and what a
/// version names never changes.
class StagedLabels {
 public:
  StagedLabels(std::shared_ptr<storage::Store> store, std::string image, std::string set);
  ~StagedLabels();  ///< removes an unfinished group
  StagedLabels(const StagedLabels&) = delete;
  StagedLabels& operator=(const StagedLabels&) = delete;

  const std::shared_ptr<RecordingStore>& store() const noexcept { return recording_; }
  /// The folder to write the group into.
  const std::string& folder() const noexcept { return folder_; }
  /// Moves the group, whose arrays and zarr.json are all written, to its place, unless one with the
  /// same content is there, and writes the list of its objects.
  cohort::VersionLabel finish();
  /// Bytes that finish() has added to the store.
  std::uint64_t bytes_added() const noexcept { return bytes_added_; }

 private:
  std::string digest() const;

  std::shared_ptr<storage::Store> store_;
  std::string image_, set_, folder_;
  std::shared_ptr<RecordingStore> recording_;
  std::uint64_t bytes_added_ = 0;
};

/// sources/<image>.json: the label groups made from the files read so far, by the files'
/// fingerprint, so that unchanged files need not be read again. Only a memory: it belongs to no
/// version, and without it the resulting versions are the same.
std::optional<std::string> remembered_group(const storage::Store& store, const std::string& image,
                                            const std::string& fingerprint);
void remember_group(storage::Store& store, const std::string& image, const std::string& fingerprint,
                    const std::string& group);
/// Whether what a stored group holds was settled by other masks of its run, too: what 255 means in a
/// mask without other values. Its files are read again, since the others may have changed.
bool follows_other_masks(const storage::Store& store, const std::string& image,
                         const std::string& group);
/// Forgets the groups that are not stored any more.
void forget_missing_groups(storage::Store& store, const std::string& image);
/// Whether the object is as it was written. Errors: io.
bool is_sound_memory(const std::string& text);

}  // namespace headrace::ingest
