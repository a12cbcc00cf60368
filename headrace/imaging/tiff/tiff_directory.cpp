#include "headrace/imaging/tiff/tiff_directory.hpp"

#include <algorithm>
#include <array>
#include <bit>
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
  explicit Parser(const storage::Object& file) : file_(file) {}

  TiffDirectory parse_first() {
    std::uint64_t at = read_header();
    return read_directory(at);
  }

  TiffDirectory parse_at(std::uint64_t at) {
    read_header();
    return read_directory(at);
  }

  /// damaged: null, or set where a directory after the first can't be read. Errors: corrupt (the
  /// file ends before a directory).
  std::vector<TiffDirectory> parse(bool* damaged) {
    std::vector<TiffDirectory> directories;
    try {
      parse_chain(directories);
    } catch (const Error& error) {
      const bool cut = error.code() == ErrorCode::corrupt ||  // pixels are missing, too
                       error.code() == ErrorCode::io;
      if (damaged == nullptr || directories.empty() || cut) throw;
      *damaged = true;
    }
    return directories;
  }

 private:
  void parse_chain(std::vector<TiffDirectory>& directories) {
    std::set<std::uint64_t> seen;
    std::uint64_t at = read_header();
    if (at == 0)
      fail(ErrorCode::malformed, "{}: the TIFF holds no picture (no directory)", file_.describe());
    while (at != 0) {
      if (!seen.insert(at).second || directories.size() == kMaxDirectories) {
        fail(ErrorCode::malformed,
             "{}: the chain of TIFF directories does not end (byte {} again, or over {} of them)",
             file_.describe(), at, kMaxDirectories);
      }
      directories.push_back(read_directory(at));
    }
  }

  std::uint64_t read_header() {
    const auto head = read_bytes(0, 8, "header");
    big_endian_ = head[0] == std::byte{'M'};
    const std::uint64_t version = integer(&head[2], 2);
    big_ = version == 43;
    if (version != 42 && version != 43)
      fail(ErrorCode::malformed, "{}: is not a TIFF", file_.describe());
    if (!big_) return integer(&head[4], 4);
    const auto rest = read_bytes(8, 8, "header");
    return integer(rest.data(), 8);
  }

  std::vector<std::byte> read_bytes(std::uint64_t at, std::uint64_t count,
                                    const std::string& what) const {
    if (at > file_.size_bytes() || count > file_.size_bytes() - at) {
      fail(ErrorCode::corrupt,
           "{}: the TIFF's {} lies at bytes {} to {}, but the file ends at {}; it is truncated or "
           "damaged",
           file_.describe(), what, at, at + count, file_.size_bytes());
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
           "{}: the TIFF directory at byte {} claims {} entries; 1 to {} are read",
           file_.describe(), at, count, kMaxEntries);
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
    if (entry.count > file_.size_bytes() / unit) {
      fail(ErrorCode::malformed,
           "{}: TIFF tag {} claims {} values, more than the file of {} bytes can hold",
           file_.describe(), entry.tag, entry.count, file_.size_bytes());
    }
    const auto bytes = values(entry, entry.count);
    std::vector<T> list(entry.count);
    for (std::uint64_t i = 0; i < entry.count; ++i) {
      const std::uint64_t value = integer(bytes.data() + i * unit, unit);
      if (value != static_cast<T>(value)) {
        fail(ErrorCode::malformed, "{}: TIFF tag {} has the value {}, which cannot be",
             file_.describe(), entry.tag, value);
      }
      list[i] = static_cast<T>(value);
    }
    return list;
  }

  /// As libtiff gives it: a float, of the quotient in double.
  float real(const Entry& entry) const {
    const auto bytes = values(entry, 1);
    const std::uint64_t unit = type_bytes(entry.type);
    if (entry.type == 5 || entry.type == 10) {
      const auto under = static_cast<double>(integer(bytes.data() + 4, 4));
      return under == 0 ? 0.0F
                        : static_cast<float>(static_cast<double>(integer(bytes.data(), 4)) / under);
    }
    if (entry.type == 11)
      return std::bit_cast<float>(static_cast<std::uint32_t>(integer(bytes.data(), 4)));
    if (entry.type == 12)
      return static_cast<float>(std::bit_cast<double>(integer(bytes.data(), 8)));
    return static_cast<float>(integer(bytes.data(), unit));
  }

  std::string text(const Entry& entry) const {
    const auto bytes = values(entry, kMaxText);
    std::string found(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return found;
  }

  static TiffBytes place(const Entry& entry) {
    return {entry.value_at, entry.count * type_bytes(entry.type)};
  }

  void take(const Entry& entry, TiffDirectory& d) const {
    if (entry.count == 0) return;
    const auto side = [&] {
      return static_cast<std::int64_t>(std::min<std::uint64_t>(number(entry), UINT32_MAX));
    };
    const auto word16 = [&] { return static_cast<std::uint16_t>(number(entry)); };
    switch (entry.tag) {
      case 254:
        d.subfile_type |= static_cast<std::uint32_t>(number(entry));
        break;
      case 255:  // SubfileType, before NewSubfileType
        if (number(entry) == 2) d.subfile_type |= kReducedImage;
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
      case 270:
        d.description = text(entry);
        d.whole_description = place(entry);
        break;
      case 273:
        d.blocks = entry.count;
        d.strip_offsets = numbers<std::uint64_t>(entry);
        break;
      case 274:
        d.orientation = word16();
        break;
      case 277:
        d.samples = word16();
        break;
      case 279:
        d.strip_bytes = numbers<std::uint64_t>(entry);
        break;
      case 282:
        d.x_resolution = real(entry);
        break;
      case 283:
        d.y_resolution = real(entry);
        break;
      case 284:
        d.planar = word16();
        break;
      case 285:
        d.page_name = text(entry);
        break;
      case 296:
        d.resolution_unit = word16();
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
      case 338:
        d.extra_samples.clear();
        take_extra_samples(entry, d);
        break;
      case 339:
        d.sample_format = word16();
        break;
      case 347:
        d.jpeg_tables = values(entry, kMaxTables);
        break;
      case 34675:
        d.icc_profile = place(entry);
        break;
      case 32997:  // ImageDepth
      case 32998:  // TileDepth
        d.image_depth = std::max(d.image_depth, static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                                    number(entry), UINT32_MAX)));
        break;
      default:
        break;
    }
  }

  void take_extra_samples(const Entry& entry, TiffDirectory& d) const {
    const auto kinds = values(entry, 16);
    const std::uint64_t unit = type_bytes(entry.type);
    for (std::size_t i = 0; i + unit <= kinds.size(); i += unit)
      d.extra_samples.push_back(static_cast<std::uint16_t>(integer(kinds.data() + i, unit)));
  }

  void take_bits(const Entry& entry, TiffDirectory& d) const {
    const auto bits = values(entry, 16);
    const std::uint64_t unit = type_bytes(entry.type);
    d.bits = static_cast<int>(integer(bits.data(), unit));
    for (std::size_t i = unit; i < bits.size(); i += unit) {
      if (integer(bits.data() + i, unit) != static_cast<std::uint64_t>(d.bits)) d.bits = 0;
    }
  }

  const storage::Object& file_;
  bool big_endian_ = false, big_ = false;
};

}  // namespace

std::vector<TiffDirectory> read_tiff_directories(const storage::Object& file) {
  return Parser(file).parse(nullptr);
}

std::vector<TiffDirectory> read_whole_tiff_directories(const storage::Object& file, bool& damaged) {
  damaged = false;
  return Parser(file).parse(&damaged);
}

TiffDirectory read_first_tiff_directory(const storage::Object& file) {
  return Parser(file).parse_first();
}

TiffDirectory read_tiff_directory_at(const storage::Object& file, std::uint64_t at) {
  return Parser(file).parse_at(at);
}

std::vector<std::byte> read_tiff_bytes(const storage::Object& file, const TiffBytes& bytes,
                                       std::uint64_t limit) {
  std::vector<std::byte> found;
  const std::uint64_t count = std::min(bytes.count, limit);
  // Held against the file before memory is taken.
  if (bytes.at <= file.size_bytes() && count <= file.size_bytes() - bytes.at) found.resize(count);
  if (found.size() != count) {
    fail(ErrorCode::corrupt,
         "{}: bytes {} to {} are needed, but the file ends at {}; it is truncated or damaged",
         file.describe(), bytes.at, bytes.at + count, file.size_bytes());
  }
  file.read(bytes.at, found);
  return found;
}

std::string read_tiff_text(const storage::Object& file, const TiffBytes& bytes,
                           std::uint64_t limit) {
  const auto found = read_tiff_bytes(file, bytes, limit);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

std::vector<TiffDirectory> read_sub_directories(const storage::Object& file,
                                                const TiffDirectory& of) {
  std::vector<TiffDirectory> found;
  for (const std::uint64_t at : of.sub_directories) {
    try {
      found.push_back(read_tiff_directory_at(file, at));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) throw;
      // The picture is whole without it.
    }
  }
  return found;
}

// Heights and widths were rounded, each by less than a pixel.
bool is_reduced(const TiffDirectory& d, const TiffDirectory& full) {
  if (d.width < 1 || d.height < 1 || d.width >= full.width || d.height > full.height) return false;
  if (d.samples != full.samples || d.bits != full.bits) return false;
  const auto h = static_cast<double>(d.height), w = static_cast<double>(d.width);
  const auto full_h = static_cast<double>(full.height), full_w = static_cast<double>(full.width);
  return std::abs(h * full_w - w * full_h) <= full_h + full_w;
}

std::vector<TiffDirectory> tiff_pyramid_of(const storage::Object& file,
                                           std::vector<TiffDirectory> found, std::size_t picture) {
  std::vector<TiffDirectory> levels;
  const auto at = found.begin() + static_cast<std::ptrdiff_t>(picture);
  levels.push_back(std::move(*at));
  found.erase(at);
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

std::vector<TiffDirectory> read_tiff_pyramid(const storage::Object& file) {
  return tiff_pyramid_of(file, read_tiff_directories(file), 0);
}

}  // namespace headrace::imaging
