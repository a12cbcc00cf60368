#include "learn/runs/model_registry.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <thread>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/lock_file.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::runs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kLongestName = 100;  ///< far below what file systems take, prefixed by kLink
constexpr const char* kPart = ".part-";    ///< a model that is being written
constexpr const char* kLink = ".link-";    ///< a link that is about to replace one
constexpr std::chrono::seconds kWait{30};

[[noreturn]] void refuse(int error, const std::string& what, const fs::path& path) {
  fail(ErrorCode::io, "{} while {} {}", posix::describe_errno(error), what, path.string());
}

bool is_link_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         name.front() != '-' &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string::npos;
}

bool is_id(const std::string& name) {
  return name.size() == kIdDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> out;
  if (!fs::is_directory(folder)) return out;
  for (const auto& entry : list_folder(folder)) out.push_back(entry.path());
  return out;
}

/// Refuses a line that chains well but is none of promote's.
void check_line(const Json& line, const fs::path& log) {
  const auto text = [&](const char* key) { return line.contains(key) && line.at(key).is_string(); };
  if (text("name") && text("time") && text("by") && text("model") &&
      is_id(line.at("model").get<std::string>()) && is_link_name(line.at("name")) &&
      text("weights_sha256") && line.contains("files") && line.at("files").is_object())
    return;
  fail(ErrorCode::corrupt, "{}:{}: not a line of a registry's log. Put the log back from a copy",
       log.string(), line.at("number").dump());
}

/// What of these files a folder lacks or has otherwise, a sentence each.
std::vector<std::string> damage_of(const fs::path& folder, const Json& files) {
  const auto store = storage::open_store(storage::Place::parse(folder));
  std::vector<std::string> out;
  for (const auto& [name, hash] : files.items()) {
    if (!store->exists(name)) {
      out.push_back(fmt::format("{} is missing", (folder / name).string()));
    } else if (sha256_hex(store->get(name)) != hash.get<std::string>()) {
      out.push_back(fmt::format("{} is not what was promoted: its SHA-256 differs from the log's",
                                (folder / name).string()));
    }
  }
  return out;
}

}  // namespace

FileHashes hashes_of(const ModelFiles& files) {
  FileHashes out;
  for (const auto& [name, bytes] : files) out[name] = sha256_hex(bytes);
  return out;
}

std::string model_id(const FileHashes& files) {
  Sha256 hash;
  for (const auto& [name, sha256] : files) hash.update(fmt::format("{}  {}\n", sha256, name));
  return hash.hex().substr(0, kIdDigits);
}

Registry::Registry(fs::path path) : path_(std::move(path)) {
  if (!fs::exists(path_)) return;
  const bool folder = fs::is_directory(path_);
  if (folder && (fs::is_empty(path_) || fs::exists(path_ / kModels) || fs::exists(path_ / kLog)))
    return;
  fail(ErrorCode::usage,
       "{} is {} and no registry. Give a folder that headrace promote made, or one that is not "
       "there yet",
       path_.string(), folder ? "not empty" : "no folder");
}

fs::path Registry::link(const std::string& name) const {
  if (!is_link_name(name) || name == kModels || name == kLog) {
    fail(ErrorCode::usage,
         "'{}' can't be the name of a model: give up to {} letters, digits, '-', '_' and '.', the "
         "first neither '-' nor '.', and neither {} nor {}",
         name, kLongestName, kModels, kLog);
  }
  fs::path link = path_ / name;
  if (fs::exists(fs::symlink_status(link)) && !fs::is_symlink(fs::symlink_status(link))) {
    fail(ErrorCode::usage, "{} is in the way: a file or folder, no link to a model", link.string());
  }
  return link;
}

void Registry::lock() {
  if (const int error = posix::make_folders(path_.string()); error != 0)
    refuse(error, "making the registry", path_);
  const fs::path log = path_ / kLog;
  const auto end = std::chrono::steady_clock::now() + kWait;
  posix::Descriptor file;
  while (!(file = storage::try_lock_file(log)).valid()) {
    if (std::chrono::steady_clock::now() > end) {
      fail(ErrorCode::usage, "Another promotion into {} has gone on for {} s. Try again later",
           path_.string(), kWait.count());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  lock_ = std::make_shared<posix::Descriptor>(std::move(file));
}

RegistryLog Registry::log() const {
  RegistryLog out = RegistryLog::load(path_ / kLog);
  for (const Json& line : out.lines()) check_line(line, path_ / kLog);
  return out;
}

void Registry::check_model(const Json& line) const {
  const auto damage = damage_of(model(line.at("model")), line.at("files"));
  if (!damage.empty()) fail(ErrorCode::corrupt, "{}. Put it back from a copy", damage.front());
}

bool Registry::put_model(const std::string& id, const ModelFiles& files) {
  if (fs::exists(model(id))) {
    const auto damage = damage_of(model(id), Json(hashes_of(files)));
    if (damage.empty()) return false;
    fail(ErrorCode::corrupt, "{}. Put it back from a copy, or remove {}", damage.front(),
         model(id).string());
  }
  const std::string part = fmt::format("{}/{}{}", kModels, kPart, id);
  fs::remove_all(path_ / part);  // what a killed promotion left
  const auto store = storage::open_store(storage::Place::parse(path_));
  try {
    for (const auto& [name, bytes] : files) store->put(part + "/" + name, bytes);
    store->move_folder(part, fmt::format("{}/{}", kModels, id));
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove_all(path_ / part, ignored);
    drop_model(id);  // which was moved, but not synced
    throw;
  }
  return true;
}

void Registry::drop_model(const std::string& id) noexcept {
  std::error_code ignored;
  fs::remove_all(model(id), ignored);
}

std::string Registry::target(const std::string& name) const {
  std::error_code error;
  const fs::path to = fs::read_symlink(path_ / name, error);
  return error || to.parent_path() != kModels ? "" : to.filename().string();
}

void Registry::point(const std::string& name, const std::string& id) {
  const fs::path to = link(name), fresh = path_ / (kLink + name);
  const std::string aim = fmt::format("{}/{}", kModels, id);
  if (::unlink(fresh.c_str()) != 0 && errno != ENOENT) refuse(errno, "removing", fresh);
  if (::symlink(aim.c_str(), fresh.c_str()) != 0) refuse(errno, "making", fresh);
  if (posix::calls().rename(fresh.c_str(), to.c_str()) != 0) refuse(errno, "replacing", to);
  if (const int error = posix::sync_folder(path_.string()); error != 0)
    refuse(error, "syncing", path_);
}

void Registry::tidy(const RegistryLog& log) {
  std::map<std::string, std::string> current;
  std::set<std::string> kept;
  for (const Json& line : log.lines()) {
    current[line.at("name")] = line.at("model");
    kept.insert(line.at("model").get<std::string>());
  }
  for (const auto& [name, id] : current) {
    if (target(name) != id) point(name, id);
  }
  for (const fs::path& entry : entries_of(path_)) {
    const std::string name = entry.filename().string();
    if (name.starts_with(kLink)) fs::remove(entry);
    if (fs::is_symlink(fs::symlink_status(entry))) kept.insert(target(name));
  }
  for (const fs::path& entry : entries_of(path_ / kModels)) {
    const std::string name = entry.filename().string();
    if (name.starts_with(kPart) || (is_id(name) && !kept.contains(name))) fs::remove_all(entry);
  }
}

Registry::Links Registry::links() const {
  Links out;
  for (const fs::path& entry : entries_of(path_)) {
    const std::string name = entry.filename().string();
    if (!name.starts_with(kLink) && fs::is_symlink(fs::symlink_status(entry)))
      out[name] = target(name);
  }
  return out;
}

std::vector<std::string> Registry::stray_links(const Links& links, const RegistryLog& log) const {
  std::map<std::string, std::set<std::string>> models;  // of each name, all that it ever was
  for (const Json& line : log.lines())
    models[line.at("name").get<std::string>()].insert(line.at("model").get<std::string>());
  std::vector<std::string> out;
  for (const auto& [name, id] : links) {
    const std::string link = (path_ / name).string();
    if (!models.contains(name)) {
      out.push_back(fmt::format("{} is a name that the log does not have", link));
    } else if (!models.at(name).contains(id)) {
      out.push_back(fmt::format("{} leads to a model that the log never gave this name", link));
    }
  }
  return out;
}

RegistryState Registry::state() const {
  RegistryState out;
  const Links links = this->links();  // first: see stray_links
  RegistryLog log;
  try {
    log = this->log();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    out.damage.emplace_back(error.what());
    return out;
  }
  out.promotions = log.lines().size();
  out.head = log.head();
  out.damage = stray_links(links, log);
  std::map<std::string, RegistryState::Name> names;
  std::map<std::string, Json> files;
  for (const Json& line : log.lines()) {
    const std::string name = line.at("name"), id = line.at("model");
    const auto link = links.find(name);
    const bool followed = (link != links.end() && link->second == id) || target(name) == id;
    names[name] = {name, id, line.at("time"), line.at("by"), !followed};
    files[id] = line.at("files");
  }
  for (const auto& [id, hashes] : files) {
    for (std::string& sentence : damage_of(model(id), hashes))
      out.damage.push_back(std::move(sentence));
  }
  for (auto& [name, entry] : names) out.names.push_back(std::move(entry));
  return out;
}

}  // namespace headrace::runs
