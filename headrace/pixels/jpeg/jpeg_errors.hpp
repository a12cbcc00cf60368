#pragma once
#include <cstdio>  // jpeglib.h needs it before itself

#include <jpeglib.h>

#include <array>
#include <csetjmp>

namespace headrace::pixels {

/// What is made of libjpeg's warnings: it goes on with pixels that it guesses.
enum class JpegDamage {
  refused,  ///< the first one ends the decoding
  mended    ///< taken as other readers take it; only an image that ends early is an error
};

/// How libjpeg reports. Its errors leave it by a jump: exceptions may not pass through C.
class JpegErrors {
 public:
  explicit JpegErrors(JpegDamage damage) : damage_(damage) {}
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  /// Before the (de)compressor is created. This must outlive it.
  void attach(j_common_ptr info);

  /// Runs calls of libjpeg; false if one of them failed, and text() says why. No destructor runs on
  /// the way out, so `calls` may not own anything.
  template <typename Calls>
  bool attempt(const Calls& calls) {
    if (setjmp(jump_) != 0) return false;
    calls();
    return true;
  }

  JpegDamage damage() const noexcept { return damage_; }
  bool ends_early() const noexcept { return ends_early_; }
  const char* text() const noexcept { return text_.data(); }

 private:
  [[noreturn]] static void on_error(j_common_ptr info);
  static void on_message(j_common_ptr info, int level);

  JpegDamage damage_;
  bool ends_early_ = false;
  jpeg_error_mgr manager_{};
  std::jmp_buf jump_{};
  std::array<char, JMSG_LENGTH_MAX> text_{};
};

}  // namespace headrace::pixels
