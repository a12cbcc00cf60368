#include "headrace/train/run_files.hpp"

#include <fmt/format.h>

#include "headrace/imaging/image_file.hpp"
#include "headrace/report/overlay.hpp"
#include "headrace/report/run_report.hpp"

namespace headrace::train {
namespace {

void write_picture(RunFolder& folder, const std::string& name, const imaging::Image8& image) {
  const auto bytes = imaging::encode_png(image);
  folder.write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

void write_evaluation(RunFolder& folder, const std::string& name, const Evaluation& evaluation) {
  Json json = evaluation.json;
  json["montage"] = Json::array();
  for (std::size_t i = 0; i < evaluation.montage.size(); ++i) {
    const MontagePatch& patch = evaluation.montage[i];
    const std::string stem = fmt::format("montage/{}-{:02}-", name, i);
    write_picture(folder, stem + "input.png", patch.seen);
    write_picture(folder, stem + "truth.png", report::overlay(patch.seen, patch.truth));
    write_picture(folder, stem + "prediction.png", report::overlay(patch.seen, patch.predicted));
    json["montage"].push_back({{"image", patch.image},
                               {"tile_yx", patch.tile_yx},
                               {"input", stem + "input.png"},
                               {"truth", stem + "truth.png"},
                               {"prediction", stem + "prediction.png"}});
  }
  folder.write(name + "-slides.csv", slides_csv(evaluation.json));
  folder.write_json(name + ".json", json);
}

void write_report(RunFolder& folder) {
  folder.write("report.html", report::render_run(folder.path()));
}

Json kappa_of(const Json& evaluation) {
  const Json& overall = evaluation.at("overall");
  return overall.contains("gleason") ? overall.at("gleason").at("kappa") : Json(nullptr);
}

}  // namespace headrace::train
