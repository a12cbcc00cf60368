#include "headrace/core/csv.hpp"

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    find_separator();
  }

  char separator() const { return separator_; }

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow row = record();
      if (row.fields.size() > 1 || !row.fields[0].empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  bool at_line_end() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

  void pass_line_end() {
    at_ += text_.substr(at_).starts_with("\r\n") ? 2 : 1;
    ++line_;
  }

  void find_separator() {
    constexpr std::string_view kStated = "sep=";
    if (text_.starts_with(kStated) && text_.size() > kStated.size() + 1) {
      separator_ = text_[kStated.size()];
      at_ = kStated.size() + 1;
      if (at_line_end()) return pass_line_end();
      at_ = 0;
    }
    std::size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false, any = false;
    for (const char c : text_) {
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      if ((c == '\n' || c == '\r') && any) break;
      any |= c != '\n' && c != '\r';
      commas += c == ',' ? 1 : 0;
      semicolons += c == ';' ? 1 : 0;
      tabs += c == '\t' ? 1 : 0;
    }
    separator_ = semicolons > commas && semicolons >= tabs ? ';' : tabs > commas ? '\t' : ',';
  }

  CsvRow record() {
    CsvRow row{line_, {}};
    while (true) {
      row.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      if (at_ >= text_.size()) return row;
      if (text_[at_] == separator_) {
        ++at_;
        continue;
      }
      pass_line_end();
      return row;
    }
  }

  std::string plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && !at_line_end()) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    const int opened = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          ++at_;
        } else {
          ++at_;
          if (at_ < text_.size() && text_[at_] != separator_ && !at_line_end()) {
            fail(ErrorCode::malformed,
                 "{}, line {}: text follows a closing quote; double the quotes inside a field",
                 origin_, line_);
          }
          return field;
        }
      }
      if (at_line_end() && !text_.substr(at_).starts_with("\r\n")) ++line_;
      field += text_[at_];
    }
    fail(ErrorCode::malformed, "{}, line {}: a quoted field is never closed", origin_, opened);
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t at_ = 0;
  int line_ = 1;
  char separator_ = ',';
};

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& origin) {
  return CsvParser(text, origin).rows();
}

char csv_separator(std::string_view text) { return CsvParser(text, "").separator(); }

}  // namespace headrace
