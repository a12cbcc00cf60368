#pragma once
#include <cstddef>
#include <string>

#include "headrace/device/shared_library.hpp"

namespace headrace::storage {

/// libcurl, by libcurl.so.4 where there is one (HEADRACE_LIBCURL may name the file; 7.68 or later).
/// Prototypes and numbers are restated from curl/curl.h and curl/multi.h, whose ABI does not change:
/// no build needs these headers, and no program that reads local files needs the library.
struct Curl {
  using Easy = void;
  using Multi = void;
  using List = void;
  struct Message {
    int kind;
    Easy* easy;
    union {
      void* whatever;
      int result;
    } data;
  };
  enum Option : int {
    kWriteData = 10001,
    kUrl = 10002,
    kProxy = 10004,
    kRange = 10007,
    kErrorBuffer = 10010,
    kLowSpeedLimit = 19,
    kLowSpeedTime = 20,
    kHttpHeader = 10023,
    kHeaderData = 10029,
    kFollowLocation = 52,
    kCaFile = 10065,
    kCaPath = 10097,
    kHttpVersion = 84,
    kNoSignal = 99,
    kPrivate = 10103,
    kTimeoutMs = 155,
    kConnectTimeoutMs = 156,
    kProtocols = 181,
    kWriteFunction = 20011,
    kHeaderFunction = 20079
  };
  enum MultiOption : int { kMaxConnects = 6, kMaxHostConnections = 7 };
  enum Info : int { kInfoPrivate = 0x100000 + 21 };
  enum Result : int { kOk = 0, kWriteError = 23, kCertificate = 60, kCaUnreadable = 77 };
  static constexpr long kHttp11 = 2, kHttpOrHttps = 3, kGlobalDefault = 3;
  static constexpr int kDone = 1;
  static constexpr std::size_t kErrorBytes = 256;
  using Take = std::size_t (*)(char* bytes, std::size_t size, std::size_t count, void* user);

  device::SharedLibrary library;
  int (*global_init)(long) = nullptr;
  Easy* (*easy_init)() = nullptr;
  void (*easy_reset)(Easy*) = nullptr;
  void (*easy_cleanup)(Easy*) = nullptr;
  int (*easy_setopt)(Easy*, int, ...) = nullptr;
  int (*easy_getinfo)(Easy*, int, ...) = nullptr;
  const char* (*easy_strerror)(int) = nullptr;
  List* (*slist_append)(List*, const char*) = nullptr;
  void (*slist_free_all)(List*) = nullptr;
  Multi* (*multi_init)() = nullptr;
  int (*multi_setopt)(Multi*, int, ...) = nullptr;
  int (*multi_add_handle)(Multi*, Easy*) = nullptr;
  int (*multi_remove_handle)(Multi*, Easy*) = nullptr;
  int (*multi_perform)(Multi*, int* running) = nullptr;
  int (*multi_poll)(Multi*, void* extra, unsigned extra_count, int timeout_ms,
                    int* count) = nullptr;
  int (*multi_wakeup)(Multi*) = nullptr;
  Message* (*multi_info_read)(Multi*, int* left) = nullptr;

  Curl();
  /// Started once a process. Errors: unsupported (it is not there; says how to get it).
  static const Curl& shared();
};

}  // namespace headrace::storage
