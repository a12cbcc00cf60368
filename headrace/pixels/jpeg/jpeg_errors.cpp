#include "headrace/pixels/jpeg/jpeg_errors.hpp"

#include <jerror.h>

namespace headrace::pixels {

void JpegErrors::attach(j_common_ptr info) {
  info->err = jpeg_std_error(&manager_);
  info->client_data = this;
  manager_.error_exit = on_error;
  manager_.emit_message = on_message;
}

void JpegErrors::on_error(j_common_ptr info) {
  auto& errors = *static_cast<JpegErrors*>(info->client_data);
  info->err->format_message(info, errors.text_.data());
  std::longjmp(errors.jump_, 1);
}

void JpegErrors::on_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // -1 is a warning, the others are traces
  auto& errors = *static_cast<JpegErrors*>(info->client_data);
  const int code = info->err->msg_code;
  if (errors.damage_ == JpegDamage::refused) {
    // These two are about markers and leave the pixels as they are.
    if (code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR) on_error(info);
  } else if ((code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) && !errors.ends_early_) {
    info->err->format_message(info, errors.text_.data());
    errors.ends_early_ = true;
  }
}

}  // namespace headrace::pixels
