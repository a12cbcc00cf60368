#pragma once
// For use inside handover/send only: requests to one web server, by libcurl.
#include <memory>
#include <optional>
#include <string>

#include "learn/handover/send/stow_answer.hpp"
#include "learn/handover/send/stow_files.hpp"

namespace headrace::handover {

/// The end of a request without an answer.
struct WebLoss {
  std::string reason;     ///< "no answer within 30 s"
  bool connected = true;  ///< whether anything can have been sent
};

struct WebResult {
  HttpAnswer answer;
  std::optional<WebLoss> loss;  ///< instead of the answer
};

class WebConnection {
 public:
  /// Connects with the first request. Errors: usage (the address; credentials without https).
  explicit WebConnection(const StowOptions& options);
  ~WebConnection();
  WebConnection(const WebConnection&) = delete;
  WebConnection& operator=(const WebConnection&) = delete;

  /// Posts a DICOM file as the one part of a multipart/related message. `boundary` must not occur
  /// in it. Errors: those of reading the file.
  WebResult post(const std::string& path, const std::string& boundary);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace headrace::handover
