#include "learn/handover/send/report_listener.hpp"

#include <arpa/inet.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <dcmtk/dcmnet/assoc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "headrace/core/error.hpp"
#include "learn/handover/send/commitment_report.hpp"

namespace headrace::handover {
namespace {

// For each message of a caller, since others wait meanwhile: a PACS speaks at once.
constexpr int kPatienceSeconds = 5;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string system_text(int error) { return std::generic_category().message(error); }

/// The address of the interface by which the peer is reached. A datagram socket is told its peer
/// without a packet being sent.
sockaddr_in own_address(const Peer& peer) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(peer.port);
  if (::getaddrinfo(peer.host.c_str(), port.c_str(), &hints, &found) != 0) {
    fail(ErrorCode::io, "{}: no host of the name '{}' is known. Nothing was sent.", peer.text(),
         peer.host);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  const Descriptor probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  socklen_t size = sizeof own;
  if (::connect(probe.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    fail(ErrorCode::io, "{}: there is no way to this host ({}). Nothing was sent.", peer.text(),
         system_text(errno));
  }
  return own;
}

/// An association of the peer's, accepted for storage commitment in either role.
class Accepted {
 public:
  Accepted(Descriptor caller, int timeout_s) {
    // DCMTK takes a connection that stands instead of listening itself on every interface.
    dcmExternalSocketHandle.set(caller.get());
    dcmDisableGethostbyaddr.set(OFTrue);  // no question to a name server
    OFCondition condition = ASC_initializeNetwork(NET_ACCEPTOR, 0, timeout_s, &network_);
    if (condition.good()) {
      caller.release();
      condition = ASC_receiveAssociation(network_, &association_, ASC_DEFAULTMAXPDU, nullptr,
                                         nullptr, OFFalse, DUL_NOBLOCK, timeout_s);
    }
    dcmExternalSocketHandle.set(-1);
    if (condition.good()) accept_commitment();
    if (condition.good()) condition = ASC_acknowledgeAssociation(association_);
    stands_ = condition.good();
  }
  ~Accepted() {
    if (association_ != nullptr) {
      ASC_dropSCPAssociation(association_, 1);
      ASC_destroyAssociation(&association_);
    }
    if (network_ != nullptr) ASC_dropNetwork(&network_);
  }
  Accepted(const Accepted&) = delete;
  Accepted& operator=(const Accepted&) = delete;

  T_ASC_Association* get() const { return stands_ ? association_ : nullptr; }

  /// The peer ends its association itself; a caller that does not is dropped.
  void await_release(int timeout_s) {
    T_ASC_PresentationContextID id = 0;
    T_DIMSE_Message message{};
    DcmDataset* detail = nullptr;
    const OFCondition condition =
        DIMSE_receiveCommand(association_, DIMSE_NONBLOCKING, timeout_s, &id, &message, &detail);
    delete detail;
    if (condition == DUL_PEERREQUESTEDRELEASE) {
      ASC_acknowledgeRelease(association_);
    } else {
      ASC_abortAssociation(association_);
    }
  }

 private:
  void accept_commitment() {
    T_ASC_Parameters* parameters = association_->params;
    for (int i = 0; i < ASC_countPresentationContexts(parameters); ++i) {
      T_ASC_PresentationContext offer;
      if (ASC_getPresentationContext(parameters, i, &offer).bad()) continue;
      const char* syntax = nullptr;
      for (int k = 0; k < offer.transferSyntaxCount; ++k) {
        const char* offered = offer.proposedTransferSyntaxes[k];
        if (DcmXfer(offered).isNotEncapsulated() && syntax == nullptr) syntax = offered;
      }
      const bool commitment =
          std::strcmp(offer.abstractSyntax, UID_StorageCommitmentPushModelSOPClass) == 0;
      if (commitment && syntax != nullptr) {
        ASC_acceptPresentationContext(parameters, offer.presentationContextID, syntax,
                                      offer.proposedRole);
      } else {
        ASC_refusePresentationContext(
            parameters, offer.presentationContextID,
            commitment ? ASC_P_TRANSFERSYNTAXESNOTSUPPORTED : ASC_P_ABSTRACTSYNTAXNOTSUPPORTED);
      }
    }
  }

  T_ASC_Network* network_ = nullptr;
  T_ASC_Association* association_ = nullptr;
  bool stands_ = false;
};

}  // namespace

ReportListener::ReportListener(const Peer& peer, int port) {
  sockaddr_in address = own_address(peer);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  constexpr int kWaiting = 4;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kWaiting) != 0) {
    fail(ErrorCode::io,
         "port {} for the report of the storage commitment can't be opened ({}). Choose another, "
         "and state it in the PACS. Nothing was sent.",
         port, system_text(errno));
  }
  socket_ = socket.release();
}

ReportListener::~ReportListener() { ::close(socket_); }

std::unique_ptr<DcmDataset> ReportListener::wait(const std::string& transaction_uid,
                                                 std::chrono::milliseconds limit, int timeout_s) {
  pollfd waiting{socket_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(limit.count())) != 1) return nullptr;
  Descriptor caller(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
  if (caller.get() < 0) return nullptr;
  timeout_s = std::min(timeout_s, kPatienceSeconds);
  Accepted association(Descriptor(caller.release()), timeout_s);
  if (association.get() == nullptr) return nullptr;
  auto report = receive_report(*association.get(), transaction_uid, timeout_s);
  if (report.condition.good()) association.await_release(timeout_s);
  return std::move(report.content);
}

}  // namespace headrace::handover
