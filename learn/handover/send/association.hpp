#pragma once
// For use inside handover/send only: an association with a peer, as its requestor.
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmnet/dcmlayer.h>
#include <dcmtk/dcmnet/dimse.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "learn/handover/send/send_files.hpp"

namespace headrace::handover {

/// What one presentation context is for: one kind of object in one transfer syntax, so that the
/// peer can't choose another in which the object would have to be encoded anew.
struct ObjectSyntax {
  std::string sop_class_uid, transfer_syntax_uid;
  bool operator<(const ObjectSyntax& other) const {
    return std::tie(sop_class_uid, transfer_syntax_uid) <
           std::tie(other.sop_class_uid, other.transfer_syntax_uid);
  }
};

/// The peer's word about a presentation context.
struct Presentation {
  T_ASC_PresentationContextID id = 0;
  T_ASC_P_ResultReason answer = ASC_P_NOTYETNEGOTIATED;
};

class Association {
 public:
  /// Connects and negotiates, within the limits of time of the options. Errors: io (who refused and
  /// why), usage (more kinds than an association holds).
  Association(const SendOptions& options, const std::vector<ObjectSyntax>& kinds);
  /// Releases the association, or aborts it where it is no longer in order.
  ~Association();
  Association(const Association&) = delete;
  Association& operator=(const Association&) = delete;

  Presentation presentation(const ObjectSyntax& kind) const { return presentations_.at(kind); }
  /// For storage commitment, which was offered with the options' `commit`.
  Presentation commitment() const;

  T_ASC_Association* get() const noexcept { return association_; }
  DIC_US next_message_id() { return association_->nextMsgID++; }

  /// After an error of the network: the peer will answer nothing more. Returns why it is so: what
  /// the peer said last, where it said anything, else `failure`. Who refuses an object that is still
  /// being sent aborts the association and closes the connection, so it is chance whether this side
  /// meets the abort or the closed connection first.
  OFCondition lose(const OFCondition& failure);
  bool lost() const noexcept { return lost_; }

 private:
  void request(const SendOptions& options, const std::vector<ObjectSyntax>& kinds);
  void drop() noexcept;

  std::unique_ptr<DcmTransportLayer> transport_;  ///< used by the network
  T_ASC_Network* network_ = nullptr;
  T_ASC_Association* association_ = nullptr;
  std::map<ObjectSyntax, Presentation> presentations_;
  bool lost_ = false;
};

}  // namespace headrace::handover
