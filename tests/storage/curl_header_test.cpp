// The numbers that storage/curl.hpp restates, held to libcurl's own header when this file is
// compiled.
#include <curl/curl.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "headrace/storage/curl.hpp"

namespace headrace::storage {
namespace {

struct Restated {
  long ours, theirs;
};

constexpr Restated kRestated[] = {{Curl::kWriteData, CURLOPT_WRITEDATA},
                                  {Curl::kUrl, CURLOPT_URL},
                                  {Curl::kProxy, CURLOPT_PROXY},
                                  {Curl::kRange, CURLOPT_RANGE},
                                  {Curl::kErrorBuffer, CURLOPT_ERRORBUFFER},
                                  {Curl::kHttpHeader, CURLOPT_HTTPHEADER},
                                  {Curl::kLowSpeedLimit, CURLOPT_LOW_SPEED_LIMIT},
                                  {Curl::kLowSpeedTime, CURLOPT_LOW_SPEED_TIME},
                                  {Curl::kHeaderData, CURLOPT_HEADERDATA},
                                  {Curl::kCaFile, CURLOPT_CAINFO},
                                  {Curl::kFollowLocation, CURLOPT_FOLLOWLOCATION},
                                  {Curl::kHttpVersion, CURLOPT_HTTP_VERSION},
                                  {Curl::kNoSignal, CURLOPT_NOSIGNAL},
                                  {Curl::kPrivate, CURLOPT_PRIVATE},
                                  {Curl::kTimeoutMs, CURLOPT_TIMEOUT_MS},
                                  {Curl::kConnectTimeoutMs, CURLOPT_CONNECTTIMEOUT_MS},
                                  {Curl::kWriteFunction, CURLOPT_WRITEFUNCTION},
                                  {Curl::kHeaderFunction, CURLOPT_HEADERFUNCTION},
                                  {Curl::kMaxConnects, CURLMOPT_MAXCONNECTS},
                                  {Curl::kMaxHostConnections, CURLMOPT_MAX_HOST_CONNECTIONS},
                                  {Curl::kInfoPrivate, CURLINFO_PRIVATE},
                                  {Curl::kDone, CURLMSG_DONE},
                                  {Curl::kOk, CURLE_OK},
                                  {Curl::kWriteError, CURLE_WRITE_ERROR},
                                  {Curl::kCertificate, CURLE_PEER_FAILED_VERIFICATION},
                                  {Curl::kCaUnreadable, CURLE_SSL_CACERT_BADFILE},
                                  {Curl::kHttp11, CURL_HTTP_VERSION_1_1},
                                  {Curl::kErrorBytes, CURL_ERROR_SIZE},
                                  {Curl::kGlobalDefault, CURL_GLOBAL_DEFAULT}};

TEST(CurlHeader, StatesTheSameNumbers) {
  for (const Restated& one : kRestated) EXPECT_EQ(one.ours, one.theirs);
}

static_assert(sizeof(Curl::Message) == sizeof(CURLMsg) &&
              offsetof(Curl::Message, data) == offsetof(CURLMsg, data));

}  // namespace
}  // namespace headrace::storage
