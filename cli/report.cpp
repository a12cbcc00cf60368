#include "learn/report/run_report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/report/comparison.hpp"
#include "learn/report/folds_report.hpp"
#include "learn/runs/folds_folder.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "One run: its page, made again from the files of its folder. Several runs: one page with their\n"
    "curves over each other, figures with intervals side by side by cohort, scanner and phase, and\n"
    "the config keys that differ. A folder of folds (headrace train --folds): the pooled figures,\n"
    "their spread over folds, and links to each fold's page. A page is one file that loads nothing from anywhere; it shows what\n"
    "the run folders hold, identifiers of images included.\n"
    "\n"
    "Examples:\n"
    "  headrace report runs/gleason\n"
    "  headrace report runs/gleason --out gleason.html\n"
    "  headrace report runs/a runs/b runs/c --out compare.html\n"
    "  headrace report runs/five\n"
    "\n"
    "Exit codes: 0 done, 1 failed (no run in a folder, a damaged file), 2 usage.";

struct Arguments {
  std::vector<std::string> runs;
  std::string out;
};

void run(const Arguments& arguments) {
  const std::vector<std::string>& folders = arguments.runs;
  if (folders.size() > 1 && arguments.out.empty()) {
    fail(ErrorCode::usage,
         "{} runs make one page that belongs to no run folder: say with --out where it goes.",
         folders.size());
  }
  // Its files are those that the registry's log names by their hashes.
  if (folders.size() == 1 && arguments.out.empty() &&
      runs::RunFolder::is_promoted(folders.front())) {
    fail(ErrorCode::usage,
         "{} is a promoted model, which stays as it was promoted: say with --out where its page "
         "goes.",
         folders.front());
  }
  const std::string html =
      folders.size() > 1 ? report::render_comparison({folders.begin(), folders.end()})
      : runs::holds_folds(folders.front()) ? report::render_folds(folders.front())
                                           : report::render_run(folders.front());
  const std::filesystem::path target = std::filesystem::absolute(
      arguments.out.empty() ? std::filesystem::path(folders.front()) / "report.html"
                            : std::filesystem::path(arguments.out));
  storage::open_store(storage::Place::parse(target.parent_path()))
      ->put_text(target.filename().string(), html);
  fmt::print("{}\n", target.string());
}

}  // namespace

void add_report(Command app) {
  Command report = app.subcommand(
      "report", "Makes a run's HTML report again, or one page that compares several runs.");
  report.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  report.option("RUN", arguments->runs, "run folders of headrace train, or a folder of folds")
      .required();
  report.option(
      "--out", arguments->out,
      "HTML file to write (default for one run: RUN/report.html; a promoted model needs it)");
  report.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
