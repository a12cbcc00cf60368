#pragma once
#include <string>
#include <string_view>

namespace headrace::handover {

/// Where objects are sent: a DICOM application on the network, as a PACS.
struct Peer {
  std::string ae_title;  ///< the called AE title
  std::string host;      ///< a name, or an IPv4 address
  int port = 0;          ///< 1 to 65535
  /// "ORTHANC@pacs.example:4242", as parse_peer takes it.
  std::string text() const;
};

/// Reads "AET@host:port". Errors: usage (names what is missing or out of range).
Peer parse_peer(std::string_view text);

/// An AE title: 1 to 16 printable ASCII characters other than '\', not blank (DICOM PS3.5, 6.2).
/// Errors: usage.
void check_ae_title(std::string_view title);

}  // namespace headrace::handover
