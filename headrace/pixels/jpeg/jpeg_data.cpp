#include "headrace/pixels/jpeg/jpeg_data.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "headrace/pixels/jpeg/jpeg_markers.hpp"

namespace headrace::pixels {
namespace {

constexpr unsigned kSof0 = 0xC0, kSof1 = 0xC1, kDht = 0xC4, kRst0 = 0xD0, kEoi = 0xD9, kSos = 0xDA,
                   kDri = 0xDD;

using Bytes = std::span<const std::byte>;

unsigned at(Bytes bytes, std::size_t i) { return std::to_integer<unsigned>(bytes[i]); }
unsigned word(Bytes bytes, std::size_t i) { return at(bytes, i) * 256 + at(bytes, i + 1); }

/// Codes of up to 16 bits. An entry is its length << 8 | symbol, 0: none.
class Codes {
 public:
  bool there() const noexcept { return there_; }

  /// counts: of codes of 1 to 16 bits, then the symbols in order.
  bool define(Bytes counts, Bytes symbols) {
    short_ = {};
    there_ = true;
    unsigned code = 0;
    std::size_t next = 0;
    for (unsigned length = 1; length <= 16; ++length, code <<= 1) {
      const unsigned count = at(counts, length - 1);
      first_[length] = code;
      begin_[length] = next;
      count_[length] = count;
      if (code + count > 1u << length) return false;
      for (unsigned i = 0; i < count; ++i, ++code, ++next) {
        symbols_[next] = static_cast<std::uint8_t>(at(symbols, next));
        if (length > kShort) continue;
        const unsigned from = code << (kShort - length);
        for (unsigned k = 0; k < 1u << (kShort - length); ++k)
          short_[from + k] = static_cast<std::uint16_t>(length << 8 | symbols_[next]);
      }
    }
    return true;
  }

  /// bits: the next 16. 0 where they begin with no code.
  unsigned entry(unsigned bits) const {
    if (const unsigned found = short_[bits >> (16 - kShort)]; found != 0) return found;
    for (unsigned length = kShort + 1; length <= 16; ++length) {
      const unsigned code = bits >> (16 - length);
      if (code - first_[length] < count_[length])
        return length << 8 | symbols_[begin_[length] + code - first_[length]];
    }
    return 0;
  }

 private:
  static constexpr unsigned kShort = 9;
  bool there_ = false;
  std::array<std::uint16_t, 1 << kShort> short_{};
  std::array<unsigned, 17> first_{}, count_{};
  std::array<std::size_t, 17> begin_{};
  std::array<std::uint8_t, 256> symbols_{};
};

/// The bits of a scan, up to the next marker. Behind it come zeros, which are not to be taken.
class Bits {
 public:
  explicit Bits(Bytes data) : data_(data) {}

  /// The next 16.
  unsigned peek() {
    if (count_ < 16) fill();
    return static_cast<unsigned>(bits_ >> 48);
  }
  /// At most 32. False: there are not so many.
  bool skip(unsigned count) {
    if (count_ < count) fill();
    if (count_ < count) return false;
    bits_ <<= count;
    count_ -= count;
    return true;
  }
  /// The marker that follows the last bits, which are less than a byte; 0: none does.
  unsigned marker() {
    fill();
    if (count_ >= 8 || next_ + 2 > data_.size() || at(data_, next_) != 0xFF) return 0;
    bits_ = count_ = 0;
    next_ += 2;
    return at(data_, next_ - 1);
  }

 private:
  void fill() {
    while (count_ <= 56 && next_ < data_.size()) {
      const unsigned byte = at(data_, next_);
      const bool stuffed = byte == 0xFF && next_ + 1 < data_.size() && at(data_, next_ + 1) == 0;
      if (byte == 0xFF && !stuffed) return;
      bits_ |= std::uint64_t{byte} << (56 - count_);
      count_ += 8;
      next_ += stuffed ? 2 : 1;
    }
  }

  Bytes data_;
  std::size_t next_ = 0;
  std::uint64_t bits_ = 0;
  std::uint64_t count_ = 0;
};

struct Component {
  unsigned id = 0, across = 1, down = 1;
  const Codes *dc = nullptr, *ac = nullptr;
};

struct Scan {
  std::array<std::array<Codes, 4>, 2> codes;  // of DC, of AC
  std::array<Component, 4> components;
  unsigned count = 0, height = 0, width = 0, restart = 0;

  bool define_codes(Bytes body) {
    while (body.size() >= 17) {
      const unsigned kind = at(body, 0) >> 4, number = at(body, 0) & 15;
      std::size_t symbols = 0;
      for (std::size_t i = 1; i <= 16; ++i) symbols += at(body, i);
      if (kind > 1 || number > 3 || symbols > 256 || body.size() < 17 + symbols) return false;
      if (!codes[kind][number].define(body.subspan(1, 16), body.subspan(17, symbols))) return false;
      body = body.subspan(17 + symbols);
    }
    return body.empty();
  }

  bool define_frame(Bytes body) {
    if (count != 0 || body.size() < 6 || at(body, 0) != 8) return false;
    height = word(body, 1);
    width = word(body, 3);
    count = at(body, 5);
    if (count < 1 || count > 4 || body.size() != 6 + 3 * count) return false;
    for (unsigned i = 0; i < count; ++i) {
      components[i] = {at(body, 6 + 3 * i), at(body, 7 + 3 * i) >> 4, at(body, 7 + 3 * i) & 15};
      const Component& c = components[i];
      if (c.across < 1 || c.across > 4 || c.down < 1 || c.down > 4) return false;
    }
    return height > 0 && width > 0;
  }

  bool define_scan(Bytes body) {
    if (count == 0 || body.size() != 4 + 2 * count || at(body, 0) != count) return false;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned dc = at(body, 2 + 2 * i) >> 4, ac = at(body, 2 + 2 * i) & 15;
      if (at(body, 1 + 2 * i) != components[i].id || dc > 3 || ac > 3) return false;
      components[i].dc = &codes[0][dc];
      components[i].ac = &codes[1][ac];
      if (!components[i].dc->there() || !components[i].ac->there()) return false;
    }
    const std::size_t rest = 1 + 2 * count;
    return at(body, rest) == 0 && at(body, rest + 1) == 63 && at(body, rest + 2) == 0;
  }
};

bool is_sound_block(Bits& bits, const Component& component) {
  const unsigned first = component.dc->entry(bits.peek());
  if (first == 0 || (first & 255) > 11 || !bits.skip((first >> 8) + (first & 255))) return false;
  for (unsigned k = 1; k < 64; ++k) {
    const unsigned entry = component.ac->entry(bits.peek());
    const unsigned run = entry >> 4 & 15, size = entry & 15;
    if (entry == 0 || !bits.skip((entry >> 8) + size)) return false;
    if (size == 0 && run != 15) break;
    k += run;
    if (k > 63) return false;
  }
  return true;
}

bool is_sound_scan(const Scan& scan, Bytes data) {
  Bits bits(data);
  unsigned across = 1, down = 1;
  for (unsigned i = 0; i < scan.count; ++i) {
    across = std::max(across, scan.components[i].across);
    down = std::max(down, scan.components[i].down);
  }
  // A single component is stored block by block, whatever its factors are.
  const bool single = scan.count == 1;
  const unsigned wide = single ? 8 : 8 * across, high = single ? 8 : 8 * down;
  const unsigned units = (scan.width + wide - 1) / wide * ((scan.height + high - 1) / high);
  unsigned restarts = 0;
  for (unsigned unit = 0; unit < units; ++unit) {
    if (scan.restart != 0 && unit != 0 && unit % scan.restart == 0 &&
        bits.marker() != kRst0 + restarts++ % 8) {
      return false;
    }
    for (unsigned i = 0; i < scan.count; ++i) {
      const Component& component = scan.components[i];
      const unsigned blocks = single ? 1 : component.across * component.down;
      for (unsigned block = 0; block < blocks; ++block) {
        if (!is_sound_block(bits, component)) return false;
      }
    }
  }
  return bits.marker() == kEoi;
}

}  // namespace

bool jpeg_data_is_sound(Bytes jpeg) {
  if (!has_jpeg_start(jpeg)) return false;
  Scan scan;
  for (Bytes rest = jpeg.subspan(2);;) {
    while (rest.size() >= 2 && at(rest, 0) == 0xFF && at(rest, 1) == 0xFF) rest = rest.subspan(1);
    if (rest.size() < 4 || at(rest, 0) != 0xFF) return false;
    const unsigned marker = at(rest, 1), length = word(rest, 2);
    if (length < 2 || rest.size() < 2 + length) return false;
    const Bytes body = rest.subspan(4, length - 2);
    rest = rest.subspan(2 + length);
    const bool frame =
        marker >= 0xC0 && marker <= 0xCF && marker != kDht && marker != 0xC8 && marker != 0xCC;
    if (marker == kDht && !scan.define_codes(body)) return false;
    if (frame && ((marker != kSof0 && marker != kSof1) || !scan.define_frame(body))) return false;
    if (marker == kDri) {
      if (body.size() != 2) return false;
      scan.restart = word(body, 0);
    }
    if (marker == kSos) return scan.define_scan(body) && is_sound_scan(scan, rest);
  }
}

}  // namespace headrace::pixels
