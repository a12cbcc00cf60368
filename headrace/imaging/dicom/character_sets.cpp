#include "headrace/imaging/dicom/character_sets.hpp"

#include <fmt/format.h>
#include <iconv.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headrace/core/text.hpp"
#include "headrace/core/utf8.hpp"

namespace headrace::imaging {
namespace {

/// A converter of the C library; none where it does not know the set.
class Converter {
 public:
  explicit Converter(const char* from) : handle_(iconv_open("UTF-8", from)) {}
  ~Converter() {
    if (known()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool known() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  /// Nothing where a byte is no character of the set.
  std::optional<std::string> convert(std::string bytes) {
    std::string out(bytes.size() * 4 + 8, '\0');
    char *from = bytes.data(), *to = out.data();
    std::size_t left = bytes.size(), room = out.size();
    iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    if (iconv(handle_, &from, &left, &to, &room) == static_cast<std::size_t>(-1)) return {};
    out.resize(out.size() - room);
    return out;
  }

 private:
  iconv_t handle_;
};

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02X}", byte);
  }
  return text;
}

std::string converted(const char* set, std::string_view bytes) {
  Converter converter(set);
  if (!converter.known()) return escaped(bytes);
  const auto text = converter.convert(std::string(bytes));
  return text ? *text : escaped(bytes);
}

/// Sets of one byte a character, by the number in their defined term (ISO_IR 100, ISO 2022 IR 100)
/// and by what an escape sequence ends with that makes them the upper half (ESC - A).
struct SingleByteSet {
  int registration;
  char escape;
  const char* name;
};
constexpr std::array<SingleByteSet, 11> kSingleByteSets{{{100, 'A', "ISO-8859-1"},
                                                         {101, 'B', "ISO-8859-2"},
                                                         {109, 'C', "ISO-8859-3"},
                                                         {110, 'D', "ISO-8859-4"},
                                                         {144, 'L', "ISO-8859-5"},
                                                         {127, 'G', "ISO-8859-6"},
                                                         {126, 'F', "ISO-8859-7"},
                                                         {138, 'H', "ISO-8859-8"},
                                                         {148, 'M', "ISO-8859-9"},
                                                         {203, 'b', "ISO-8859-15"},
                                                         {166, 'T', "TIS-620"}}};

/// What the upper or the lower half of the codes stands for.
struct Half {
  enum class Kind { ascii, single, katakana, double_byte } kind = Kind::ascii;
  const char* name = nullptr;  ///< a set of iconv
  bool third_plane = false;    ///< JIS X 0212, which EUC-JP marks by a byte in front
};
struct Halves {
  Half lower, upper;
};

std::string katakana(std::uint8_t byte) {
  constexpr std::uint8_t kFirst = 0xA1, kLast = 0xDF;
  if (byte < kFirst || byte > kLast) return fmt::format("\\x{:02X}", byte);
  const std::uint32_t code = 0xFF61u + (byte - kFirst);  // half width, as the set has it
  return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

/// The set that a defined term makes the one at the beginning of a text.
Halves halves_at_start(int registration) {
  Halves halves;
  if (registration == 13) halves.upper.kind = Half::Kind::katakana;
  for (const SingleByteSet& set : kSingleByteSets) {
    if (set.registration == registration) halves.upper = {Half::Kind::single, set.name};
  }
  return halves;
}

/// Takes an escape sequence that begins at `at`, after ESC; returns its length without ESC, 0 for
/// one that is not known.
std::size_t take_escape(std::string_view rest, Halves& halves) {
  const auto starts = [&](std::string_view with) { return rest.starts_with(with); };
  if (starts("$(D")) {
    halves.lower = {Half::Kind::double_byte, "EUC-JP", true};
    return 3;
  }
  if (starts("$)C") || starts("$)A")) {
    halves.upper = {Half::Kind::double_byte, rest[2] == 'C' ? "EUC-KR" : "EUC-CN"};
    return 3;
  }
  if (rest.size() < 2) return 0;
  if (starts("$B") || starts("$@")) {
    halves.lower = {Half::Kind::double_byte, "EUC-JP"};
    return 2;
  }
  if (starts("(B") || starts("(J")) {
    halves.lower = {};
    return 2;
  }
  if (starts(")I")) {
    halves.upper = {Half::Kind::katakana};
    return 2;
  }
  for (const SingleByteSet& set : kSingleByteSets) {
    if (rest[0] != '-' || rest[1] != set.escape) continue;
    halves.upper = {Half::Kind::single, set.name};
    return 2;
  }
  return 0;
}

std::string character(const Half& half, std::string_view bytes) {
  switch (half.kind) {
    case Half::Kind::ascii:
      return escaped(bytes);
    case Half::Kind::katakana:
      return katakana(static_cast<std::uint8_t>(bytes[0]));
    case Half::Kind::single:
      return converted(half.name, bytes);
    case Half::Kind::double_byte:
      break;
  }
  if (bytes.size() < 2) return escaped(bytes);
  std::string upper(half.third_plane ? "\x8F" : "");
  for (const char c : bytes) upper += static_cast<char>(static_cast<std::uint8_t>(c) | 0x80);
  return converted(half.name, upper);
}

/// Sets of one byte and those that escape sequences switch to.
std::string by_escapes(std::string_view bytes, int registration) {
  const Halves start = halves_at_start(registration);
  Halves halves = start;
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto byte = static_cast<std::uint8_t>(bytes[at]);
    if (byte == 0x1B) {
      const std::size_t taken = take_escape(bytes.substr(at + 1), halves);
      if (taken == 0) text += "\\x1B";
      at += 1 + taken;
      continue;
    }
    // A control character, and what separates values or the parts of a name, ends an extension.
    const bool lower_plain = halves.lower.kind == Half::Kind::ascii;
    if (byte < 0x20 || (lower_plain && (byte == '\\' || byte == '^' || byte == '=')))
      halves = start;
    const Half& half = byte < 0x80 ? halves.lower : halves.upper;
    const bool plain = byte <= 0x20 || (byte < 0x80 && half.kind == Half::Kind::ascii);
    const std::size_t length = !plain && half.kind == Half::Kind::double_byte ? 2 : 1;
    text += plain ? std::string(1, bytes[at]) : character(half, bytes.substr(at, length));
    at += length;
  }
  return text;
}

/// 100 of "ISO_IR 100", "ISO 2022 IR 100" and of what some programs write instead; 6, the default
/// repertoire, for an empty term; 0 for others.
int registration_of(const std::string& term) {
  if (term.empty()) return 6;
  const std::size_t ir = term.find("ir");
  if (ir == std::string::npos) return 0;
  int number = 0;
  for (const char c : term.substr(ir)) {
    if (c >= '0' && c <= '9' && number < 1000) number = 10 * number + (c - '0');
  }
  return number;
}

std::string without_controls(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    shown += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02X}", byte) : std::string(1, c);
  }
  return shown;
}

std::string decoded(std::string_view bytes, std::string_view stated) {
  const std::string first = folded_name(std::string(split(stated, '\\').front()));
  if (first == "gb18030" || first == "gbk") return converted("GB18030", bytes);
  const int registration = registration_of(first);
  if (registration == 192 || first == "utf8") return shown_text(bytes);
  const bool escapes = bytes.find('\x1B') != std::string_view::npos;
  if ((registration == 6 || registration == 0) && !escapes)
    return first_not_utf8(bytes) ? converted("ISO-8859-1", bytes) : std::string(bytes);
  return by_escapes(bytes, registration);
}

}  // namespace

std::string text_in_utf8(std::string_view bytes, std::string_view stated) {
  return without_controls(decoded(bytes, stated));
}

}  // namespace headrace::imaging
