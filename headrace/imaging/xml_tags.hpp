#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::imaging {

struct XmlTag {
  std::string name;  ///< without a namespace's prefix
  std::map<std::string, std::string> attributes;
  bool closing = false;  ///< </name>
  bool alone = false;    ///< <name/>
  std::string text;      ///< what follows it, up to the next tag
};

/// The tags of an XML text, one after the other, with attributes in any order and either quotes,
/// and character references resolved. Comments, declarations and processing instructions are passed
/// over. It checks nothing: a text that is no XML has no tags, or odd ones.
class XmlTags {
 public:
  explicit XmlTags(std::string_view text) : text_(text) {}
  std::optional<XmlTag> next();

 private:
  bool skip(std::string_view begin, std::string_view end);

  std::string_view text_;
};

}  // namespace headrace::imaging
