#include "headrace/ingest/volume/site_key.hpp"

#include <fcntl.h>
#include <openssl/rand.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/posix.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDrawnBytes = 32, kLeastBytes = 16, kMostBytes = 4096;

std::string read_key(const std::string& file) {
  const std::string text = read_file(file, kMostConfigBytes);
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0)
    line.pop_back();
  if (line.size() < kLeastBytes || line.size() > kMostBytes) {
    fail(ErrorCode::malformed,
         "{}: the key has {} bytes in its first line, expected {} to {}; without {} a good "
         "one is drawn",
         file, line.size(), kLeastBytes, kMostBytes, Option{"key_file"});
  }
  const auto readers = fs::perms::group_read | fs::perms::others_read;
  if ((fs::status(file).permissions() & readers) != fs::perms::none) {
    log::warning("{}: others may read this key; `chmod 600` keeps pseudonyms secret", file);
  }
  return line;
}

std::string draw_key() {
  std::array<unsigned char, kDrawnBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    fail(ErrorCode::io, "the system gives no random numbers for a key; give one by {}",
         Option{"key_file"});
  }
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

bool has_pseudonyms(const std::string& out) {
  for (const auto& entry : list_folder_if_there(fs::path(out) / "images")) {
    if (is_pseudonym_id(entry.path().filename().string())) return true;
  }
  return false;
}

}  // namespace

SiteKey::SiteKey(const std::string& key_file, const std::string& out) {
  store_ = storage::Place::parse(out).path().string();
  while (store_.size() > 1 && store_.ends_with('/')) store_.pop_back();
  file_ = key_file.empty() ? store_ + ".key" : key_file;
  if (lies_below(file_, store_)) {
    fail(ErrorCode::usage, "{} {}: lies in the store, whose readers must not have it",
         Option{"key_file"}, file_);
  }
  if (fs::exists(file_)) {
    key_ = read_key(file_);
    return;
  }
  if (!key_file.empty())
    fail(ErrorCode::not_found, "{} {}: there is no such file", Option{"key_file"}, file_);
  if (has_pseudonyms(store_)) {
    fail(ErrorCode::usage,
         "{}: the key of this store's pseudonyms is not there, and with another one its patients "
         "would get new names; give the key by {}, or choose another {}",
         file_, Option{"key_file"}, Option{"out"});
  }
  key_ = draw_key();
  fresh_ = true;
}

void SiteKey::keep() {
  if (!fresh_) return;
  const std::string parent = fs::path(file_).parent_path().string();
  if (const int error = parent.empty() ? 0 : posix::make_folders(parent); error != 0) {
    fail(ErrorCode::io, "{}: can't be made ({})", parent, posix::describe_errno(error));
  }
  const posix::Descriptor out = posix::open_file(file_, O_WRONLY | O_CREAT | O_EXCL, 0600);
  const std::string text = key_ + "\n";
  int error = out.valid() ? posix::write_all(out.get(), std::as_bytes(std::span(text))) : errno;
  if (error == 0) error = posix::sync(out.get());
  if (error != 0) {
    if (out.valid()) fs::remove(file_);
    fail(ErrorCode::io, "{}: the key can't be written ({})", file_, posix::describe_errno(error));
  }
  fresh_ = false;
  kept_ = true;
  log::info("{}: a new key for the pseudonyms of patients and series; keep it, and keep it secret",
            file_);
}

void SiteKey::withdraw() noexcept {
  std::error_code ignored;
  if (!kept_ || has_pseudonyms(store_)) return;
  fs::remove(file_, ignored);
  kept_ = false;
  fresh_ = true;
}

}  // namespace headrace::ingest
