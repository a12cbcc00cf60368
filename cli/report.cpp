#include "headrace/report/run_report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "cli/commands.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace report runs/gleason\n"
    "  headrace report runs/gleason --out gleason.html\n"
    "\n"
    "Exit codes: 0 done, 1 failed (no run in that folder).";

void run(const std::string& folder, const std::string& out) {
  const std::string html = report::render_run(folder);
  const std::filesystem::path target = std::filesystem::absolute(
      out.empty() ? std::filesystem::path(folder) / "report.html" : std::filesystem::path(out));
  storage::LocalStore(target.parent_path()).put_text(target.filename().string(), html);
  fmt::print("{}\n", target.string());
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* report =
      app.add_subcommand("report", "Makes a run's HTML report again from the files of its folder.");
  report->footer(kFooter);
  struct Arguments {
    std::string run, out;
  };
  auto arguments = std::make_shared<Arguments>();
  report->add_option("RUN", arguments->run, "run folder of headrace train")->required();
  report->add_option("--out", arguments->out, "HTML file to write (default: RUN/report.html)");
  report->callback([arguments] { run(arguments->run, arguments->out); });
}

}  // namespace headrace::cli
