#include "headrace/imaging/source_stamp.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/slide/slide_formats.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/read_runs.hpp"

namespace headrace::imaging {
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

/// Pieces are asked for together: of an object on a server each is a request.
void add_bytes(Sha256& sha, const storage::Object& object, const Pieces& pieces) {
  const std::uint64_t size = object.size_bytes();
  std::vector<storage::ByteRun> all;
  if (size <= pieces.whole_bytes) {
    for (std::uint64_t at = 0; at < size; at += kStepBytes)
      all.push_back({at, std::min(kStepBytes, size - at)});
  } else {
    const std::uint64_t last = size - pieces.piece_bytes;
    for (std::uint64_t i = 0; i + 1 < pieces.count; ++i)
      all.push_back({last / (pieces.count - 1) * i, pieces.piece_bytes});
    all.push_back({last, pieces.piece_bytes});
  }
  const std::size_t at_once =
      object.cost().asynchronous && size > pieces.whole_bytes ? all.size() : 1;
  for (std::size_t first = 0; first < all.size(); first += at_once) {
    const auto some = std::span(all).subspan(first, std::min(at_once, all.size() - first));
    const auto bytes = storage::read_runs(object, some);
    for (std::size_t i = 0; i < some.size(); ++i) sha.update(bytes.of(i));
  }
}

/// What a slide keeps besides the file that is opened may be many gigabytes: names and sizes do.
std::uint64_t add_files_beside(Sha256& sha, const fs::path& file) {
  std::vector<std::string> lines;
  std::uint64_t size_bytes = 0;
  for (const std::string& path : files_beside(file.string())) {
    const std::uint64_t size = fs::file_size(path);
    lines.push_back(fmt::format("{} {}\n", fs::path(path).filename().string(), size));
    size_bytes += size;
  }
  std::sort(lines.begin(), lines.end());
  for (const auto& line : lines) sha.update(line);
  return size_bytes;
}

SourceStamp stamp(const storage::Object& object, const Pieces& pieces) {
  Sha256 sha;
  add_bytes(sha, object, pieces);
  return {object.size_bytes(), sha.hex()};
}

SourceStamp stamp(const std::string& file, const Pieces& pieces) {
  if (storage::is_remote(file)) return stamp(*storage::open_input(file), pieces);
  const InputKind kind = input_kind(file);
  if (kind == InputKind::neither) fail(ErrorCode::not_found, "{}", no_input(file));
  if (kind == InputKind::folder)
    fail(ErrorCode::not_found, "{}: is a folder, expected a file", file);
  const auto object = storage::open_input(file);
  Sha256 sha;
  SourceStamp stamp;
  stamp.size_bytes = object->size_bytes();
  add_bytes(sha, *object, pieces);
  stamp.size_bytes += add_files_beside(sha, file);
  stamp.sha256 = sha.hex();
  return stamp;
}

}  // namespace

SourceStamp stamp_source(const std::string& file) { return stamp(file, kOfFile); }
SourceStamp stamp_source(const storage::Object& object) { return stamp(object, kOfFile); }
SourceStamp stamp_label_file(const std::string& file) { return stamp(file, kAll); }
SourceStamp stamp_slice_file(const std::string& file) { return stamp(file, kOfSlice); }

}  // namespace headrace::imaging
