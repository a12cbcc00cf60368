#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/option_name.hpp"
#include "learn/handover/send/send_files.hpp"
#include "learn/handover/send/stow_files.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "PATH is a DICOM file, or a folder: every DICOM object in it is sent, other files are counted. "
    "Each is sent as\n"
    "it is, on one association or connection; no other connection is made. Sending again is "
    "harmless: the objects'\n"
    "UIDs are fixed.\n"
    "--commit asks the PACS to promise that it keeps the objects. A PACS that reports this only on "
    "an association\n"
    "of its own (Orthanc) needs --commit-port, and the title of --from with this host and port in "
    "its settings.\n"
    "A web address is the root of a PACS' DICOMweb (STOW-RS). Credentials for it are read from the "
    "environment:\n"
    "HEADRACE_DICOMWEB_USER is name:password, HEADRACE_DICOMWEB_TOKEN a bearer token.\n"
    "\n"
    "Examples:\n"
    "  headrace send for-pacs --to ORTHANC@pacs.example:104\n"
    "  headrace send series seg.dcm --to PACS@10.0.0.5:11112 --from READER1 --commit\n"
    "  headrace send for-pacs --to https://pacs.example/dicom-web --ca-file hospital.pem\n"
    "Exit codes: 0 every file is stored (and kept, with --commit), 1 not all, 2 usage.";

struct Arguments {
  std::vector<std::string> paths;
  std::string to;
  std::string ca_file;
  handover::SendOptions options;
  bool json = false;
};

Json json_of(const handover::SentFile& file) {
  return {{"file", file.path},
          {"sop_class_uid", file.sop_class_uid},
          {"sop_instance_uid", file.sop_instance_uid},
          {"transfer_syntax_uid", file.transfer_syntax_uid},
          {"outcome", name_of(file.outcome)},
          {"status", or_null(file.status)},
          {"reason", file.reason}};
}

Json json_of(const handover::Commitment& commitment) {
  Json failures = Json::array();
  for (const auto& failure : commitment.failures)
    failures.push_back(
        {{"sop_instance_uid", failure.sop_instance_uid}, {"reason", failure.reason}});
  return {{"committed", commitment.committed_uids},
          {"failed", failures},
          {"reason", commitment.reason}};
}

void print_json(const handover::SendReport& report, const std::optional<std::string>& from) {
  Json files = Json::array();
  for (const auto& file : report.files) files.push_back(json_of(file));
  fmt::print(
      "{}",
      dump_json({{"to", report.to},
                 {"from", or_null(from)},
                 {"files", files},
                 {"stored", report.stored()},
                 {"skipped", report.skipped},
                 {"commitment", report.commitment ? json_of(*report.commitment) : Json(nullptr)}}));
}

void print_file(const handover::SentFile& file) {
  fmt::print("{} {}{}{}\n", name_of(file.outcome), file.path, file.reason.empty() ? "" : ": ",
             file.reason);
  std::fflush(stdout);  // known as soon as it is so, whatever ends the program
}

void print_end(const handover::SendReport& report) {
  if (report.skipped > 0) fmt::print("{} files that are not DICOM were left out\n", report.skipped);
  if (report.problem()) return;
  fmt::print("{}: {} of {} files were stored{}\n", report.to, report.stored(), report.files.size(),
             report.commitment ? ", and the PACS commits to keep them" : "");
}

handover::SendReport stow(const Arguments& arguments) {
  if (arguments.options.commit)
    fail(ErrorCode::usage, "{} is for AET@host:port; web addresses have no storage commitment.",
         Option{"commit"});
  handover::StowOptions options;
  options.to = arguments.to;
  options.credentials = handover::web_credentials_from_environment();
  options.ca_file = arguments.ca_file;
  options.timeout_s = arguments.options.timeout_s;
  if (!arguments.json) options.on_file = print_file;
  return handover::stow_files(arguments.paths, options);
}

handover::SendReport store(const Arguments& arguments) {
  if (!arguments.ca_file.empty())
    fail(ErrorCode::usage, "{} is for https addresses.", Option{"ca_file"});
  handover::SendOptions options = arguments.options;
  options.to = handover::parse_peer(arguments.to);
  if (!arguments.json) options.on_file = print_file;
  return handover::send_files(arguments.paths, options);
}

void run(const Arguments& arguments) {
  const bool web = handover::is_web_address(arguments.to);
  const auto report = web ? stow(arguments) : store(arguments);
  if (arguments.json) {
    print_json(report, web ? std::nullopt : std::optional(arguments.options.from));
  } else {
    print_end(report);
  }
  if (const auto problem = report.problem()) fail(ErrorCode::io, "{}", *problem);
}

}  // namespace

void add_send(Command app) {
  constexpr int kLongestWait = 86400;
  Command sub = app.subcommand("send", "Sends DICOM files to a PACS (C-STORE or STOW-RS).");
  sub.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  handover::SendOptions& options = arguments->options;
  sub.option("PATH", arguments->paths, "DICOM files, and folders of them").required();
  sub.option("--to", arguments->to, "the PACS: AET@host:port, or https://host/dicom-web")
      .required();
  sub.option("--from", options.from, "the sender's AE title").shows_default();
  CommandOption commit =
      sub.flag("--commit", options.commit, "ask for storage commitment, and wait for it");
  sub.option("--commit-port", options.commit_port,
             "where the PACS may report the commitment on an association of its own")
      .range(1, 65535)
      .needs(commit);
  sub.option("--ca-file", arguments->ca_file,
             "https: certificates (PEM) to trust [default: the system's]")
      .existing_file();
  sub.option("--timeout", options.timeout_s,
             "seconds for connecting, for each answer, and for the commitment")
      .range(1, kLongestWait)
      .shows_default();
  sub.flag("--json", arguments->json, "print one JSON object");
  sub.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
