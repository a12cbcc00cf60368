#include "learn/handover/send/association.hpp"

#include <dcmtk/dcmdata/dcuid.h>
#include <dcmtk/dcmnet/cond.h>
#include <dcmtk/dcmnet/dcmlayer.h>
#include <dcmtk/dcmnet/dcmtrans.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>

#include "headrace/core/error.hpp"
#include "learn/handover/send/network_text.hpp"

namespace headrace::handover {
namespace {

// Presentation contexts have the odd numbers of a byte.
constexpr std::size_t kMostContexts = 128;

/// Commands and reports of storage commitment are small: the syntax that every peer has.
ObjectSyntax commitment_kind() {
  return {UID_StorageCommitmentPushModelSOPClass, UID_LittleEndianImplicitTransferSyntax};
}

[[noreturn]] void fail_internal(const Peer& to, const OFCondition& condition) {
  fail(ErrorCode::internal, "{}: DCMTK can't prepare an association ({}).", to.text(),
       condition.text());
}

void set_time_limits(int seconds) {
  dcmConnectionTimeout.set(seconds);
  dcmSocketSendTimeout.set(seconds);
  dcmSocketReceiveTimeout.set(seconds);
}

/// Connections without Nagle's algorithm. A C-STORE is a small command and then its data set, and
/// with it the second waits 40 ms for the peer's acknowledgement of the first.
class PromptTransport : public DcmTransportLayer {
 public:
  PromptTransport() : DcmTransportLayer() {}
  DcmTransportConnection* createConnection(DcmNativeSocketType socket, OFBool secure) override {
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return DcmTransportLayer::createConnection(socket, secure);
  }
};

/// Parameters that are freed unless an association takes them.
class Parameters {
 public:
  explicit Parameters(const SendOptions& options) {
    OFCondition condition = ASC_createAssociationParameters(&raw_, ASC_DEFAULTMAXPDU);
    if (condition.good()) {
      ASC_setAPTitles(raw_, options.from.c_str(), options.to.ae_title.c_str(), nullptr);
      const std::string address = fmt::format("{}:{}", options.to.host, options.to.port);
      condition = ASC_setPresentationAddresses(raw_, "localhost", address.c_str());
    }
    if (condition.bad()) fail_internal(options.to, condition);
  }
  ~Parameters() {
    if (raw_ != nullptr) ASC_destroyAssociationParameters(&raw_);
  }
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  T_ASC_Parameters* get() const { return raw_; }
  void release() { raw_ = nullptr; }

 private:
  T_ASC_Parameters* raw_ = nullptr;
};

}  // namespace

Association::Association(const SendOptions& options, const std::vector<ObjectSyntax>& kinds) {
  std::vector<ObjectSyntax> all = kinds;
  if (options.commit) all.push_back(commitment_kind());
  if (all.size() > kMostContexts) {
    fail(ErrorCode::usage,
         "{} kinds of objects (SOP class and transfer syntax), at most {} fit one association. "
         "Send them in parts.",
         kinds.size(), options.commit ? kMostContexts - 1 : kMostContexts);
  }
  set_time_limits(options.timeout_s);
  OFCondition condition = ASC_initializeNetwork(NET_REQUESTOR, 0, options.timeout_s, &network_);
  if (condition.good()) {
    transport_ = std::make_unique<PromptTransport>();
    condition = ASC_setTransportLayer(network_, transport_.get(), 0);
  }
  if (condition.bad()) fail_internal(options.to, condition);
  try {
    request(options, all);
  } catch (...) {
    drop();
    throw;
  }
}

void Association::request(const SendOptions& options, const std::vector<ObjectSyntax>& kinds) {
  Parameters parameters(options);
  T_ASC_PresentationContextID id = 1;
  for (const ObjectSyntax& kind : kinds) {
    const char* syntax = kind.transfer_syntax_uid.c_str();
    const OFCondition condition =
        ASC_addPresentationContext(parameters.get(), id, kind.sop_class_uid.c_str(), &syntax, 1);
    if (condition.bad()) fail_internal(options.to, condition);
    presentations_[kind].id = id;
    id = static_cast<T_ASC_PresentationContextID>(id + 2);
  }
  const OFCondition condition = ASC_requestAssociation(network_, parameters.get(), &association_);
  T_ASC_Parameters& used = *parameters.get();
  if (association_ != nullptr) parameters.release();  // it has them, also after a refusal
  if (condition.bad()) {
    const std::string why = refusal_text(condition, used, options);
    if (association_ != nullptr) ASC_destroyAssociation(&association_);
    fail(ErrorCode::io, "{}: {} Nothing was sent.", options.to.text(), why);
  }
  for (int i = 0; i < ASC_countPresentationContexts(association_->params); ++i) {
    T_ASC_PresentationContext context;
    if (ASC_getPresentationContext(association_->params, i, &context).bad()) continue;
    for (auto& [kind, presentation] : presentations_)
      if (presentation.id == context.presentationContextID)
        presentation.answer = context.resultReason;
  }
}

Association::~Association() { drop(); }

void Association::drop() noexcept {
  if (association_ != nullptr) {
    if (lost_ || ASC_releaseAssociation(association_).bad()) ASC_abortAssociation(association_);
    ASC_destroyAssociation(&association_);
  }
  if (network_ != nullptr) ASC_dropNetwork(&network_);
}

OFCondition Association::lose(const OFCondition& failure) {
  lost_ = true;
  if (failure != DIMSE_SENDFAILED) return failure;
  T_ASC_PresentationContextID id = 0;
  T_DIMSE_Message message{};
  const OFCondition word =
      DIMSE_receiveCommand(association_, DIMSE_NONBLOCKING, 0, &id, &message, nullptr);
  return word == DUL_PEERABORTEDASSOCIATION || word == DUL_PEERREQUESTEDRELEASE ? word : failure;
}

Presentation Association::commitment() const { return presentation(commitment_kind()); }

}  // namespace headrace::handover
