#include "headrace/storage/s3_keys.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "headrace/core/environment.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/text.hpp"

namespace headrace::storage {
namespace {

/// A line break would end the header that the value stands in.
const std::string& checked(const std::string& value, const std::string& origin) {
  if (std::any_of(value.begin(), value.end(),
                  [](unsigned char c) { return c <= ' ' || c == 0x7F; }))
    fail(ErrorCode::usage, "{}: a key of S3 holds a blank or a line break", origin);
  return value;
}

std::string credentials_file() {
  if (std::string file = environment_variable("AWS_SHARED_CREDENTIALS_FILE"); !file.empty())
    return file;
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.aws/credentials";
}

}  // namespace

S3KeySource find_s3_keys(const std::string& profile) {
  S3Keys keys{environment_variable("AWS_ACCESS_KEY_ID"),
              environment_variable("AWS_SECRET_ACCESS_KEY"),
              environment_variable("AWS_SESSION_TOKEN")};
  // As Amazon's own tools: keys of the environment come before its AWS_PROFILE.
  if (profile.empty() && !keys.id.empty() && !keys.secret.empty()) {
    for (const std::string* value : {&keys.id, &keys.secret, &keys.session_token})
      checked(*value, "AWS_ACCESS_KEY_ID and its like");
    return {std::move(keys), "", ""};
  }
  const std::string named = profile.empty() ? environment_variable("AWS_PROFILE") : profile;
  const std::string file = credentials_file();
  std::error_code error;
  if (named.empty() && (file.empty() || !std::filesystem::exists(file, error))) {
    fail(ErrorCode::usage,
         "there are no keys of S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them "
         "into {}; for a bucket that anybody may read set network: {{s3: {{anonymous: true}}}}",
         file.empty() ? "~/.aws/credentials" : file);
  }
  if (file.empty() || !std::filesystem::exists(file, error))
    fail(ErrorCode::usage,
         "the keys of S3 are to be those of the profile [{}], and {} is not there", named,
         file.empty() ? "~/.aws/credentials" : file);
  S3KeySource source{std::nullopt, file, named.empty() ? "default" : named};
  read_s3_keys(source.file, source.profile);
  return source;
}

S3Keys read_s3_keys(const std::string& file, const std::string& profile) {
  std::string content = read_file(file);
  if (content.starts_with("\xEF\xBB\xBF")) content.erase(0, 3);
  std::istringstream lines(content);
  S3Keys keys;
  bool inside = false, found = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string text(trimmed(line));
    if (text.starts_with('[')) {
      inside = trimmed(std::string_view(text).substr(1, text.find(']') - 1)) == profile;
      found |= inside;
      continue;
    }
    const std::size_t equals = text.find('=');
    if (!inside || text.starts_with('#') || text.starts_with(';') || equals == std::string::npos)
      continue;
    const std::string name = lowered(std::string(trimmed(text.substr(0, equals))));
    const std::string value(trimmed(text.substr(equals + 1)));
    if (name == "aws_access_key_id") keys.id = checked(value, file);
    if (name == "aws_secret_access_key") keys.secret = checked(value, file);
    if (name == "aws_session_token") keys.session_token = checked(value, file);
  }
  if (!found) fail(ErrorCode::usage, "{}: has no profile [{}]", file, profile);
  if (keys.id.empty() || keys.secret.empty())
    fail(ErrorCode::usage,
         "{}: the profile [{}] needs both aws_access_key_id and aws_secret_access_key", file,
         profile);
  return keys;
}

}  // namespace headrace::storage
