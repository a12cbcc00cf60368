#include "learn/runs/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/storage/lock_file.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::runs {
namespace {

constexpr const char* kConfig = "config.json";  ///< the last file of a start
constexpr const char* kRun = "run.json";
constexpr const char* kPreprocessing = "preprocessing.json";
constexpr const char* kMetrics = "metrics.jsonl";
constexpr std::size_t kLinePiece = std::size_t{1} << 20;  // of a file of lines, read at a time
constexpr std::string_view kCheckpointPrefix = "checkpoints/step-";
constexpr std::string_view kCheckpointSuffix = ".safetensors";

std::optional<std::int64_t> step_of(const std::string& key) {
  if (!key.starts_with(kCheckpointPrefix) || !key.ends_with(kCheckpointSuffix)) return std::nullopt;
  const char* begin = key.data() + kCheckpointPrefix.size();
  const char* end = key.data() + key.size() - kCheckpointSuffix.size();
  std::int64_t step = 0;
  const auto parsed = std::from_chars(begin, end, step);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return step;
}

/// Where a path leads that is a link itself; else the path as it is.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as the system's own limit
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path bare = path.has_filename() ? path : path.parent_path();
    std::error_code no_link;
    const std::filesystem::path to = std::filesystem::read_symlink(bare, no_link);
    if (no_link) break;
    path = bare.parent_path() / to;
  }
  return path;
}

/// Of a file that grows; empty where there is none. The store keeps a file open with the size that it
/// had when it was first read, so it would not give lines that came later.
std::string text_now(const std::filesystem::path& path) {
  std::error_code absent;
  return std::filesystem::exists(path, absent) ? read_file(path) : std::string();
}

/// Of whole lines, without its newline; what a kill truncated is left out. Empty: there is none.
std::string_view last_line_of(std::string_view text) {
  text = text.substr(0, text.rfind('\n') + 1);
  if (text.empty()) return text;
  text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);
}

/// Whether a folder has nothing but what a start writes before config.json: no more, that is, than a
/// training left that was killed there.
bool holds_at_most_a_start(const std::filesystem::path& path) {
  for (const auto& entry : list_folder(path)) {
    if (!entry.is_regular_file()) return false;
  }
  const std::vector<std::string> names = storage::open_store(storage::Place::parse(path))->list("");
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name == kRun || name == kPreprocessing;
  });
}

}  // namespace

bool RunFolder::holds_run(const std::filesystem::path& path) {
  return std::filesystem::exists(storage::Place::parse(path).join(kConfig).path());
}

bool RunFolder::is_promoted(const std::filesystem::path& path) {
  return holds_run(path) &&
         std::filesystem::exists(storage::Place::parse(path).join(kGateFile).path());
}

RunFolder RunFolder::create(const std::filesystem::path& given) {
  const std::filesystem::path path = storage::Place::parse(given).path();
  if (holds_run(path)) {
    fail(ErrorCode::usage, "{} already holds a run. Continue it with {}, or give another {}.",
         path.string(), Option{"resume"}, Option{"out"});
  }
  if (std::filesystem::exists(path) &&
      (!std::filesystem::is_directory(path) || !holds_at_most_a_start(path))) {
    fail(ErrorCode::usage, "{} is not empty and holds no run. Give another {}.", path.string(),
         Option{"out"});
  }
  return RunFolder(path);
}

RunFolder RunFolder::open(const std::filesystem::path& given) {
  const std::filesystem::path path = storage::Place::parse(given).path();
  if (!holds_run(path)) {
    fail(ErrorCode::not_found,
         "{} holds no run: there is no {} in it. Give the folder of headrace train {}.",
         path.string(), kConfig, Option{"out"});
  }
  return RunFolder(behind_links(path));
}

void RunFolder::lock() {
  if (is_promoted(path())) {
    fail(
        ErrorCode::usage,
        "{} is a promoted model, which nothing may change. Train in the folder of its run, or give "
        "another {}.",
        path().string(), Option{"out"});
  }
  std::filesystem::create_directories(path());
  Lock lock{storage::try_lock_file(path() / kLockFile),
            posix::open_file(path().string(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // The folder's own lock shows followers that it is trained, and keeps out trainings of builds that
  // know no other. Where there is none, as on NFS, the file's is enough.
  const bool folder_is_taken =
      flock(lock.folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!lock.file.valid() || folder_is_taken) {
    fail(ErrorCode::usage, "Another training writes into {}. Wait for it, or give another {}.",
         path().string(), Option{"out"});
  }
  lock_ = std::make_shared<Lock>(std::move(lock));
  store_->remove_leftovers();  // a killed training leaves what it was writing, such as a checkpoint
}

void RunFolder::write(const std::string& name, const std::string& bytes) {
  store_->put(name, std::as_bytes(std::span(bytes)));
}

Json RunFolder::read_json(const std::string& name) const {
  if (!has(name)) fail(ErrorCode::not_found, "{} is missing.", describe(name));
  const std::vector<std::byte> bytes = read(name);
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, describe(name));
}

void RunFolder::append(const std::string& name, const std::string& lines) {
  std::filesystem::create_directories(path());
  const auto file = posix::open_file((path() / name).string(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  const int error =
      file.valid() ? posix::write_all(file.get(), std::as_bytes(std::span(lines))) : errno;
  if (error != 0) {
    fail(ErrorCode::io, "{}: a line cannot be written: {}", describe(name),
         posix::describe_errno(error));
  }
}

void RunFolder::sync_lines() const {
  bool any = false;
  for (const char* name : {kMetrics, kSteps}) {
    if (!has(name)) continue;
    any = true;
    const auto file = posix::open_file((path() / name).string(), O_RDONLY | O_CLOEXEC);
    if (const int error = file.valid() ? posix::sync(file.get()) : errno; error != 0) {
      fail(ErrorCode::io, "{} while syncing {}.", posix::describe_errno(error), describe(name));
    }
  }
  if (!any) return;
  if (const int error = posix::sync_folder(path().string()); error != 0) {
    fail(ErrorCode::io, "{} while syncing {}.", posix::describe_errno(error), path().string());
  }
}

void RunFolder::append_metrics(const Json& line) { append(kMetrics, line.dump() + "\n"); }

void RunFolder::append_start(const Json& line) {
  std::string all;
  for (const Json& before : lines(kStarts)) all += before.dump() + "\n";
  write(kStarts, all + line.dump() + "\n");
}

std::vector<Json> RunFolder::lines(const std::string& name, std::size_t at_most) const {
  std::vector<Json> out;
  if (at_most == 0) return out;
  for_each_line(name, [&](Json line) {
    out.push_back(std::move(line));
    return out.size() < at_most;
  });
  return out;
}

void RunFolder::for_each_line(const std::string& name,
                              const std::function<bool(Json line)>& take) const {
  const auto object = storage::open_object(storage::Place::parse((path() / name).string()));
  if (!object) return;
  // Lines may be too many for the memory, so they are read piece by piece.
  std::string text;
  std::size_t number = 0;
  for (std::uint64_t at = 0, size = object->size_bytes(); at < size;) {
    const std::size_t kept = text.size();
    text.resize(kept + std::min<std::uint64_t>(kLinePiece, size - at));
    const auto piece = std::as_writable_bytes(std::span(text).subspan(kept));
    object->read(at, piece);
    at += piece.size();
    std::size_t begin = 0;
    // What has no newline after it at the end is a kill in the middle of the write.
    for (std::size_t end, from = kept; (end = text.find('\n', from)) != std::string::npos;
         from = begin = end + 1) {
      ++number;
      if (end == begin) continue;
      const std::string line = text.substr(begin, end - begin);
      if (!take(parse_json(line, fmt::format("{}:{}", describe(name), number)))) return;
    }
    text.erase(0, begin);
  }
}

Json RunFolder::last_line(const std::string& name) const {
  if (!has(name)) return nullptr;
  const std::string text = text_now(path() / name);
  const std::string_view line = last_line_of(text);
  return line.empty() ? Json() : parse_json(line, describe(name));
}

Json RunFolder::last_metrics() const { return last_line(kMetrics); }

std::vector<Json> RunFolder::metrics() const { return lines(kMetrics); }

void RunFolder::rewind_metrics(std::int64_t step) {
  for (const char* name : {kMetrics, kSteps}) {
    if (name == kSteps && !has(name)) continue;  // a run of before it was written
    const std::string text = text_now(path() / name);
    std::string_view kept(text);
    kept = kept.substr(0, kept.rfind('\n') + 1);
    // Lines are in the order of their steps, so only those from the end are looked at.
    while (!kept.empty()) {
      const std::string_view line = last_line_of(kept);
      if (!line.empty() && parse_json(line, describe(name)).value("step", std::int64_t{0}) <= step)
        break;
      kept.remove_suffix(line.size() + 1);
    }
    write(name, std::string(kept));
  }
}

void RunFolder::set_validations_aside(const std::string& config_hash) {
  std::string kept, aside;
  const std::vector<Json> before = lines(kFormerValidations);
  for (const Json& line : before) aside += line.dump() + "\n";
  for (Json& line : metrics()) {
    if (!line.contains("validation")) {
      kept += line.dump() + "\n";
      continue;
    }
    line["config_hash"] = config_hash;
    if (std::find(before.begin(), before.end(), line) == before.end()) aside += line.dump() + "\n";
  }
  if (!aside.empty()) write(kFormerValidations, aside);
  write(kMetrics, kept);
}

std::string RunFolder::checkpoint_name(std::int64_t step) {
  return fmt::format("{}{:08}{}", kCheckpointPrefix, step, kCheckpointSuffix);
}

std::vector<std::int64_t> RunFolder::checkpoints() const {
  std::vector<std::int64_t> steps;
  for (const std::string& key : store_->list("checkpoints/")) {
    if (const auto step = step_of(key)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

void RunFolder::put_checkpoint(std::int64_t step, const std::string& bytes, std::size_t keep) {
  sync_lines();
  write(checkpoint_name(step), bytes);
  std::vector<std::int64_t> steps = checkpoints();
  while (steps.size() > keep) {
    store_->erase(checkpoint_name(steps.front()));
    steps.erase(steps.begin());
  }
}

}  // namespace headrace::runs
