#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/stop_signal.hpp"
#include "headrace/core/error.hpp"
#include "learn/view/http/access.hpp"
#include "learn/view/http/http_server.hpp"
#include "learn/view/viewer.hpp"

namespace headrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "An input is a store, a run folder (the validation images of its store), the output of headrace\n"
    "predict or one result in it, or slides, DICOM, NIfTI and other volumes. Images of one id are one:\n"
    "a store and predictions of it show the image, its annotation and the prediction together.\n"
    "\n"
    "The one line that is printed is the address; whoever has it can see the images. Verdicts are\n"
    "kept in reviews/ID.json beside the predictions, and can be saved as a label set of the store.\n"
    "Nothing is sent anywhere; only this machine is let in (without --bind). Ctrl-C ends it.\n"
    "\n"
    "The pictures are for research: they are no diagnosis.\n"
    "\n"
    "Examples:\n"
    "  headrace view slide.svs\n"
    "  headrace view cohort.zarr results --reviewer mm\n"
    "  headrace view results --store cohort.zarr --port 8080 --no-open\n"
    "\n"
    "Exit codes: 0 ended by Ctrl-C, 1 failed, 2 usage.";

constexpr auto kLookEvery = std::chrono::milliseconds(50);
/// Ctrl-C ends the program within a second.
constexpr double kSecondsToEnd = 0.7;

struct Arguments {
  view::ViewerOptions viewer;
  view::HttpServerOptions server;
  bool no_open = false;
};

/// share/headrace/view: beside the program in a build, one folder up where it is installed.
fs::path assets() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path built = folder / "share/headrace/view";
  return fs::exists(built) ? built : folder.parent_path() / "share/headrace/view";
}

/// An IPv6 address is in brackets. For all addresses of the machine, this machine's.
std::string address(const view::HttpServerOptions& options, int port, const std::string& token) {
  const bool six = options.bind.find(':') != std::string::npos;
  std::string host = six ? fmt::format("[{}]", options.bind) : options.bind;
  if (options.bind == "0.0.0.0" || options.bind == "::") host = "localhost";
  return fmt::format("http://{}:{}/?token={}", host, port, token);
}

/// Only for a person at a screen. A browser that can't be started is no error: the address stands
/// on the terminal.
void open_browser(const std::string& url) {
  const bool screen =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (!screen || isatty(STDOUT_FILENO) == 0) return;
  std::string program = "xdg-open", argument = url;
  std::array<char*, 3> words{program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), &quiet, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
}

void run(const Arguments& arguments) {
  view::ViewerOptions options = arguments.viewer;
  options.assets = assets();
  StopSignal stop;
  view::Viewer viewer(options);
  view::HttpServer server(arguments.server);
  view::Access access(arguments.server.bind, server.port());
  server.serve([&](const view::HttpRequest& request) { return access.answer(request); },
               [&](const view::HttpRequest& request) { return viewer.answer(request); });
  fmt::print("{}\n", address(arguments.server, server.port(), access.token()));
  std::fflush(stdout);
  if (!arguments.no_open)
    open_browser(address(arguments.server, server.port(), access.token_for_one_use()));
  while (stop.asked() == 0) std::this_thread::sleep_for(kLookEvery);
  // What is written is written aside and renamed, so an answer that takes longer can be left.
  if (!server.stop(kSecondsToEnd)) std::_Exit(0);
}

}  // namespace

void add_view(Command app) {
  Command sub = app.subcommand(
      "view",
      "Shows images, annotations and predictions in a browser, and takes verdicts on them.");
  sub.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  sub.option("inputs", a.viewer.inputs, "stores, runs, predictions, files, folders").required();
  sub.option("--store", a.viewer.store,
             "where reviewed labels go, and where predictions have their images [default: the "
             "store among the inputs]");
  sub.option("--reviewer", a.viewer.reviewer,
             "name or initials, kept with each verdict; labels go to the set review-NAME");
  sub.option("--port", a.server.port, "port of the address; 0: a free one")
      .range(0, 65535)
      .shows_default();
  sub.option("--bind", a.server.bind,
             "numeric address to listen on; others than 127.0.0.1 let other machines in, "
             "without encryption")
      .shows_default();
  sub.flag("--no-open", a.no_open, "start no browser");
  sub.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
