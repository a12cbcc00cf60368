#include "headrace/imaging/xml_tags.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "headrace/core/text.hpp"

namespace headrace::imaging {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 63));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  } else {
    byte(0xF0 | (code >> 18 & 7));
    byte(0x80 | (code >> 12 & 63));
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  }
}

/// False: no reference that XML knows.
bool append_reference(std::string& out, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNames{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [known, character] : kNames) {
    if (name != known) continue;
    out += character;
    return true;
  }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool hex = name[1] == 'x' || name[1] == 'X';
  const std::string digits(name.substr(hex ? 2 : 1));
  char* end = nullptr;
  const unsigned long code = std::strtoul(digits.c_str(), &end, hex ? 16 : 10);
  if (digits.empty() || *end != '\0' || code > 0x10FFFF) return false;
  append_utf8(out, static_cast<std::uint32_t>(code));
  return true;
}

std::string resolved(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto end = text[i] == '&' ? text.find(';', i) : std::string_view::npos;
    if (end != std::string_view::npos && append_reference(out, text.substr(i + 1, end - i - 1))) {
      i = end;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string plain_name(std::string_view name) {
  const auto colon = name.find(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

/// The place of the '>' that ends the tag: not one within quotes.
std::size_t end_of_tag(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '>') {
      return i;
    }
  }
  return std::string_view::npos;
}

void read_attributes(std::string_view text, XmlTag& tag) {
  while (true) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const auto quote = text.find_first_of("\"'", equals);
    if (quote == std::string_view::npos) return;
    const auto end = text.find(text[quote], quote + 1);
    if (end == std::string_view::npos) return;
    tag.attributes[plain_name(trimmed(text.substr(0, equals)))] =
        resolved(text.substr(quote + 1, end - quote - 1));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool XmlTags::skip(std::string_view begin, std::string_view end) {
  if (!text_.starts_with(begin)) return false;
  const auto at = text_.find(end, begin.size());
  text_.remove_prefix(at == std::string_view::npos ? text_.size() : at + end.size());
  return true;
}

std::optional<XmlTag> XmlTags::next() {
  while (true) {
    const auto begin = text_.find('<');
    if (begin == std::string_view::npos) return std::nullopt;
    text_.remove_prefix(begin);
    if (!skip("<!--", "-->") && !skip("<?", "?>") && !skip("<![CDATA[", "]]>") && !skip("<!", ">"))
      break;
  }
  const auto end = end_of_tag(text_);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view inside = text_.substr(1, end - 1);
  text_.remove_prefix(end + 1);
  XmlTag tag;
  tag.closing = inside.starts_with('/');
  if (tag.closing) inside.remove_prefix(1);
  tag.alone = inside.ends_with('/');
  if (tag.alone) inside.remove_suffix(1);
  inside = trimmed(inside);
  const auto space = inside.find_first_of(kSpace);
  tag.name = plain_name(inside.substr(0, space));
  if (space != std::string_view::npos) read_attributes(inside.substr(space), tag);
  tag.text = resolved(trimmed(text_.substr(0, text_.find('<'))));
  return tag;
}

}  // namespace headrace::imaging
