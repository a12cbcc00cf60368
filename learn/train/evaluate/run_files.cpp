#include "learn/train/evaluate/run_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/report/html.hpp"
#include "learn/report/picture_file.hpp"
#include "learn/report/run_report.hpp"
#include "learn/runs/evaluation_check.hpp"
#include "learn/runs/promotion_candidate.hpp"
#include "learn/runs/trained_cases.hpp"
#include "learn/train/evaluate/evaluation_csv.hpp"

namespace headrace::train {
namespace {

void put(storage::Store& folder, const std::string& name, const std::string& bytes) {
  folder.put(name, std::as_bytes(std::span(bytes)));
}

/// Writes the pictures of an example; its entry in eval.json.
Json put_example(storage::Store& folder, const std::string& name, const ExamplePictures& example) {
  const char* rank = example.worst ? "worst" : "best";
  Json entry = {{"image", example.image},
                {"rank", rank},
                {"number", example.number},
                {"figure", example.figure},
                {"value", example.value}};
  if (example.slices > 0) {
    entry["slice"] = example.slice;
    entry["slices"] = example.slices;
  }
  for (const auto& [key, pixels] :
       {std::pair{"original", &example.original}, std::pair{"truth", &example.truth},
        std::pair{"prediction", &example.prediction}}) {
    const std::string file =
        fmt::format("montage/{}-{}-{}-{}.jpg", name, rank, example.number, key);
    put(folder, file, report::photo_file(*pixels));
    entry[key] = file;
  }
  return entry;
}

}  // namespace

void write_evaluation(const std::filesystem::path& path, const std::string& name,
                      const Evaluation& evaluation) {
  const auto opened = storage::open_store(storage::Place::parse(path));
  storage::Store& folder = *opened;
  Json json = evaluation.json;
  json["montage"] = Json::array();
  const bool volumes = json.contains("phases");
  for (std::size_t i = 0; i < evaluation.montage.size(); ++i) {
    const MontagePatch& patch = evaluation.montage[i];
    const auto [z, y, x] = patch.tile_zyx;
    Json entry = {{"image", patch.image}};
    entry[volumes ? "tile_zyx" : "tile_yx"] = volumes ? Json{z, y, x} : Json{y, x};
    for (const MontagePatch::Picture& picture : patch.pictures) {
      const std::string file = fmt::format("montage/{}-{:02}-{}.png", name, i, picture.name);
      put(folder, file, report::picture_file(picture.pixels));
      entry[picture.name] = file;
    }
    json["montage"].push_back(std::move(entry));
  }
  json["examples"] = Json::array();
  for (const ExamplePictures& example : evaluation.examples)
    json["examples"].push_back(put_example(folder, name, example));
  if (volumes) {
    put(folder, name + "-volumes.csv", volumes_csv(json));
    if (!json.at("lesion_classes").empty()) {
      put(folder, name + "-lesions.csv", lesions_csv(json));
    }
  } else {
    put(folder, name + "-slides.csv", slides_csv(json));
    put(folder, name + "-cases.csv", cases_csv(json));
  }
  runs::put_digest(json);
  put(folder, name + ".json", dump_json(json));
}

void check_takes_evaluation(const std::filesystem::path& folder) {
  constexpr std::size_t kSome = std::size_t{1}
                                << 20;  // bytes; evaluations of many images take more
  constexpr const char* kTrial = ".eval-trial";
  try {
    const auto store = storage::open_store(storage::Place::parse(folder));
    put(*store, kTrial, std::string(kSome, '\0'));
    store->erase(kTrial);
  } catch (const Error& error) {
    fail(ErrorCode::io,
         "{}: an evaluation can't be written there, so none was begun ({}). Name a folder that "
         "takes it: headrace eval {} FOLDER",
         folder.string(), error.what(), Option{"out"});
  }
}

void put_weights(Evaluation& evaluation, const std::string& which, const std::string& sha256,
                 const config::RunConfig& config, const Json& run) {
  evaluation.json["weights"] = which;
  evaluation.json["weights_sha256"] = sha256;
  evaluation.json["store"] = std::filesystem::path(config.data.store).filename().string();
  evaluation.json["rules"] = runs::rules_of(config.to_json());
  evaluation.json[runs::kTrainedCases] =
      or_null(runs::count_seen(evaluation.json, run, config.to_json()));
}

Json told_gates(const measure::Gate& gates, const Json& evaluation) {
  const measure::GateResult result = gates.check(evaluation);
  for (const measure::GateFigure& figure : result.figures) {
    const std::string line = figure.text();
    figure.passed() ? log::info("{}", line) : log::warning("{}", line);
  }
  return result.to_json();
}

void write_report(runs::RunFolder& folder) {
  std::string html;
  try {
    html = report::render_run(folder.path());
  } catch (const Error& error) {
    log::warning("no report was made: {}", error.what());
    // In place of a page that shows an evaluation of before.
    const char* text = "<p>The files of this run can’t be shown; headrace report says why.</p>";
    html = report::page("No report", report::section("No report", text), "");
  }
  folder.write("report.html", html);
}

Json kappa_of(const Json& evaluation) {
  const Json& overall = evaluation.at("overall");
  return overall.contains("gleason") ? overall.at("gleason").at("kappa") : Json(nullptr);
}

Json lesion_of(const Json& evaluation) {
  const Json& overall = evaluation.at("overall");
  if (!overall.contains("lesion")) return nullptr;
  Json out = overall.at("lesion");
  out.erase("curve");
  return out;
}

}  // namespace headrace::train
