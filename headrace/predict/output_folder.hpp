#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/storage/store_lock.hpp"

namespace headrace::predict {

/// Refuses an input folder that holds the output folder: results would be inputs of the next call.
/// Errors: usage.
void check_apart(const std::string& out, const std::string& input);

/// The folder of a prediction: out/<id> for each finished image, predict.json with what all of them
/// were made with, .inputs.json with the files that are finished, and .work while files are
/// ingested. One process at a time.
class OutputFolder {
 public:
  /// `identity`: runs, weights and options that decide a result. Errors: usage (the folder holds a
  /// prediction of another identity, or something else), io (another process predicts there).
  OutputFolder(const std::string& path, const Json& identity);

  std::filesystem::path result(const std::string& id) const { return path_ / id; }
  /// The store into which these inputs are ingested, the same for the same inputs.
  std::string store_for(const std::vector<std::string>& inputs) const;
  /// Removes what was ingested.
  void clear_work() const;
  /// The key by which patients get the same names in every call; empty as long as nothing needed
  /// one. It lies beside the folder, not in it, since whoever gets the results must not have it.
  std::string patients_key() const;
  /// Takes over the key that ingest made for a store of store_for, if it made one. Errors: io.
  void keep_patients_key(const std::string& store) const;

  /// The images of these inputs where all are files that were finished in an earlier call and have
  /// not changed since. None where that can't be told, as for folders. Errors: usage (a file that
  /// is finished has changed).
  std::optional<std::vector<std::string>> finished(const std::vector<std::string>& inputs) const;
  /// Whether an earlier call finished files of these names.
  bool knows(const std::vector<std::string>& inputs) const;
  void mark_finished(const std::vector<std::string>& inputs, const std::vector<std::string>& ids);
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static constexpr const char* kWork = ".work";
  std::filesystem::path path_;
  Json inputs_ = Json::object();  ///< .inputs.json: by joined paths {stamps, images}
  storage::StoreLock lock_;
};

}  // namespace headrace::predict
