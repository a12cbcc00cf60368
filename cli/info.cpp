#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.hpp"
#include "cli/ingest_findings.hpp"
#include "headrace/cohort/cohort.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/cohort/supervision.hpp"
#include "headrace/core/json.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  headrace info cohort.zarr\n"
    "  headrace info cohort.zarr --json\n"
    "  headrace info cohort.zarr --versions\n"
    "\n"
    "Supervised pixels are counted at level 0; of the first class those in cells with tissue, body "
    "or another class.\n"
    "Lesions are connected parts of a lesion class.\n"
    "\n"
    "Exit codes: 0 done, 1 failed (no store, or an unfinished one).";

/// The facts of images of either kind.
Json describe_image(const cohort::Cohort& cohort, const cohort::ImageRecord& image) {
  return {{"id", image.id},
          {"case", image.case_id},
          {"cohort", image.cohort},
          {"scanner", image.scanner},
          {"split", image.split},
          {"kind", cohort.kind()},
          {"codec", image.codec},
          {"labels", image.labels},
          {"classes", cohort.classes()},
          {"source_bytes", image.source_bytes}};
}

Json describe_volume(const cohort::Cohort& cohort, const cohort::ImageRecord& image) {
  const cohort::VolumeRecord& volume = *image.volume;
  Json levels = Json::array();
  for (const auto& level : volume.levels) {
    levels.push_back({{"shape", level.shape_zyx}, {"spacing", level.spacing_mm_zyx}});
  }
  Json facts = describe_image(cohort, image);
  facts.update({{"phase", volume.phase},
                {"shape", levels.empty() ? Json(nullptr) : levels[0]["shape"]},
                {"spacing", levels.empty() ? Json(nullptr) : levels[0]["spacing"]},
                {"affine_lps", volume.affine_lps},
                {"levels", levels},
                {"body", {{"voxels", volume.body.voxels}, {"mean", volume.body.mean}}}});
  for (const auto& channel : volume.channels) {
    facts["channels"].push_back(
        {{"name", channel.name},
         {"stored", channel.stored},
         {"unit", std::string(name_of(channel.unit))},
         {"mean", channel.stored ? Json(channel.body.mean) : Json(nullptr)}});
  }
  return facts;
}

Json describe_slide(const cohort::Cohort& cohort, const cohort::ImageRecord& image) {
  Json levels = Json::array();
  for (const auto& level : image.levels) {
    const bool known = level.mpp_yx[0] > 0;
    levels.push_back({{"shape", {3, level.height, level.width}},
                      {"spacing", known ? Json(level.mpp_yx) : Json(nullptr)}});
  }
  Json facts = describe_image(cohort, image);
  facts.update({{"primary", or_null(image.primary)},
                {"secondary", or_null(image.secondary)},
                {"grade_group", or_null(image.grade_group)},
                {"shape", levels.empty() ? Json(nullptr) : levels[0]["shape"]},
                {"spacing", levels.empty() ? Json(nullptr) : levels[0]["spacing"]},
                {"levels", levels}});
  return facts;
}

void print_volumes(const Json& images) {
  fmt::print("{:<28} {:<16} {:<14} {:<6} {:>16} {:>18} {:>6} {:<10} {}\n", "image", "cohort",
             "phase", "split", "z x y x x", "mm z, y, x", "levels", "codec", "labels");
  for (const auto& image : images) {
    const auto text = [&](const char* key) { return image[key].get<std::string>(); };
    fmt::print("{:<28} {:<16} {:<14} {:<6} {:>16} {:>18} {:>6} {:<10} {}\n", text("id"),
               text("cohort"), text("phase"), text("split"),
               fmt::format("{}", fmt::join(image["shape"].get<std::vector<int>>(), " x ")),
               fmt::format("{:.4g}", fmt::join(image["spacing"].get<std::vector<double>>(), ", ")),
               image["levels"].size(), text("codec"),
               fmt::join(image["labels"].get<std::vector<std::string>>(), ","));
  }
}

void print_slides(const Json& images) {
  fmt::print("{:<28} {:<16} {:<12} {:<6} {:>15} {:>7} {:>6} {:<10} {}\n", "image", "cohort",
             "scanner", "split", "height x width", "um/px", "levels", "codec", "labels");
  for (const auto& image : images) {
    const auto& shape = image["shape"];
    const auto text = [&](const char* key) { return image[key].get<std::string>(); };
    fmt::print(
        "{:<28} {:<16} {:<12} {:<6} {:>15} {:>7} {:>6} {:<10} {}\n", text("id"), text("cohort"),
        text("scanner"), text("split"),
        shape.is_null() ? "?" : fmt::format("{} x {}", shape[1].get<int>(), shape[2].get<int>()),
        image["spacing"].is_null() ? "?" : fmt::format("{:.4g}", image["spacing"][0].get<double>()),
        image["levels"].size(), text("codec"),
        fmt::join(image["labels"].get<std::vector<std::string>>(), ","));
  }
}

/// By split: images, those with labels, and the pixels and lesions of each class and class set.
Json describe_supervision(const cohort::Cohort& cohort, const std::string& labels) {
  Json splits = Json::object();
  for (const auto& [name, split] : cohort::count_supervision(cohort, labels)) {
    Json classes = Json::object();
    const auto names = label_names(cohort.classes(), cohort.class_sets());
    for (std::size_t v = 0; v < names.size(); ++v) {
      Json& one = classes[names[v]];
      one["pixels"] = split.pixels[v];
      if (cohort.kind() == "volume") one["lesions"] = split.lesions[v];
    }
    splits[name] = {{"images", split.images.images},
                    {"annotated", split.labelled},
                    {"negative", split.images.negatives},
                    {"without", split.images.without},
                    {"classes", classes}};
  }
  return splits;
}

/// The same for each name of label images.
Json describe_supervision(const cohort::Cohort& cohort) {
  Json sets = Json::object();
  for (const auto& image : cohort.images()) {
    for (const auto& labels : image.labels) {
      if (!sets.contains(labels)) sets[labels] = describe_supervision(cohort, labels);
    }
  }
  return sets;
}

void print_supervision(const Json& facts, const std::string& labels) {
  const Json& splits = facts["supervision"][labels];
  const bool volume = facts["kind"] == "volume";
  const auto row = [&](const std::string& first, const auto& cell) {
    fmt::print("{:<24}", first);
    for (const auto& [name, split] : splits.items()) fmt::print(" {:>26}", cell(name, split));
    fmt::print("\n");
  };
  row(labels + (volume ? ", voxels" : ", pixels"), [](const std::string& name, const Json& s) {
    return fmt::format("{} ({} of {} images)", name, s["annotated"].get<int>(),
                       s["images"].get<int>());
  });
  auto names = facts["classes"].get<std::vector<std::string>>();
  for (const auto& [name, classes] : facts["class_sets"].items()) names.push_back(name);
  for (const std::string& class_name : names) {
    row(class_name, [&](const std::string&, const Json& split) {
      const Json& one = split["classes"][class_name];
      const auto lesions = one.value("lesions", std::uint64_t{0});
      return fmt::format("{}{}", one["pixels"].get<std::uint64_t>(),
                         lesions > 0 ? fmt::format(" in {} lesions", lesions) : "");
    });
  }
}

void print_table(const Json& facts) {
  if (facts["kind"] == "volume") {
    print_volumes(facts["images"]);
  } else {
    print_slides(facts["images"]);
  }
  const double bytes = facts["bytes"].get<double>(), source = facts["source_bytes"].get<double>();
  fmt::print("{} images; classes: {}\n", facts["images"].size(),
             fmt::join(facts["classes"].get<std::vector<std::string>>(), ", "));
  for (const auto& [name, classes] : facts["class_sets"].items()) {
    fmt::print("label '{}' stands for one of: {}\n", name,
               fmt::join(classes.get<std::vector<std::string>>(), ", "));
  }
  if (facts.contains("channels")) {
    auto names = facts["channels"].get<std::vector<std::string>>();
    if (facts.contains("channel_units")) {
      for (std::size_t c = 0; c < names.size(); ++c)
        names[c] += fmt::format(" ({})", facts["channel_units"][c].get<std::string>());
    }
    fmt::print("channels: {}\n", fmt::join(names, ", "));
  }
  for (const auto& [labels, splits] : facts["supervision"].items())
    print_supervision(facts, labels);
  fmt::print("{:.1f} MB stored for {:.1f} MB of source files ({:.2f} times)\n", bytes / 1e6,
             source / 1e6, source > 0 ? bytes / source : 0);
}

/// Free columns, one line for each image that has any.
void print_columns(const Json& images) {
  for (const auto& image : images) {
    if (!image.contains("columns")) continue;
    std::vector<std::string> parts;
    for (const auto& [column, value] : image["columns"].items()) {
      parts.push_back(fmt::format("{} {}", column,
                                  value.is_string() ? value.get<std::string>() : value.dump()));
    }
    fmt::print("image {}: {}\n", image["id"].get<std::string>(), fmt::join(parts, ", "));
  }
}

/// The log of versions, oldest first.
void run_versions(const std::string& path, bool json) {
  const auto opened = storage::open_existing_store(storage::Place::parse(path));
  const storage::Store& store = *opened;
  const auto head = cohort::StoreHead::load(store);
  Json list = Json::array();
  for (const auto& commit : head.log) {
    const auto version = cohort::StoreVersion::load(store, commit.version);
    std::map<std::string, std::uint64_t> sets;
    for (const auto& [id, image] : version.images) {
      for (const auto& [set, label] : image.labels) ++sets[set];
    }
    list.push_back({{"version", commit.version},
                    {"parent", commit.parent.empty() ? Json(nullptr) : Json(commit.parent)},
                    {"current", commit.version == head.current && &commit == &head.log.back()},
                    {"message", commit.message},
                    {"images", version.images.size()},
                    {"labels", sets},
                    {"classes", version.classes}});
  }
  if (json) {
    fmt::print("{}", dump_json(list));
    return;
  }
  for (const auto& one : list) {
    std::string sets;
    for (const auto& [set, images] : one["labels"].items())
      sets += fmt::format(", {} with labels '{}'", images.get<std::uint64_t>(), set);
    fmt::print("{} {} {} images{}, {} classes{}\n", one["current"].get<bool>() ? "*" : " ",
               one["version"].get<std::string>(), one["images"].get<std::uint64_t>(), sets,
               one["classes"].size(),
               one["message"] == "" ? "" : ": " + one["message"].get<std::string>());
  }
}

void run(const std::string& path, const std::string& version, bool json) {
  const auto cohort = cohort::Cohort::open(path, version);
  const auto stored = cohort::StoreVersion::load(*cohort->store(), cohort->dataset_hash());
  const std::uint64_t bytes = stored.bytes();
  std::uint64_t source_bytes = 0;
  Json images = Json::array();
  for (const auto& image : cohort->images()) {
    images.push_back(image.volume ? describe_volume(*cohort, image)
                                  : describe_slide(*cohort, image));
    if (const Json free = stored.images.at(image.id).columns.value("free", Json()); !free.is_null())
      images.back()["columns"] = free;
    source_bytes += image.source_bytes;
  }
  const ingest::StoreReport report = ingest::report_store(*cohort);
  Json labels = Json::object();
  for (const auto& [set, summary] : report.labels) labels[set] = cohort::to_json(summary);
  Json facts{{"dataset_hash", cohort->dataset_hash()},
             {"kind", cohort->kind()},
             {"classes", cohort->classes()},
             {"class_sets", to_json(cohort->class_sets(), cohort->classes())},
             {"supervision", describe_supervision(*cohort)},
             {"images", images},
             {"notes", report.notes},
             {"labels", labels},
             {"bytes", bytes},
             {"source_bytes", source_bytes}};
  if (!cohort->channels().empty()) facts["channels"] = cohort->channels();
  if (const auto& units = cohort->channel_units();
      std::any_of(units.begin(), units.end(), [](auto u) { return u != IntensityUnit::hu; })) {
    for (const IntensityUnit unit : units)
      facts["channel_units"].push_back(std::string(name_of(unit)));
  }
  if (json) {
    fmt::print("{}", dump_json(facts));
  } else {
    print_table(facts);
    print_columns(images);
    print_findings(report);
    fmt::print("dataset hash {}\n", cohort->dataset_hash());
  }
}

}  // namespace

void add_info(Command app) {
  Command info = app.subcommand("info", "Says what a store holds.");
  info.footer(kFooter);
  struct Arguments {
    std::string path;
    std::string version;
    bool versions = false, json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  info.option("STORE", arguments->path, "the store's folder").required();
  info.option("--version", arguments->version,
              "a version of it: a dataset hash, or its first digits (the current one)");
  info.flag("--versions", arguments->versions, "list the versions, oldest first");
  info.flag("--json", arguments->json, "print one JSON object");
  info.callback([arguments] {
    if (arguments->versions) {
      run_versions(arguments->path, arguments->json);
    } else {
      run(arguments->path, arguments->version, arguments->json);
    }
  });
}

}  // namespace headrace::cli
