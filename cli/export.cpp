#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/option_choice.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/text.hpp"
#include "learn/handover/export_result.hpp"
#include "learn/handover/ome_zarr/export_ome_zarr.hpp"
#include "learn/handover/ome_zarr/stored_image.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::cli {
namespace {

using handover::ExportFormat;

constexpr const char* kFooter =
    "RESULT is the output folder of headrace predict (every image in it), or the folder of one "
    "image.\n"
    "  geojson      QuPath: regions with class, colour and measurements; --tolerance simplifies\n"
    "  ome-tiff     class map of a slide with its pyramid\n"
    "  ome-zarr     the image that was predicted with the prediction as labels: napari, zarr\n"
    "  csv, parquet regions of a slide, lesions of a volume; parquet also the table of cases\n"
    "  nifti, nifti-probability, nrrd (3D Slicer)   on the file's own grid\n"
    "  dicom-seg    beside the DICOM series or DICOM slide that was predicted, to which it refers\n"
    "  dicom-seg-fractional, dicom-seg-labelmap, dicom-rtstruct, dicom-sr\n"
    "               beside the DICOM series\n"
    "DICOM objects say that they are for research.\n"
    "STORE: its images with their labels as ome-zarr, which every reader of Zarr v3 opens.\n"
    "The format may also come first: headrace export ome-zarr STORE --out DIR.\n"
    "\n"
    "Examples:\n"
    "  headrace export results --as geojson,ome-tiff --tolerance 1\n"
    "  headrace export results/scan1 --as dicom-seg,dicom-sr --out for-pacs\n"
    "  headrace export cohort.zarr --as ome-zarr --codec zstd --images case-17 --out for-napari";

struct Arguments {
  std::vector<std::string> inputs;
  handover::ExportOptions options;
  handover::StoreExportOptions store;
  bool json = false;
};

/// Names a format in front of the inputs, as one does who thinks of the format first.
void take_leading_formats(Arguments& arguments) {
  auto& inputs = arguments.inputs;
  if (!arguments.options.formats.empty()) return;
  const bool named = inputs.size() > 1 && !std::filesystem::exists(inputs.front());
  if (!named) {
    fail(ErrorCode::usage, "--as: name one or more formats of {}",
         fmt::join(names_of<ExportFormat>(), ", "));
  }
  for (const std::string& word : split(inputs.front(), ','))
    arguments.options.formats.push_back(choice_of<ExportFormat>("--as", word));
  inputs.erase(inputs.begin());
}

bool asked_for(const Arguments& arguments, const std::vector<ExportFormat>& formats) {
  const auto& asked = arguments.options.formats;
  return std::find_first_of(asked.begin(), asked.end(), formats.begin(), formats.end()) !=
         asked.end();
}

/// An option that no asked format knows is a mistake that would otherwise go unseen.
void check_options(const Command& sub, const Arguments& arguments, bool stores) {
  const std::vector<ExportFormat> dicom{ExportFormat::dicom_seg, ExportFormat::dicom_seg_fractional,
                                        ExportFormat::dicom_seg_labelmap,
                                        ExportFormat::dicom_rtstruct, ExportFormat::dicom_sr};
  auto with_source = dicom;
  with_source.push_back(ExportFormat::ome_zarr);
  const std::vector<std::pair<const char*, std::vector<ExportFormat>>> formats_of{
      {"--tolerance", {ExportFormat::geojson}},
      {"--min-area-mm2", {ExportFormat::geojson}},
      {"--codec", {ExportFormat::ome_zarr}},
      {"--source", with_source}};
  for (const auto& [option, formats] : formats_of) {
    if (!sub.given(option) || asked_for(arguments, formats)) continue;
    std::vector<std::string_view> names;
    for (const ExportFormat format : formats) names.push_back(name_of(format));
    fail(ErrorCode::usage, "{}: belongs to {}; leave it out, or add such a format to --as", option,
         fmt::join(names, ", "));
  }
  const std::vector<const char*> wrong = stores ? std::vector<const char*>{"--source"}
                                                : std::vector<const char*>{"--images", "--version"};
  for (const char* option : wrong) {
    if (!sub.given(option)) continue;
    fail(ErrorCode::usage, "{}: belongs to {}; leave it out", option,
         stores ? "predictions, and these are stores" : "stores, and these are predictions");
  }
}

class Listing {
 public:
  explicit Listing(bool json) : json_(json) {}

  /// id: of the image; empty: a file for all of them.
  void add(const std::string& id, const std::vector<std::filesystem::path>& files) {
    for (const auto& file : files) {
      all_.push_back({{"id", id.empty() ? Json(nullptr) : Json(id)}, {"file", file.string()}});
      if (!json_) fmt::print("{}\n", file.string());
    }
  }
  void finish() const {
    if (json_) fmt::print("{}", dump_json({{"files", all_}}));
  }

 private:
  bool json_;
  Json all_ = Json::array();
};

void export_stores(const Arguments& arguments, Listing& listing) {
  if (arguments.options.formats != std::vector{ExportFormat::ome_zarr}) {
    fail(ErrorCode::usage,
         "{}: a store, which is exported as ome-zarr; other formats are for the "
         "output of headrace predict",
         arguments.inputs.front());
  }
  handover::StoreExportOptions options = arguments.store;
  options.out = arguments.options.out;
  options.codec = arguments.options.codec;
  options.jobs = arguments.options.jobs;
  if (options.out.empty()) fail(ErrorCode::usage, "--out: name a folder for the images");
  for (const std::string& store : arguments.inputs) {
    for (const auto& folder : handover::export_store(store, options)) {
      const std::string name = folder.filename().string();
      listing.add(name.substr(0, name.size() - std::string_view(".ome.zarr").size()), {folder});
    }
  }
}

/// One series or file belongs to one prediction; a store may hold the images of many.
void check_source(const Arguments& arguments, std::size_t results) {
  const std::string& source = arguments.options.source;
  if (source.empty() || results == 1) return;
  const bool only_zarr = arguments.options.formats == std::vector{ExportFormat::ome_zarr};
  if (only_zarr && cohort::is_store(source)) return;
  fail(ErrorCode::usage,
       "{} is the series of one image, and {} holds {} predictions; export them one by one",
       Option{"source"}, arguments.inputs.front(), results);
}

void export_results(const Arguments& arguments, Listing& listing) {
  handover::ExportOptions options = arguments.options;
  std::vector<std::filesystem::path> folders;
  for (const std::string& input : arguments.inputs) {
    const auto found = result::ImageResult::find(input);
    folders.insert(folders.end(), found.begin(), found.end());
  }
  check_source(arguments, folders.size());
  for (const auto& folder : folders) {
    const auto image = result::ImageResult::open(folder);
    listing.add(image.facts().id, handover::export_result(image, options));
  }
  for (const std::string& input : arguments.inputs)
    listing.add("", handover::export_cases(input, options));
}

void run(const Command& sub, Arguments arguments) {
  take_leading_formats(arguments);
  const auto stores = static_cast<std::size_t>(
      std::count_if(arguments.inputs.begin(), arguments.inputs.end(), cohort::is_store));
  if (stores != 0 && stores != arguments.inputs.size()) {
    fail(ErrorCode::usage, "stores and predictions together; export them one after the other");
  }
  check_options(sub, arguments, stores != 0);
  Listing listing(arguments.json);
  if (stores != 0) {
    export_stores(arguments, listing);
  } else {
    export_results(arguments, listing);
  }
  listing.finish();
}

void add_options(Command sub, Arguments& arguments) {
  handover::ExportOptions& options = arguments.options;
  sub.option("INPUT", arguments.inputs,
             "folders of predictions, or of one; or stores, for ome-zarr")
      .required();
  sub.choices("--as", options.formats, "formats, separated by commas").one_word();
  sub.option("--out", options.out,
             "folder for the files [default: that of each result; a store needs one]");
  sub.option("--tolerance", options.tolerance_um,
             "geojson: how far simplifying may move an outline, in micrometres")
      .not_negative()
      .shows_default();
  sub.option("--min-area-mm2", options.min_area_mm2,
             "geojson: smaller regions become Ignore* [default: every region is its class's]")
      .not_negative();
  sub.option("--source", options.source,
             "DICOM, ome-zarr: the file, series or store that was predicted [default: as the "
             "prediction states]");
  sub.choice("--codec", options.codec,
             "ome-zarr: how chunks are coded; jpeg loses, and needs imagecodecs to be read");
  sub.option("--images", arguments.store.images, "of a store: only these, with commas")
      .separated_by_commas()
      .one_word();
  sub.option("--version", arguments.store.version,
             "of a store: a dataset hash, or its beginning [default: the current version]");
  sub.option("--threads", options.jobs, "threads [default: every core]").not_negative();
  sub.flag("--json", arguments.json, "print one JSON object");
}

}  // namespace

void add_export(Command app) {
  Command sub = app.subcommand(
      "export",
      "Writes predictions, and images of stores, for QuPath, PACS, 3D Slicer and others.");
  sub.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  add_options(sub, *arguments);
  sub.callback([sub, arguments] { run(sub, *arguments); });
}

}  // namespace headrace::cli
