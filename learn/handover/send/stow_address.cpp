#include "learn/handover/send/stow_address.hpp"

#include <curl/curl.h>

#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::handover {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

/// A part of a web address; empty where it has none.
std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  const std::string copy = text;
  curl_free(text);
  return copy;
}

bool is_this_machine(const std::string& host) {
  const bool numbers = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "[::1]" || (numbers && host.starts_with("127."));
}

}  // namespace

std::string stow_address(const StowOptions& options) {
  const std::unique_ptr<CURLU, FreeUrl> url(curl_url());
  if (!url) fail(ErrorCode::memory, "{}: no memory for a web address.", options.to);
  if (!is_web_address(options.to) ||
      curl_url_set(url.get(), CURLUPART_URL, options.to.c_str(), 0) != CURLUE_OK)
    fail(ErrorCode::usage, "{}: no web address, expected one as https://pacs.example/dicom-web.",
         Option{"to"});
  if (!part_of(url.get(), CURLUPART_USER).empty() ||
      !part_of(url.get(), CURLUPART_PASSWORD).empty()) {
    fail(ErrorCode::usage,
         "{}: the web address has a user or a password in it. Take it out, and set {} or {}.",
         Option{"to"}, kWebUserVariable, kWebTokenVariable);
  }
  if (!part_of(url.get(), CURLUPART_QUERY).empty() ||
      !part_of(url.get(), CURLUPART_FRAGMENT).empty()) {
    fail(ErrorCode::usage,
         "{}: the web address has a '?' or '#'. Name the root of the PACS' DICOMweb, as "
         "https://pacs.example/dicom-web.",
         Option{"to"});
  }
  if (options.credentials.given() && !options.to.starts_with("https://") &&
      !is_this_machine(part_of(url.get(), CURLUPART_HOST))) {
    fail(ErrorCode::usage,
         "{}: credentials are set, which http would send for everybody to read. Use https, or "
         "unset {} and {}.",
         options.to, kWebUserVariable, kWebTokenVariable);
  }
  std::string root = options.to;
  while (root.ends_with('/')) root.pop_back();
  return root + "/studies";
}

}  // namespace headrace::handover
