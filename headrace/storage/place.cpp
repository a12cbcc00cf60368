#include "headrace/storage/place.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "headrace/core/error.hpp"

namespace headrace::storage {
namespace {

constexpr std::string_view kAfterScheme = "://";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_of_scheme(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/// In lower case; empty when the text is no URL. One letter is a drive of another system.
std::string scheme_of(std::string_view text) {
  const std::size_t end = text.find(kAfterScheme);
  if (end == std::string_view::npos || end < 2 || !is_letter(text.front())) return {};
  std::string scheme(text.substr(0, end));
  if (!std::all_of(scheme.begin(), scheme.end(), is_of_scheme)) return {};
  std::transform(scheme.begin(), scheme.end(), scheme.begin(), lower);
  return scheme;
}

/// The path of a file URL.
std::string path_of(const std::string& url) {
  std::string_view rest = std::string_view(url).substr(url.find(kAfterScheme));
  rest.remove_prefix(kAfterScheme.size());
  constexpr std::string_view kThisMachine = "localhost/";
  if (rest.starts_with(kThisMachine)) rest.remove_prefix(kThisMachine.size() - 1);
  if (!rest.starts_with('/')) {
    fail(ErrorCode::usage,
         "{}: expected file:///, and then the path from the root of this machine; other machines' "
         "files are read where they are mounted",
         url);
  }
  return percent_decoded(rest, url);
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kUnreserved = "-._~/";
  std::string out;
  for (const char c : text) {
    if (is_letter(c) || (c >= '0' && c <= '9') || kUnreserved.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool is_remote(const std::string& written) {
  const std::string scheme = scheme_of(written);
  return !scheme.empty() && scheme != "file";
}

std::string name_of_place(const std::string& written) {
  const std::string name = std::filesystem::path(written).filename().string();
  const std::string scheme = scheme_of(written);
  return scheme == "http" || scheme == "https" ? percent_decoded(name, written) : name;
}

std::string percent_decoded(std::string_view escaped, const std::string& origin) {
  std::string out;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '%') {
      out += escaped[i];
      continue;
    }
    const std::string_view digits = escaped.substr(i + 1, 2);
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), byte, 16);
    if (digits.size() != 2 || end != digits.end() || error != std::errc() || byte == 0) {
      fail(ErrorCode::usage, "{}: '%{}' stands for no byte of a path; write %25 for a %", origin,
           digits);
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

Place Place::parse(const std::string& text) {
  std::string scheme = scheme_of(text);
  if (scheme == "file") return {"", path_of(text)};
  return {std::move(scheme), text};
}

std::filesystem::path Place::path() const {
  if (is_url()) fail(ErrorCode::unsupported, "{}: is a URL, where a local path is needed", text_);
  return text_;
}

Place Place::join(const std::string& name) const {
  if (name.starts_with('/'))
    fail(ErrorCode::usage, "{}: expected a name below {}, not an absolute path", name, text_);
  if (!is_url()) return {"", (std::filesystem::path(text_) / name).string()};
  return {scheme_, text_.ends_with('/') ? text_ + name : text_ + "/" + name};
}

std::string Place::absolute() const {
  if (is_url()) return text_;
  const auto normal = std::filesystem::absolute(text_).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

}  // namespace headrace::storage
