#include "headrace/ingest/source_stamp.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kWholeBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kPieces = 64;

void add_bytes(Sha256& sha, const storage::Object& object) {
  const std::uint64_t size = object.size_bytes();
  const bool whole = size <= kWholeBytes;
  const std::uint64_t pieces = whole ? 1 : kPieces;
  std::vector<std::byte> bytes(whole ? size : kPieceBytes);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const std::uint64_t offset = whole ? 0 : (size - kPieceBytes) / (kPieces - 1) * i;
    object.read(i + 1 == pieces && !whole ? size - kPieceBytes : offset,
                std::span<std::byte>(bytes));
    sha.update(std::span<const std::byte>(bytes));
  }
}

/// MIRAX keeps its pixels in Data*.dat files of a folder named as the slide.
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

}  // namespace

SourceStamp stamp_source(const std::string& file) {
  const fs::path path(file);
  if (!fs::is_regular_file(path)) fail(ErrorCode::not_found, "{}: there is no such file", file);
  const storage::LocalStore folder(path.has_parent_path() ? path.parent_path() : fs::path("."), 1);
  const auto object = folder.open(path.filename().string());
  if (!object) fail(ErrorCode::io, "{}: can't be opened for reading", file);
  Sha256 sha;
  SourceStamp stamp;
  stamp.size_bytes = object->size_bytes();
  add_bytes(sha, *object);
  stamp.size_bytes += add_mirax_folder(sha, path);
  stamp.sha256 = sha.hex();
  return stamp;
}

}  // namespace headrace::ingest
