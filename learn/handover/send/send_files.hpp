#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "learn/handover/send/peer.hpp"

namespace headrace::handover {

/// What became of one file.
enum class SendOutcome {
  stored,           ///< C-STORE ended with success
  warned,           ///< stored, with a warning: the reason says which
  refused,          ///< C-STORE ended with a failure
  no_presentation,  ///< the peer takes no objects of this kind, or not in this transfer syntax
  unreadable,       ///< a DICOM file that can't be read; nothing of it was sent
  unanswered,       ///< the association was lost before the answer: it may be stored or not
  not_sent          ///< the association was lost before it was its turn
};

/// Where storage commitment ended (DICOM PS3.4, annex J).
struct Commitment {
  struct Failure {
    std::string sop_instance_uid, reason;
  };
  std::vector<std::string> committed_uids;  ///< SOP instances that the peer promises to keep
  std::vector<Failure> failures;            ///< those that it names as failed, or does not name
  std::string reason;                       ///< why there is no report; empty when there is one

  bool complete() const { return reason.empty() && failures.empty(); }
};

struct SentFile {
  std::string path;
  std::string sop_class_uid, sop_instance_uid, transfer_syntax_uid;
  SendOutcome outcome = SendOutcome::not_sent;
  std::optional<std::uint16_t> status;  ///< of the C-STORE answer, when there was one
  std::string reason;                   ///< empty for `stored`

  bool is_stored() const {
    return outcome == SendOutcome::stored || outcome == SendOutcome::warned;
  }
};

struct SendReport {
  std::string to;                        ///< the peer, as Peer::text() or a web address has it
  std::vector<SentFile> files;           ///< in the order in which they were sent
  std::size_t skipped = 0;               ///< files of folders that are no DICOM objects
  std::optional<Commitment> commitment;  ///< when it was asked for and files were stored

  std::size_t stored() const;
  /// One sentence: how many of how many files were stored and why the others were not, and what
  /// failed of the commitment. Nothing when all is well.
  std::optional<std::string> problem() const;
};

struct SendOptions {
  Peer to;
  std::string from = "HEADRACE";   ///< the calling AE title
  int timeout_s = 30;              ///< for connecting, for each answer, and for the commitment
  bool commit = false;             ///< ask for storage commitment of what was stored
  std::optional<int> commit_port;  ///< where the peer may report it on an association of its own
  std::function<void(const SentFile&)> on_file;  ///< called as soon as a file's outcome is known
};

/// Sends files to a peer by C-STORE on one association, each in its own transfer syntax: nothing is
/// decoded or encoded anew. `paths` are DICOM files, and folders, of which every DICOM object at
/// any depth is sent, in the order of paths, and other files are counted. Sending again is harmless:
/// an object's instance UID is fixed.
///
/// It connects to the host and port of `to` and to nothing else. With `commit` it asks for storage
/// commitment and waits for the report on the same association; with `commit_port` also for an
/// association of the peer's own, at that port of the interface by which the peer is reached.
///
/// Errors, all before anything is sent: usage (an option, a named file that is not a DICOM object,
/// more than 127 kinds of objects), not_found (a path; no DICOM object at all), malformed (a named
/// file), io (no connection, association refused, the commitment's port is taken), unsupported
/// (a build without DCMTK). What fails later is in the report. Calls wait for each other, since
/// DCMTK's time limits are settings of the process; the first one has DCMTK ignore SIGPIPE.
SendReport send_files(const std::vector<std::string>& paths, const SendOptions& options);

}  // namespace headrace::handover

namespace headrace {
template <>
inline constexpr auto kNamesOf<handover::SendOutcome> =
    names<handover::SendOutcome>({{handover::SendOutcome::stored, "stored"},
                                  {handover::SendOutcome::warned, "stored-with-warning"},
                                  {handover::SendOutcome::refused, "refused"},
                                  {handover::SendOutcome::no_presentation, "kind-refused"},
                                  {handover::SendOutcome::unreadable, "unreadable"},
                                  {handover::SendOutcome::unanswered, "unanswered"},
                                  {handover::SendOutcome::not_sent, "not-sent"}});
}  // namespace headrace
