#pragma once
// For use inside handover/send only: where a peer reports a commitment on an association of its own.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <chrono>
#include <memory>
#include <string>

#include "learn/handover/send/peer.hpp"

namespace headrace::handover {

/// Listens at one port of the interface by which the peer is reached, from its making to its end.
/// Takes associations for storage commitment only.
class ReportListener {
 public:
  /// Errors: io (the port is taken; the host is not known).
  ReportListener(const Peer& peer, int port);
  ~ReportListener();
  ReportListener(const ReportListener&) = delete;
  ReportListener& operator=(const ReportListener&) = delete;

  /// Waits at most `limit` for a caller, and `timeout_s` for each of its messages, but no more than
  /// 5 s. Gives the report of the transaction; null where no caller brought it.
  std::unique_ptr<DcmDataset> wait(const std::string& transaction_uid,
                                   std::chrono::milliseconds limit, int timeout_s);

 private:
  int socket_ = -1;
};

}  // namespace headrace::handover
