#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace headrace::storage {

/// Where bytes lie: a folder or a file of this machine, or a URL. Made from what a user wrote, once,
/// at the edge; a path operator on a URL would change it ("s3://b/x" becomes "s3:/b/x"). Plain data:
/// const calls are safe from any thread.
class Place {
 public:
  /// Nowhere: an empty local path.
  Place() = default;
  /// `text` is a URL when it begins with a scheme of two letters or more and "://"; all other text
  /// is a local path as it is, so "C:\x" and "a:b" are plain names. "file:///x", with
  /// %20 and the like for what a URL can't hold, is the local path /x. Nothing is looked up, and any
  /// scheme is taken: open_store knows which ones can be read.
  /// Errors: usage (a file URL of another machine, or without a path, or with a broken % in it).
  static Place parse(const std::string& text);

  bool is_url() const noexcept { return !scheme_.empty(); }
  /// In lower case, such as "s3"; empty for a local path.
  const std::string& scheme() const noexcept { return scheme_; }
  /// The local path, as it was written. Errors: unsupported (a URL).
  std::filesystem::path path() const;

  /// What lies below: a name, or several with '/' between them. Errors: usage (an absolute one).
  Place join(const std::string& name) const;
  /// For sentences: as it was written.
  const std::string& describe() const noexcept { return text_; }
  /// For records: the absolute path without "." and "..", and without a slash at its end, so that
  /// one file has one name; a URL as it is.
  std::string absolute() const;

  bool operator==(const Place&) const = default;

 private:
  Place(std::string scheme, std::string text)
      : scheme_(std::move(scheme)), text_(std::move(text)) {}

  std::string scheme_, text_;
};

/// Whether what a user wrote is a URL of something that is no file of this machine.
bool is_remote(const std::string& written);

/// The last part of a path or URL, as a file would be named: "b c.svs" of "https://h/a/b%20c.svs". Errors:
/// usage (a broken % in it).
std::string name_of_place(const std::string& written);

/// The text with the byte in place of each %XX. origin: for errors. Errors: usage (a % that stands for
/// no byte of a path).
std::string percent_decoded(std::string_view escaped, const std::string& origin);
/// The text with %XX for each byte that is neither unreserved nor '/'. RFC 3986, 2.1 and 2.3
std::string percent_encoded(std::string_view text);

}  // namespace headrace::storage
