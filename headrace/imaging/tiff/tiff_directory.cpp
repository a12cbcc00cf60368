#include "headrace/imaging/tiff/tiff_directory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

constexpr std::size_t kMaxDirectories = 1024;
constexpr std::uint64_t kMaxEntries = 4096;
constexpr std::size_t kMaxText = 1024;
constexpr std::uint32_t kReducedImage = 1;  // NewSubfileType
constexpr std::uint64_t kMaxTables = 1 << 16;

struct Entry {
  std::uint16_t tag = 0, type = 0;
  std::uint64_t count = 0, value_at = 0;  ///< byte of the values in the file
};

std::uint64_t type_bytes(std::uint16_t type) {
  constexpr std::array<std::uint8_t, 19> kBytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4,
                                                8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < kBytes.size() ? kBytes[type] : 0;
}

class Parser {
 public:
  explicit Parser(const FileBytes& file) : file_(file) {}

  TiffDirectory parse_first() {
    std::uint64_t at = read_header();
    return read_directory(at);
  }

  TiffDirectory parse_at(std::uint64_t at) {
    read_header();
    return read_directory(at);
  }

  std::vector<TiffDirectory> parse() {
    std::vector<TiffDirectory> directories;
    std::set<std::uint64_t> seen;
    std::uint64_t at = read_header();
    while (at != 0) {
      if (!seen.insert(at).second || directories.size() == kMaxDirectories) {
        fail(ErrorCode::malformed,
             "{}: the chain of TIFF directories does not end (byte {} again, or over {} of them)",
             file_.path(), at, kMaxDirectories);
      }
      directories.push_back(read_directory(at));
    }
    return directories;
  }

 private:
  std::uint64_t read_header() {
    const auto head = read_bytes(0, 8, "header");
    big_endian_ = head[0] == std::byte{'M'};
    const std::uint64_t version = integer(&head[2], 2);
    big_ = version == 43;
    if (version != 42 && version != 43)
      fail(ErrorCode::malformed, "{}: is not a TIFF", file_.path());
    if (!big_) return integer(&head[4], 4);
    const auto rest = read_bytes(8, 8, "header");
    return integer(rest.data(), 8);
  }

  std::vector<std::byte> read_bytes(std::uint64_t at, std::uint64_t count,
                                    const std::string& what) const {
    if (at > file_.size() || count > file_.size() - at) {
      fail(ErrorCode::malformed,
           "{}: the TIFF's {} lies at bytes {} to {}, but the file ends at {}; it is truncated or "
           "damaged",
           file_.path(), what, at, at + count, file_.size());
    }
    std::vector<std::byte> bytes(count);
    file_.read(at, bytes);
    return bytes;
  }

  std::uint64_t integer(const std::byte* bytes, std::uint64_t count) const {
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      value = (value << 8) | std::to_integer<std::uint64_t>(bytes[big_endian_ ? i : count - 1 - i]);
    }
    return value;
  }

  /// Reads the directory at `at` and moves `at` to the next one.
  TiffDirectory read_directory(std::uint64_t& at) const {
    const std::uint64_t count_bytes = big_ ? 8 : 2, entry_bytes = big_ ? 20 : 12,
                        word = big_ ? 8 : 4;
    const auto count = integer(read_bytes(at, count_bytes, "directory").data(), count_bytes);
    if (count == 0 || count > kMaxEntries) {
      fail(ErrorCode::malformed,
           "{}: the TIFF directory at byte {} claims {} entries; 1 to {} are read", file_.path(),
           at, count, kMaxEntries);
    }
    const auto bytes = read_bytes(at + count_bytes, count * entry_bytes + word, "directory");
    TiffDirectory directory;
    directory.at = at;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte* raw = bytes.data() + i * entry_bytes;
      Entry entry;
      entry.tag = static_cast<std::uint16_t>(integer(raw, 2));
      entry.type = static_cast<std::uint16_t>(integer(raw + 2, 2));
      entry.count = integer(raw + 4, word);
      const std::uint64_t unit = type_bytes(entry.type);
      if (unit == 0) continue;  // TIFF 6.0, section 2: unknown field types are skipped
      const bool inside = entry.count <= word / unit;
      entry.value_at =
          inside ? at + count_bytes + i * entry_bytes + 4 + word : integer(raw + 4 + word, word);
      take(entry, directory);
    }
    at = integer(bytes.data() + count * entry_bytes, word);
    return directory;
  }

  std::vector<std::byte> values(const Entry& entry, std::uint64_t limit) const {
    const std::uint64_t count = std::min(entry.count, limit);
    return read_bytes(entry.value_at, count * type_bytes(entry.type),
                      fmt::format("tag {}", entry.tag));
  }

  std::uint64_t number(const Entry& entry) const {
    return integer(values(entry, 1).data(), type_bytes(entry.type));
  }

  template <typename T>
  std::vector<T> numbers(const Entry& entry) const {
    const std::uint64_t unit = type_bytes(entry.type);
    if (entry.count > file_.size() / unit) {
      fail(ErrorCode::malformed,
           "{}: TIFF tag {} claims {} values, more than the file of {} bytes can hold",
           file_.path(), entry.tag, entry.count, file_.size());
    }
    const auto bytes = values(entry, entry.count);
    std::vector<T> list(entry.count);
    for (std::uint64_t i = 0; i < entry.count; ++i) {
      const std::uint64_t value = integer(bytes.data() + i * unit, unit);
      if (value != static_cast<T>(value)) {
        fail(ErrorCode::malformed, "{}: TIFF tag {} has the value {}, which cannot be",
             file_.path(), entry.tag, value);
      }
      list[i] = static_cast<T>(value);
    }
    return list;
  }

  void take(const Entry& entry, TiffDirectory& d) const {
    if (entry.count == 0) return;
    const auto side = [&] {
      return static_cast<std::int64_t>(std::min<std::uint64_t>(number(entry), UINT32_MAX));
    };
    const auto word16 = [&] { return static_cast<std::uint16_t>(number(entry)); };
    switch (entry.tag) {
      case 254:
        d.subfile_type = static_cast<std::uint32_t>(number(entry));
        break;
      case 256:
        d.width = side();
        break;
      case 257:
        d.height = side();
        break;
      case 258:
        take_bits(entry, d);
        break;
      case 259:
        d.compression = word16();
        break;
      case 262:
        d.photometric = word16();
        break;
      case 270: {
        const auto text = values(entry, kMaxText);
        d.description.assign(reinterpret_cast<const char*>(text.data()), text.size());
        break;
      }
      case 273:
        d.blocks = entry.count;
        break;
      case 277:
        d.samples = word16();
        break;
      case 284:
        d.planar = word16();
        break;
      case 322:
        d.tile_width = side();
        break;
      case 323:
        d.tile_height = side();
        break;
      case 324:
        d.blocks = entry.count;
        d.tile_offsets = numbers<std::uint64_t>(entry);
        break;
      case 325:
        d.tile_bytes = numbers<std::uint32_t>(entry);
        break;
      case 330:
        if (entry.count <= kMaxDirectories) d.sub_directories = numbers<std::uint64_t>(entry);
        break;
      case 347:
        d.jpeg_tables = values(entry, kMaxTables);
        break;
      case 32997:
        d.image_depth = static_cast<std::uint32_t>(number(entry));
        break;
      default:
        break;
    }
  }

  void take_bits(const Entry& entry, TiffDirectory& d) const {
    const auto bits = values(entry, 16);
    const std::uint64_t unit = type_bytes(entry.type);
    d.bits = static_cast<int>(integer(bits.data(), unit));
    for (std::size_t i = unit; i < bits.size(); i += unit) {
      if (integer(bits.data() + i, unit) != static_cast<std::uint64_t>(d.bits)) d.bits = 0;
    }
  }

  const FileBytes& file_;
  bool big_endian_ = false, big_ = false;
};

std::vector<TiffDirectory> read_sub_directories(const FileBytes& file, const TiffDirectory& of) {
  std::vector<TiffDirectory> found;
  for (const std::uint64_t at : of.sub_directories) {
    try {
      found.push_back(read_tiff_directory_at(file, at));
    } catch (const Error&) {
      // The picture is whole without it.
    }
  }
  return found;
}

/// Whether a directory may be a smaller level of `full`: heights and widths were rounded, each by
/// less than a pixel.
bool is_reduced(const TiffDirectory& d, const TiffDirectory& full) {
  if (d.width < 1 || d.height < 1 || d.width >= full.width || d.height > full.height) return false;
  if (d.samples != full.samples || d.bits != full.bits) return false;
  const auto h = static_cast<double>(d.height), w = static_cast<double>(d.width);
  const auto full_h = static_cast<double>(full.height), full_w = static_cast<double>(full.width);
  return std::abs(h * full_w - w * full_h) <= full_h + full_w;
}

}  // namespace

std::vector<TiffDirectory> read_tiff_directories(const FileBytes& file) {
  return Parser(file).parse();
}

TiffDirectory read_first_tiff_directory(const FileBytes& file) {
  return Parser(file).parse_first();
}

TiffDirectory read_tiff_directory_at(const FileBytes& file, std::uint64_t at) {
  return Parser(file).parse_at(at);
}

std::vector<TiffDirectory> read_tiff_pyramid(const FileBytes& file) {
  std::vector<TiffDirectory> levels, found = read_tiff_directories(file);
  levels.push_back(std::move(found.front()));
  found.erase(found.begin());
  if (levels[0].sub_directories.empty()) {
    std::erase_if(found, [](const TiffDirectory& d) {
      return !d.tiled() || (d.subfile_type & kReducedImage) == 0;
    });
  } else {
    found = read_sub_directories(file, levels[0]);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.width > b.width; });
  for (TiffDirectory& d : found) {
    if (is_reduced(d, levels[0]) && d.width < levels.back().width) levels.push_back(std::move(d));
  }
  return levels;
}

}  // namespace headrace::imaging
