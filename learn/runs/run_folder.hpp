#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/store_lock.hpp"

namespace headrace::runs {

constexpr const char* kFinalWeights = "final.safetensors";
constexpr const char* kBestWeights = "best.safetensors";
constexpr const char* kSteps = "steps.jsonl";
constexpr const char* kStarts = "starts.jsonl";
constexpr const char* kFormerValidations = "former-validations.jsonl";
/// Empty; locked while a training writes. Of the name that stores do not list.
constexpr const char* kLockFile = storage::StoreLock::kFile;
constexpr const char* kGateFile = "gate.json";  ///< only of promoted models

/// The files of one run (docs/formats.md, "Run folder"). Every file is written whole or not at all;
/// those of lines grow by whole lines.
class RunFolder {
 public:
  /// A folder for a new run: absent, empty, or what a training left that was killed before it had
  /// begun. The first write, or lock, creates it. Errors: usage (it holds a run, or anything else),
  /// unsupported (a URL), as all that take a path.
  static RunFolder create(const std::filesystem::path& path);
  /// The folder of a run that was started. A link, such as a name in a registry, is followed once,
  /// so that all files are of one run even if the link is replaced meanwhile. Errors: not_found.
  static RunFolder open(const std::filesystem::path& path);
  static bool holds_run(const std::filesystem::path& path);
  /// Whether it is a model of a registry, which nothing may change.
  static bool is_promoted(const std::filesystem::path& path);

  /// Keeps other trainings out of the folder as long as this object, or a copy of it, lives;
  /// creates the folder if absent, and removes what a killed one was writing. Errors: usage (another
  /// training has it; a promoted model), io (its file system has no locks).
  void lock();

  void write(const std::string& name, const std::string& bytes);
  void write_json(const std::string& name, const Json& value) { write(name, dump_json(value)); }
  std::vector<std::byte> read(const std::string& name) const { return store_->get(name); }
  Json read_json(const std::string& name) const;
  bool has(const std::string& name) const { return store_->exists(name); }
  std::string describe(const std::string& name) const { return store_->describe(name); }
  const std::filesystem::path& path() const noexcept { return path_; }
  const storage::Store& files() const noexcept { return *store_; }

  void append_metrics(const Json& line);
  /// Drops the lines of steps after `step`, and a last line that a kill truncated, from metrics.jsonl
  /// and steps.jsonl.
  void rewind_metrics(std::int64_t step);
  /// Moves the lines of validations from metrics.jsonl to former-validations.jsonl, where each says by
  /// which `config_hash` it was judged. Repeated after a kill in between it moves none twice.
  void set_validations_aside(const std::string& config_hash);
  std::vector<Json> metrics() const;
  /// Lines of steps.jsonl, each with its newline.
  void append_steps(const std::string& lines) { append(kSteps, lines); }
  /// A further line of starts.jsonl, which is written whole.
  void append_start(const Json& line);
  /// The whole lines of a file of lines, without what a kill truncated; none where it is absent.
  /// `at_most` of them. Errors: malformed.
  std::vector<Json> lines(const std::string& name, std::size_t at_most = SIZE_MAX) const;
  /// The same, one by one, until `take` returns false: a file may have a line for each of millions
  /// of steps.
  void for_each_line(const std::string& name, const std::function<bool(Json line)>& take) const;
  /// The last whole line of a file of lines; null: there is none.
  Json last_line(const std::string& name) const;
  Json last_metrics() const;  ///< that of metrics.jsonl

  /// Steps that have a checkpoint, ascending.
  std::vector<std::int64_t> checkpoints() const;
  static std::string checkpoint_name(std::int64_t step);
  /// Stores a checkpoint, then removes all but the newest `keep`. What was appended before is on the
  /// disk by then, so that no checkpoint outlives the lines of its steps.
  void put_checkpoint(std::int64_t step, const std::string& bytes, std::size_t keep = 2);

 private:
  void append(const std::string& name, const std::string& lines);
  void sync_lines() const;

  explicit RunFolder(const std::filesystem::path& path)
      : path_(path), store_(storage::open_store(storage::Place::parse(path))) {}

  std::filesystem::path path_;
  std::shared_ptr<storage::Store> store_;
  struct Lock {
    posix::Descriptor file, folder;
  };
  std::shared_ptr<Lock> lock_;
};

}  // namespace headrace::runs
