#include <fmt/format.h>

#include <memory>

#include "cli/ingest_kinds.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/versions/refer_files.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "For stores of `ingest slides --pixels reference`, after the slides' files moved. Each file is "
    "looked at\n"
    "there first (size, and up to 4 MiB of its bytes). No version and no hash changes.\n"
    "\n"
    "Examples:\n"
    "  headrace ingest files cohort.zarr /archive/slides\n"
    "  headrace ingest files cohort.zarr https://slides.site:8443/cohort\n"
    "\n"
    "Exit codes: 0 done, 1 failed (a file is not there), 2 usage, 4 a file is another one.";

void run(const ingest::ReferOptions& options, bool json) {
  const ingest::ReferResult result = ingest::refer_files(options);
  if (json) {
    fmt::print(
        "{}",
        dump_json({{"files", result.files}, {"before", result.before}, {"after", result.after}}));
    return;
  }
  fmt::print("{} files lie in {}\nwere in {}\n", result.files, result.after, result.before);
}

}  // namespace

void add_ingest_files(Command ingest) {
  Command app = ingest.subcommand("files", "Where the files of pixels by reference lie now.");
  app.footer(kFooter);
  struct Arguments {
    ingest::ReferOptions options;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  app.option("STORE", arguments->options.store, "the store's folder").required();
  app.option("ROOT", arguments->options.root, "the folder or URL that holds them").required();
  app.option("--jobs", arguments->options.jobs, "threads; 0: every core").shows_default();
  app.flag("--json", arguments->json, "print one JSON object");
  app.callback([arguments] { run(arguments->options, arguments->json); });
}

}  // namespace headrace::cli
