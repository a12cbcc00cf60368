#pragma once
#include <filesystem>
#include <map>
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
/// were made with, .inputs.json with the inputs that are finished and the contents of images, and
/// .work while files are ingested. One process at a time.
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
  /// Takes over the key that ingest made for a store of store_for, if it made one, so that none is
  /// left in the folder. Errors: io.
  void keep_patients_key(const std::string& store) const;

  /// What tells whether inputs have changed, one text each: of a file its content, of a folder the
  /// names, sizes and times of its files; empty where there is none. Errors: io.
  static std::vector<std::string> stamps_of(const std::vector<std::string>& inputs);
  /// The images of these inputs where an earlier call finished them and they are as they were; none
  /// where that is not known, as of a folder in which anything changed: its images decide. Errors:
  /// usage (a file that is finished has changed).
  std::optional<std::vector<std::string>> finished(const std::vector<std::string>& inputs) const;
  /// The same, whether they have changed or not.
  std::vector<std::string> images_of(const std::vector<std::string>& inputs) const;
  /// `stamps`: of before the inputs were read.
  void mark_finished(const std::vector<std::string>& inputs, const std::vector<std::string>& stamps,
                     const std::vector<std::string>& ids);

  /// Hash of the content of which an image's result was made, or is being made; empty: not known.
  std::string content_of(const std::string& id) const;
  /// Before the first result of these is there: contents by id.
  void remember(const std::map<std::string, std::string>& contents);
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void keep_known();

  static constexpr const char *kWork = ".work", *kInputs = "inputs", *kImages = "images";
  std::filesystem::path path_;
  /// .inputs.json: by joined paths {stamps, images}; by image its content.
  Json known_ = {{kInputs, Json::object()}, {kImages, Json::object()}};
  storage::StoreLock lock_;
};

}  // namespace headrace::predict
