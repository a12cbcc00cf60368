#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/code_version.hpp"
#include "cli/commands.hpp"
#include "cli/described_options.hpp"
#include "cli/torch_program.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/device/device_choice.hpp"
#include "headrace/ingest/ingest_report.hpp"
#include "headrace/ingest/inputs/common_options.hpp"
#include "headrace/ingest/volume/volume_ingest_options.hpp"
#include "learn/handover/export_result.hpp"
#include "learn/runs/folds_folder.hpp"
#include "learn/runs/run_folder.hpp"
#ifdef HR_TORCH
#include "cli/left_out.hpp"
#include "cli/process_settings.hpp"
#include "cli/result_exports.hpp"
#include "cli/stop_signal.hpp"
#include "learn/predict/predict.hpp"
#include "learn/predict/watch/watch.hpp"
#endif

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "An input is a store, or slide files, DICOM, NIfTI and other volumes, or folders of them, that\n"
    "were never ingested. Each image becomes a folder OUT/ID, which is an OME-Zarr image: the\n"
    "probabilities, the class map as its label image 'classes', findings.json, and regions.csv or\n"
    "lesions.csv. OUT/cases.csv has one line a case. A finished image is whole, and is kept when the\n"
    "same command is given again; an interrupted one goes on. Several runs give the mean of their\n"
    "probabilities; the folder of train --folds stands for the runs of all its folds.\n"
    "\n"
    "--watch predicts what is copied into a folder, each slide, volume or folder of DICOM when it\n"
    "is whole, until Ctrl-C; the same command goes on. It prints one line for each, with --json\n"
    "one JSON object a line.\n"
    "\n"
    "The result is for research: it is no diagnosis.\n"
    "\n"
    "Examples:\n"
    "  headrace predict --run runs/gleason slide.svs --out results\n"
    "  headrace predict --run runs/five scans/ --out results --flips\n"
    "  headrace predict --run runs/gleason cohort.zarr --split test --out results\n"
    "  headrace predict --run runs/liver series7 --out results --as dicom-seg,dicom-sr\n"
    "  headrace predict --run runs/gleason --watch /scanner --out results --as geojson";

struct Arguments {
  std::vector<std::string> runs, inputs, images;
  std::string out, split, weights = "final";
  double mpp = 0, false_positives = 1;
  std::optional<double> min_region_mm2;
  std::int64_t batch = 0;
  int threads = 0;
  device::DeviceChoice device = device::DeviceChoice::automatic;
  ingest::OnError on_error = ingest::OnError::stop;
  ingest::Accepted accept;
  ingest::VolumeSourceOptions sources;
  bool flips = false, json = false;
  std::string watch;  ///< folder; empty: the inputs are predicted, and that is all
  double interval_s = 5, settle_s = 10;
  std::optional<double> until_idle_s;
  std::vector<handover::ExportFormat> formats;  ///< of each result
};

void check_inputs(const Arguments& a) {
  if (a.inputs.empty() == a.watch.empty()) {
    fail(ErrorCode::usage, "{}",
         a.watch.empty()
             ? fmt::format("name stores, files or folders, or a folder to {}", Option{"watch"})
             : fmt::format("{} takes no other inputs; predict {} in a call of its own",
                           Option{"watch"}, a.inputs.front()));
  }
}

#ifdef HR_TORCH
void print_files(const std::vector<std::string>& files) {
  for (const std::string& file : files) fmt::print("  {}\n", file);
}

predict::PredictRequest request_of(const Arguments& a) {
  predict::PredictRequest request;
  request.runs = a.runs;
  request.inputs = a.inputs;
  request.out = a.out;
  request.run = {a.weights, a.device, a.threads};
  request.images = a.images;
  request.split = a.split;
  if (a.mpp > 0) request.mpp = a.mpp;
  request.batch = a.batch;
  request.flips = a.flips;
  request.on_error = a.on_error;
  request.accept = a.accept;
  request.sources = a.sources;
  request.min_region_mm2 = a.min_region_mm2;
  request.false_positives_per_scan = a.false_positives;
  request.code_version = code_version();
  return request;
}

void print(const predict::PredictOutcome& outcome, const ResultExports& exports,
           const Arguments& a) {
  Json images = Json::array();
  for (const auto& image : outcome.images) {
    images.push_back({{"id", image.id},
                      {"folder", image.folder},
                      {"kept", image.kept},
                      {"summary", image.line}});
    if (!a.json) fmt::print("{}: {}\n", image.id, image.line);
    const auto files = exports.of(image.folder);
    if (!a.formats.empty()) images.back()["files"] = files;
    if (!a.json) print_files(files);
  }
  const auto files = exports.over(a.out);
  if (!a.json) {
    print_files(files);
    return print_left_out(outcome.left_out);
  }
  Json all{{"images", images}, {"left_out", ingest::report_of(outcome.left_out)}};
  if (!a.formats.empty()) all["files"] = files;
  fmt::print("{}", dump_json(all));
}

/// What can't be exported does not end a watch: the result is there, and `headrace export` says it
/// again.
std::string exported(const predict::WatchEvent& event, const ResultExports& exports) {
  if (event.folder.empty()) return "";
  try {
    exports.of(event.folder);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void print_event(const predict::WatchEvent& event, const std::string& problem, bool json) {
  if (json) {
    Json line{{"input", event.input}, {"news", name_of(event.news)}};
    if (!event.id.empty()) line.update({{"id", event.id}, {"folder", event.folder}});
    if (!problem.empty()) line["not_exported"] = problem;
    line[event.id.empty() ? "reason" : "summary"] = event.text;
    // A file may have a name that is not UTF-8.
    fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else if (event.id.empty()) {
    fmt::print("{}: {}: {}\n", event.input, name_of(event.news), event.text);
  } else {
    fmt::print("{}: {}: {}{}\n", event.input, event.id, event.text,
               problem.empty() ? "" : "; not exported: " + problem);
  }
  std::fflush(stdout);  // whoever reads them waits for the next line
}

void watch(const Arguments& a, const ResultExports& exports) {
  StopSignal signal;
  predict::WatchRequest request;
  request.predict = request_of(a);
  request.predict.stopped = [&signal] { return signal.asked() != 0; };
  request.folder = a.watch;
  request.interval_s = a.interval_s;
  request.settle_s = a.settle_s;
  request.until_idle_s = a.until_idle_s;
  request.said = [&](const predict::WatchEvent& event) {
    print_event(event, exported(event, exports), a.json);
  };
  predict::watch(request);
}

/// `--split` goes by the store's table, of which the run of a fold has trained on other parts.
void warn_of_folds(const Arguments& arguments) {
  if (arguments.split.empty()) return;
  for (const std::string& run : arguments.runs) {
    const Json config = runs::RunFolder::open(run).read_json("config.json");
    const Json& data = config.at("data");
    if (!data.contains("folds") ||
        (arguments.split != data.at("train") && arguments.split != data.at("val")))
      continue;
    log::warning(
        "{} {} is the split of the store's table, not the fold by which {} was judged: that network "
        "may have been trained on its patients",
        Option{"split"}, arguments.split, run);
  }
}
#endif

void run(Arguments arguments) {
  check_inputs(arguments);
  arguments.runs = runs::with_folds_expanded(arguments.runs);
#ifdef HR_TORCH
  set_process_for_torch();
  warn_of_folds(arguments);
  const ResultExports exports(arguments.formats, arguments.runs.front());
  if (!arguments.watch.empty()) return watch(arguments, exports);
  const predict::PredictOutcome outcome = predict::predict(request_of(arguments));
  print(outcome, exports, arguments);
  if (outcome.images.empty()) throw ExitCode{1};
#else
  run_with_torch("predict");
#endif
}

void add_watch_options(Command predict, Arguments& a) {
  CommandOption watch = predict.option(
      "--watch", a.watch, "folder whose new files and folders are predicted as they come");
  predict.option("--interval", a.interval_s, "seconds between two looks at the folder")
      .positive()
      .shows_default()
      .needs(watch);
  predict
      .option("--settle", a.settle_s, "seconds without a change after which a copy counts as whole")
      .not_negative()
      .shows_default()
      .needs(watch);
  predict
      .option("--until-idle", a.until_idle_s,
              "end when nothing new came for so many seconds, as for cron [default: never]")
      .not_negative()
      .needs(watch);
}

}  // namespace

void add_predict(Command app) {
  Command predict = app.subcommand(
      "predict", "Applies a trained run to slides and scans: class maps and findings.");
  predict.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  predict.option("inputs", a.inputs, "stores, files, folders");
  predict
      .option("--run", a.runs,
              "run folder of headrace train; several, or a folder of folds: their mean")
      .required()
      .one_word();
  predict.option("--out", a.out, "folder for the results").required();
  predict.option("--weights", a.weights, "final, or best by validation")
      .one_of({"final", "best"})
      .shows_default();
  predict.option("--images", a.images, "of stores: only these ids, separated by commas")
      .separated_by_commas()
      .one_word();
  predict.option("--split", a.split, "of stores: only images of this split");
  predict.flag("--flips", a.flips,
               "the mean over the image and its mirror images along x, y and both");
  predict.option("--mpp", a.mpp, "micrometres a pixel of slide files that do not state it")
      .positive();
  predict
      .option("--min-region-mm2", a.min_region_mm2,
              "slides: regions below this area are only counted [default: 0.005, or half of "
              "the smallest in the training labels]")
      .not_negative();
  predict
      .option("--flag-fp", a.false_positives,
              "CT: false positives a scan, on the run's validation, at which a study is "
              "flagged")
      .positive()
      .shows_default();
  predict.choice("--on-error", a.on_error,
                 "files that can't be read, images that fail: stop, skip (they are left out and "
                 "listed)");
  add_options(predict, {ingest::accept_option(a.accept)});
  add_options(predict, ingest::source_options_of(a.sources, "Files of CT"));
  predict.choice("--device", a.device, "where the network runs");
  predict.option("--threads", a.threads, "threads that load tiles [default: every core]")
      .not_negative();
  predict.option("--batch", a.batch, "tiles loaded at once [default: eval.batch of the run]")
      .positive();
  predict
      .choices("--as", a.formats,
               "also export each result beside it, in formats separated by commas; headrace export "
               "has their options")
      .one_word();
  predict.flag("--json", a.json, "print one JSON object");
  add_watch_options(predict, a);
  predict.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
