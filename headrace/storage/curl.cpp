#include "headrace/storage/curl.hpp"

#include "headrace/core/error.hpp"

namespace headrace::storage {

Curl::Curl() : library("HEADRACE_LIBCURL", "libcurl.so.4") {
  library.find("curl_global_init", global_init);
  library.find("curl_easy_init", easy_init);
  library.find("curl_easy_reset", easy_reset);
  library.find("curl_easy_cleanup", easy_cleanup);
  library.find("curl_easy_setopt", easy_setopt);
  library.find("curl_easy_getinfo", easy_getinfo);
  library.find("curl_easy_strerror", easy_strerror);
  library.find("curl_slist_append", slist_append);
  library.find("curl_slist_free_all", slist_free_all);
  library.find("curl_multi_init", multi_init);
  library.find("curl_multi_setopt", multi_setopt);
  library.find("curl_multi_add_handle", multi_add_handle);
  library.find("curl_multi_remove_handle", multi_remove_handle);
  library.find("curl_multi_perform", multi_perform);
  library.find("curl_multi_poll", multi_poll);
  library.find("curl_multi_wakeup", multi_wakeup);
  library.find("curl_multi_info_read", multi_info_read);
  if (library.there()) global_init(kGlobalDefault);
}

const Curl& Curl::shared() {
  static const Curl curl;
  if (!curl.library.there())
    fail(ErrorCode::unsupported, "reading by HTTP needs libcurl: {}; install it (Debian: libcurl4)",
         curl.library.missing());
  return curl;
}

}  // namespace headrace::storage
