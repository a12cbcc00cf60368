#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// What tells the content of an object from another under the same name. Empty: not known.
struct HttpVersion {
  std::string etag;           ///< strong ones alone
  std::string last_modified;  ///< as the server writes it
  std::string id;             ///< of a bucket that keeps versions (x-amz-version-id)
};

/// A range of an object, as it is asked for.
struct HttpRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;  ///< at least 1
  bool from_end = false;    ///< the last `count` bytes; `first` is 0
  /// Of an object that was opened: other answers are errors. Not set: it is opened by this request,
  /// and may be shorter than asked for, or absent.
  std::optional<std::uint64_t> size;
  HttpVersion version;   ///< the same
  bool listing = false;  ///< no object, but what a bucket has: a whole body of at most `count`
};

/// The head of an answer, line by line.
struct HttpHead {
  int status = 0;
  struct Range {
    std::uint64_t first = 0, last = 0;
  };
  std::optional<Range> range;          ///< Content-Range
  std::optional<std::uint64_t> total;  ///< of Content-Range
  std::optional<std::uint64_t> length;
  HttpVersion version;
  std::string encoding, location;
  std::optional<int> retry_after_s;
  std::optional<std::int64_t> date_s;  ///< the server's clock, since 1970
  std::string bucket_region;           ///< of S3: where the bucket lies
  std::string code;                    ///< of S3: the error's, from the body (error_code)

  /// One line, with or without its end. A status line begins a new head.
  void take(std::string_view line);
};

/// What an answer means for its request.
struct HttpVerdict {
  enum class Kind { good, absent, again, wrong };
  Kind kind = Kind::good;
  std::string why;                 ///< of again and wrong
  ErrorCode code = ErrorCode::io;  ///< the same
  std::uint64_t size = 0;          ///< of the object; of good
};

/// The code of an error of S3, such as "AccessDenied", from the beginning of a body that may be one;
/// else empty.
std::string error_code(std::string_view body);
/// Whether these keys were right once: new ones may be there by now.
bool keys_have_expired(const HttpHead& head);

/// Which bytes of the object an answer with this head has to have; nothing where it can't be right.
/// From the head alone, before a byte is kept.
std::optional<HttpHead::Range> expected_range(const HttpRange& asked, const HttpHead& head);

/// received: bytes of the body that were taken.
HttpVerdict judge(const HttpRange& asked, const HttpHead& head, std::uint64_t received);

}  // namespace headrace::storage
