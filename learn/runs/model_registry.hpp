#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/posix.hpp"
#include "learn/runs/registry_log.hpp"

namespace headrace::runs {

/// The files of a model, by name, with their bytes.
using ModelFiles = std::map<std::string, std::vector<std::byte>>;
/// Their SHA-256.
using FileHashes = std::map<std::string, std::string>;
FileHashes hashes_of(const ModelFiles& files);
/// The name of a model: the first 16 digits of the SHA-256 over its files' names and hashes.
std::string model_id(const FileHashes& files);

/// What a registry names, and what is wrong with it.
struct RegistryState {
  struct Name {
    std::string name, model, time, by;
    bool lags = false;  ///< its link is not there yet: a promotion was killed
  };
  std::vector<Name> names;
  std::vector<std::string> damage;  ///< a sentence each
  std::size_t promotions = 0;
  Json head;  ///< RegistryLog::head
};

/// A folder of promoted models (docs/formats.md, "Registry"): models/ID, a complete copy of each;
/// NAME, a link to one; log.jsonl, which decides what NAME is. One process at a time may change it
/// (lock); readers need no lock, since a model is there before the log names it, and a link is
/// replaced by a rename.
class Registry {
 public:
  static constexpr const char* kLog = "log.jsonl";
  static constexpr const char* kModels = "models";

  /// Makes nothing. Errors: usage (a folder that holds something else, or a file).
  explicit Registry(std::filesystem::path path);
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Makes the folder where it is absent, and keeps others from changing it as long as this object
  /// lives; waits for another promotion for a while. The lock is on the log. Errors: io (also a file
  /// system without locks), usage (another one goes on).
  void lock();
  /// As the log is now. Errors: those of RegistryLog::load; corrupt (a line that promote did not make).
  RegistryLog log() const;
  /// Refuses a model whose files are not those that this line of the log names. Errors: corrupt, io.
  void check_model(const Json& line) const;
  std::filesystem::path model(const std::string& id) const { return path_ / kModels / id; }
  /// Where a name's link is. Errors: usage (no name for a link; a file of this name that is none).
  std::filesystem::path link(const std::string& name) const;

  /// Puts a model's files into models/ID, all or nothing. One that is there is kept, if its files
  /// are these; false: it was there. Errors: io, corrupt (they are not).
  bool put_model(const std::string& id, const ModelFiles& files);
  /// Removes one that the log does not name.
  void drop_model(const std::string& id) noexcept;
  /// Every name that is a link, with the model that it leads to; empty where it leads elsewhere.
  using Links = std::map<std::string, std::string>;
  Links links() const;
  /// What no killed promotion leaves, a sentence each: links to models that the log never gave their
  /// name, or of names that it does not have. Without the lock the links are to be read before the
  /// log, which has the line of a link before the link is made.
  std::vector<std::string> stray_links(const Links& links, const RegistryLog& log) const;
  /// Lets the links follow the log, and removes what killed promotions left: parts of models, and
  /// models that neither the log nor a link names. Needs the lock, and no stray links, so that a log
  /// of which the end is lost costs no model. Errors: io.
  void tidy(const RegistryLog& log);
  /// Reads every file of every model that the log names. A promotion may go on meanwhile.
  RegistryState state() const;

 private:
  void point(const std::string& name, const std::string& id);
  std::string target(const std::string& name) const;

  std::filesystem::path path_;
  std::shared_ptr<posix::Descriptor> lock_;
};

}  // namespace headrace::runs
