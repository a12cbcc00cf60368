#include "headrace/storage/source_stamp.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::storage {
namespace {

namespace fs = std::filesystem;

/// How much of a large file is read.
struct Pieces {
  std::uint64_t whole_bytes;  ///< files up to this are read whole
  std::uint64_t piece_bytes, count;
};
constexpr Pieces kOfFile{std::uint64_t{4} << 20, std::uint64_t{64} << 10, 64};
constexpr Pieces kAll{~std::uint64_t{0}, 0, 0};
constexpr std::uint64_t kStepBytes = std::uint64_t{4}
                                     << 20;  // at a time of a file that is read whole
constexpr Pieces kOfSlice{std::uint64_t{64} << 10, std::uint64_t{16} << 10, 4};

void add_bytes(Sha256& sha, const Object& object, const Pieces& pieces) {
  const std::uint64_t size = object.size_bytes();
  std::vector<std::byte> bytes;
  const auto add = [&](std::uint64_t offset, std::uint64_t count) {
    bytes.resize(count);
    object.read(offset, std::span<std::byte>(bytes));
    sha.update(std::span<const std::byte>(bytes));
  };
  if (size <= pieces.whole_bytes) {
    for (std::uint64_t at = 0; at < size; at += kStepBytes)
      add(at, std::min(kStepBytes, size - at));
    return;
  }
  const std::uint64_t last = size - pieces.piece_bytes;
  for (std::uint64_t i = 0; i + 1 < pieces.count; ++i)
    add(last / (pieces.count - 1) * i, pieces.piece_bytes);
  add(last, pieces.piece_bytes);
}

/// MIRAX keeps its pixels in Data*.dat files of a folder named like the slide.
std::uint64_t add_mirax_folder(Sha256& sha, const fs::path& file) {
  const fs::path folder = fs::path(file).replace_extension();
  if (file.extension() != ".mrxs" || !fs::is_directory(folder)) return 0;
  std::vector<std::string> lines;
  std::uint64_t size_bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    lines.push_back(fmt::format("{} {}\n", entry.path().filename().string(), entry.file_size()));
    size_bytes += entry.file_size();
  }
  std::sort(lines.begin(), lines.end());
  for (const auto& line : lines) sha.update(line);
  return size_bytes;
}

SourceStamp stamp(const fs::path& path, const Pieces& pieces) {
  const std::string file = path.string();
  const InputKind kind = input_kind(file);
  if (kind == InputKind::neither) fail(ErrorCode::not_found, "{}", no_input(file));
  if (kind == InputKind::folder)
    fail(ErrorCode::not_found, "{}: is a folder, expected a file", file);
  const LocalStore folder(path.has_parent_path() ? path.parent_path() : fs::path("."), 1);
  const auto object = folder.open(path.filename().string());
  if (!object) fail(ErrorCode::io, "{}: can't be opened for reading", file);
  Sha256 sha;
  SourceStamp stamp;
  stamp.size_bytes = object->size_bytes();
  add_bytes(sha, *object, pieces);
  stamp.size_bytes += add_mirax_folder(sha, path);
  stamp.sha256 = sha.hex();
  return stamp;
}

}  // namespace

SourceStamp stamp_source(const std::string& file) { return stamp(file, kOfFile); }
SourceStamp stamp_label_file(const std::string& file) { return stamp(file, kAll); }
SourceStamp stamp_slice_file(const std::string& file) { return stamp(file, kOfSlice); }

}  // namespace headrace::storage
