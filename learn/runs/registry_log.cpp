#include "learn/runs/registry_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "headrace/core/error.hpp"
#include "headrace/core/json_depth.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::runs {
namespace {

Json hash_of(const std::string& line) { return line.empty() ? Json() : Json(sha256_hex(line)); }

Json parse_line(const std::string& text, const std::string& place) {
  Json line = json_or_discarded(text);
  if (line.is_discarded()) {
    fail(ErrorCode::corrupt,
         "{}: not a line of a registry's log, as it is no JSON. Put the log back from a copy",
         place);
  }
  return line;
}

}  // namespace

RegistryLog RegistryLog::load(const std::filesystem::path& file) {
  RegistryLog log;
  log.file_ = file;
  if (!std::filesystem::exists(file)) return log;
  const std::string all = read_file(file);
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\n', begin);
    if (end == std::string::npos) {
      log.rest_ = true;
      break;
    }
    const std::string text = all.substr(begin, end - begin);
    const std::string place = fmt::format("{}:{}", file.string(), log.lines_.size() + 1);
    Json line = parse_line(text, place);
    if (!line.is_object() || line.value("before", Json()) != hash_of(log.last_) ||
        line.value("number", Json()) != log.lines_.size() + 1) {
      fail(ErrorCode::corrupt,
           "{}: this line does not follow the one before it: a line was changed, moved or removed. "
           "Put the log back from a copy",
           place);
    }
    log.lines_.push_back(std::move(line));
    log.last_ = text;
    begin = end + 1;
    log.size_ = begin;
  }
  return log;
}

Json RegistryLog::head() const { return hash_of(last_); }

const Json* RegistryLog::latest(const std::string& name) const {
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
    if (line->value("name", "") == name) return &*line;
  }
  return nullptr;
}

void RegistryLog::append(Json line) {
  line["number"] = lines_.size() + 1;
  line["before"] = head();
  const std::string text = line.dump();
  const auto refuse = [&](int error) {
    fail(ErrorCode::io, "{} while a line was added to {}; nothing was promoted",
         posix::describe_errno(error), file_.string());
  };
  const posix::Descriptor file = posix::open_file(file_.string(), O_WRONLY | O_CREAT | O_APPEND);
  if (!file.valid()) refuse(errno);
  const auto cut = [&] { return ::ftruncate(file.get(), static_cast<off_t>(size_)); };
  if (rest_ && cut() != 0) refuse(errno);
  const std::string bytes = text + "\n";
  int error = posix::write_all(file.get(), std::as_bytes(std::span(bytes)));
  if (error == 0) error = posix::sync(file.get());
  if (error == 0) error = posix::sync_folder(file_.parent_path().string());
  if (error != 0) {
    if (cut() != 0) {
      fail(ErrorCode::io,
           "{} while a line was added to {}, and what was written can't be cut off; "
           "the next promotion does",
           posix::describe_errno(error), file_.string());
    }
    refuse(error);
  }
  lines_.push_back(std::move(line));
  last_ = text;
  size_ += bytes.size();
  rest_ = false;
}

}  // namespace headrace::runs
