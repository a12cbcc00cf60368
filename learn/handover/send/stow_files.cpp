#include "learn/handover/send/stow_files.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "learn/handover/send/files_to_send.hpp"
#include "learn/handover/send/stow_answer.hpp"
#include "learn/handover/send/web_connection.hpp"

namespace headrace::handover {
namespace {

/// A damaged file is found here, not by the server.
void check_file(const std::string& path) {
  if (!has_dicom_mark(path)) {
    fail(ErrorCode::malformed,
         "{}: a data set without the header of a DICOM file, which web servers need. Write it with "
         "one, for example by dcmconv.",
         path);
  }
  imaging::load_dicom(path, true);
}

/// Sends file after file, until one ends it for all.
class Sender {
 public:
  explicit Sender(const StowOptions& options) : to_(options.to), connection_(options) {}

  /// Errors: io, where there is no connection for the first file.
  void send(SentFile& file) {
    if (file.outcome == SendOutcome::unreadable) return;
    if (!ended_.empty()) {
      file.reason = ended_;
      return;
    }
    const auto result = post(file);
    if (!result) return;
    if (result->loss) {
      lose(file, *result->loss);
    } else if (!take_stow_answer(file, result->answer)) {
      ended_ = "nothing more was sent after that answer";
    }
    reached_ = true;
  }

 private:
  /// Nothing for a file that can't be read.
  std::optional<WebResult> post(SentFile& file) {
    try {
      check_file(file.path);
      // No object holds a hash of its own UID by chance.
      return connection_.post(file.path,
                              "headrace-" + sha256_hex(file.sop_instance_uid).substr(0, 32));
    } catch (const Error& error) {
      file.outcome = SendOutcome::unreadable;
      file.reason = error.what();
      return std::nullopt;
    }
  }

  void lose(SentFile& file, const WebLoss& loss) {
    if (!reached_ && !loss.connected)
      fail(ErrorCode::io, "{}: {}. Nothing was sent.", to_, loss.reason);
    file.outcome = loss.connected ? SendOutcome::unanswered : SendOutcome::not_sent;
    file.reason = "the connection was lost while it was sent: " + loss.reason;
    ended_ = "the connection was lost before it was sent";
  }

  std::string to_;
  WebConnection connection_;
  std::string ended_;
  bool reached_ = false;
};

}  // namespace

SendReport stow_files(const std::vector<std::string>& paths, const StowOptions& options) {
  if (options.timeout_s < 1)
    fail(ErrorCode::usage, "{}: {}, expected a second or more.", Option{"timeout"},
         options.timeout_s);
  Sender sender(options);
  FilesToSend found = files_to_send(paths);
  SendReport report{options.to, std::move(found.files), found.skipped, std::nullopt};
  Progress progress("sending", report.files.size(), "files");
  for (SentFile& file : report.files) {
    sender.send(file);
    progress.advance();
    if (options.on_file) options.on_file(file);
  }
  return report;
}

}  // namespace headrace::handover
