#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "learn/handover/send/send_files.hpp"
#include "learn/handover/send/web_credentials.hpp"

namespace headrace::handover {

/// Whether a destination is a web address, "https://…" or "http://…", and no DICOM peer.
inline bool is_web_address(std::string_view to) {
  return to.starts_with("https://") || to.starts_with("http://");
}

struct StowOptions {
  std::string to;              ///< root of the PACS' DICOMweb: "https://pacs.example/dicom-web"
  WebCredentials credentials;  ///< only with https, or to this machine
  std::string ca_file;  ///< PEM file of certificates that vouch for `to`; empty: the system's
  int timeout_s = 30;   ///< for connecting, and for the longest time in which nothing moves
  std::function<void(const SentFile&)> on_file;  ///< called as soon as a file's outcome is known
};

/// Stores files at a web server by STOW-RS (DICOM PS3.18, 10.5), one object a request, each file's
/// bytes as they are, all on one connection where the server keeps it. `paths` as of send_files,
/// but a file without the DICOM header ("DICM") is `unreadable`. The status of a file is that which
/// the answer has for its object; there is none where only HTTP refused it.
///
/// It connects to the host of `to` and to nothing else: no proxy, no redirection. The certificate
/// and the name in it are verified. A file counts as stored only if the answer names it so. After an
/// answer that every other file would get too (credentials, address), and after a lost connection,
/// nothing more is sent.
///
/// Errors, all before anything is sent: usage (the address, an option, a named file that is not a
/// DICOM object), not_found (a path; no DICOM object at all), malformed (a named file), io (no
/// connection, a certificate that is not trusted), unsupported (a build without libcurl or DCMTK).
/// What fails later is in the report. Memory: one buffer of libcurl's and the answer, 4 MiB at most.
/// Safe from any thread.
SendReport stow_files(const std::vector<std::string>& paths, const StowOptions& options);

}  // namespace headrace::handover
