#include "learn/handover/send/storage_status.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace headrace::handover {
namespace {

struct Named {
  std::uint16_t first, last;
  std::string_view text;
};

std::string_view name_in(std::span<const Named> table, std::uint16_t status) {
  for (const Named& row : table)
    if (status >= row.first && status <= row.last) return row.text;
  return "not in the standard";
}

constexpr Named kStatuses[] = {
    {0x0001, 0x0001, "warning without a reason"},
    {0x0105, 0x0105, "no such attribute"},
    {0x0106, 0x0106, "invalid value of an attribute"},
    {0x0107, 0x0107, "attributes that it does not know"},
    {0x0110, 0x0110, "processing failure"},
    {0x0111, 0x0111, "it has an instance of this UID already"},
    {0x0112, 0x0112, "no such object instance"},
    {0x0116, 0x0116, "a value out of range"},
    {0x0117, 0x0117, "invalid instance UID"},
    {0x0118, 0x0118, "no such SOP class"},
    {0x0119, 0x0119, "SOP class and instance do not fit each other"},
    {0x0122, 0x0122, "SOP class not supported"},
    {0x0124, 0x0124, "not authorized"},
    {0x0210, 0x0210, "duplicate invocation"},
    {0x0211, 0x0211, "operation not known"},
    {0x0212, 0x0212, "mistyped argument"},
    {0x0213, 0x0213, "resource limitation"},
    {0xA700, 0xA7FF, "out of resources"},
    {0xA900, 0xA9FF, "the data set does not fit its SOP class"},
    {0xB000, 0xB000, "data elements were changed"},
    {0xB006, 0xB006, "data elements were left out"},
    {0xB007, 0xB007, "the data set does not fit its SOP class"},
    {0xB000, 0xBFFF, "warning"},
    {0xC000, 0xCFFF, "can't be understood, or can't be processed"},
    {0xFE00, 0xFE00, "cancelled"},
};

constexpr Named kFailureReasons[] = {
    {0x0110, 0x0110, "processing failure"},
    {0x0112, 0x0112, "it has no such instance"},
    {0x0119, 0x0119, "it has the instance with another SOP class"},
    {0x0122, 0x0122, "SOP class not supported"},
    {0x0131, 0x0131, "duplicate transaction UID"},
    {0x0213, 0x0213, "resource limitation"},
};

}  // namespace

StatusKind kind_of_status(std::uint16_t status) {
  if (status == 0) return StatusKind::success;
  const bool warning = status == 0x0001 || status == 0x0107 || status == 0x0116 ||
                       (status >= 0xB000 && status <= 0xBFFF);
  return warning ? StatusKind::warning : StatusKind::failure;
}

std::string status_text(std::uint16_t status) {
  return fmt::format("status 0x{:04X}, {}", status, name_in(kStatuses, status));
}

std::string commitment_failure_text(std::uint16_t reason) {
  return fmt::format("reason 0x{:04X}, {}", reason, name_in(kFailureReasons, reason));
}

}  // namespace headrace::handover
