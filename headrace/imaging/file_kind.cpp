#include "headrace/imaging/file_kind.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

FileKind file_kind(const storage::Object& file) {
  using namespace std::string_view_literals;
  const auto head = file.head(8);
  if (starts_with(head, "\x89PNG\r\n\x1a\n"sv)) return FileKind::png;
  if (starts_with(head, "\xff\xd8\xff"sv)) return FileKind::jpeg;
  for (const auto magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (starts_with(head, magic)) return FileKind::tiff;
  }
  return FileKind::other;
}

FileKind file_kind(const std::string& path) { return file_kind(*storage::open_input(path)); }

bool is_dicom_file(const std::string& path) {
  constexpr std::size_t kPreamble = 128;
  const auto head = storage::open_input(path)->head(kPreamble + 4);
  return head.size() == kPreamble + 4 && starts_with(std::span(head).subspan(kPreamble), "DICM");
}

bool looks_like_dicom(const std::string& path) {
  if (is_dicom_file(path)) return true;
  const auto head = storage::open_input(path)->head(8);
  if (head.size() < 8) return false;
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(head[i]); };
  const bool little =
      (byte(0) == 2 || byte(0) == 8) && byte(1) == 0 && byte(2) <= 0x18 && byte(3) == 0;
  // Explicit value representation, or a length that fits a first element of these groups.
  const bool vr = byte(4) >= 'A' && byte(4) <= 'Z' && byte(5) >= 'A' && byte(5) <= 'Z';
  const bool length = byte(5) == 0 && byte(6) == 0 && byte(7) == 0 && byte(4) <= 64;
  return little && (vr || length);
}

std::string describe_head(const storage::Object& file) {
  const auto head = file.head(16);
  if (head.empty()) return "nothing, the file is empty";
  const auto printable = [](std::byte b) {
    return (b >= std::byte{32} && b < std::byte{127}) || b == std::byte{10} || b == std::byte{13} ||
           b == std::byte{9};
  };
  std::string text;
  if (std::all_of(head.begin(), head.end(), printable)) {
    for (const std::byte b : head) text += b < std::byte{32} ? ' ' : char(b);
    return "the text \"" + text + "\"";
  }
  for (const std::byte b : std::span(head).first(std::min<std::size_t>(8, head.size()))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", unsigned(b));
  }
  return "the bytes " + text;
}

std::string describe_head(const std::string& path) {
  return describe_head(*storage::open_input(path));
}

void check_whole_image(const storage::Object& file, std::int64_t height, std::int64_t width) {
  const auto wanted = static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width) * 3;
  if (wanted > kMaxWholeImageBytes) {
    fail(ErrorCode::memory,
         "{}: {}x{} pixels need {} bytes in memory, the limit is {}; convert it to a tiled TIFF",
         file.describe(), width, height, wanted, kMaxWholeImageBytes);
  }
  if (wanted / 20000 > file.size_bytes()) {
    fail(ErrorCode::corrupt, "{}: claims {}x{} pixels in a file of {} bytes; it is damaged",
         file.describe(), width, height, file.size_bytes());
  }
}

}  // namespace headrace::imaging
