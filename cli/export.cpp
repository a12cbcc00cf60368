#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/choice_option.hpp"
#include "cli/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/handover/export_result.hpp"
#include "headrace/result/image_result.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "RESULT is the output folder of headrace predict (every image in it), or the folder of one "
    "image.\n"
    "  geojson      QuPath: regions with class, colour and measurements; --tolerance simplifies\n"
    "  ome-tiff     class map of a slide with its pyramid\n"
    "  csv          regions of a slide, lesions of a volume\n"
    "  nifti, nifti-probability, nrrd (3D Slicer)   on the file's own grid\n"
    "  dicom-seg, dicom-seg-fractional, dicom-seg-labelmap, dicom-rtstruct, dicom-sr\n"
    "               beside the DICOM series that was predicted, to which they refer\n"
    "DICOM objects say that they are for research.\n"
    "\n"
    "Examples:\n"
    "  headrace export results --as geojson,ome-tiff --tolerance 1\n"
    "  headrace export results/scan1 --as dicom-seg,dicom-sr --out for-pacs";

struct Arguments {
  std::string result;
  handover::ExportOptions options;
  double min_area_mm2 = -1;
  bool json = false;
};

void run(const Arguments& arguments) {
  handover::ExportOptions options = arguments.options;
  if (arguments.min_area_mm2 >= 0) options.min_area_mm2 = arguments.min_area_mm2;
  const auto folders = result::ImageResult::find(arguments.result);
  if (!options.source.empty() && folders.size() > 1) {
    fail(ErrorCode::usage,
         "{} is the series of one image, and {} holds {} predictions; export them one by one",
         Option{"source"}, arguments.result, folders.size());
  }
  Json all = Json::array();
  for (const auto& folder : folders) {
    const auto image = result::ImageResult::open(folder);
    for (const auto& file : handover::export_result(image, options)) {
      all.push_back({{"id", image.facts().id}, {"file", file.string()}});
      if (!arguments.json) fmt::print("{}\n", file.string());
    }
  }
  if (arguments.json) fmt::print("{}", dump_json({{"files", all}}));
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "export", "Writes predictions for QuPath, PACS, 3D Slicer and other programs.");
  sub->footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  handover::ExportOptions& options = arguments->options;
  sub->add_option("result", arguments->result, "folder of predictions, or of one")->required();
  add_choices(*sub, "--as", options.formats, "formats, separated by commas")->required();
  sub->add_option("--out", options.out, "folder for the files [default: that of each result]");
  sub->add_option("--tolerance", options.tolerance_um,
                  "geojson: how far simplifying may move an outline, in micrometres")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--min-area-mm2", arguments->min_area_mm2,
                  "geojson: leave out smaller regions [default: those that findings leave out]")
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--source", options.source,
                  "DICOM: folder of the series [default: what was predicted]");
  sub->add_option("--threads", options.jobs, "threads [default: every core]")
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--json", arguments->json, "print one JSON object");
  sub->callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
