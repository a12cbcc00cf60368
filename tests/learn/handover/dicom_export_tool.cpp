// Writes DICOM objects of a prediction that a test made up: the conformance tests compare them with
// pydicom, highdicom and SimpleITK.
//   dicom_export_tool REQUEST.json        on standard output: the UIDs of each object, in order
// REQUEST: {"series": FOLDER, "classes": RAW, "version", "weights", "time": seconds since 1970,
//           "segments": [{"value", "name", "probability": RAW}],
//           "write": [{"kind": binary | fractional | labelmap | structure-set | report,
//                      "out": FILE,
//                      "lesions": [{"name", "segment", "volume_ml", "long_axis_mm",
//                                   "short_axis_mm", "probability", "site", "score"}],
//                      "below": [the same with "centre_lps_mm"],
//                      "flag": {"positive", "text"}}]}
// A report refers to the object before it. RAW: a file of uint8 (z, y, x) in the series' order.
#include <iostream>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "learn/handover/dicom/measurement_report.hpp"
#include "learn/handover/dicom/segmentation.hpp"
#include "learn/handover/dicom/structure_set.hpp"

namespace headrace::handover {
namespace {

/// A prediction and what its spans look at.
struct Request {
  CtPrediction prediction;
  std::string classes;
  std::vector<std::string> probabilities;
};

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void read_series(const std::string& folder, CtPrediction& prediction) {
  const imaging::Pseudonymizer key("a key for tests only");
  const auto scan = imaging::scan_dicom({folder}, key, 2);
  if (scan.series.empty()) fail(ErrorCode::not_found, "{}: no series.", folder);
  prediction.file_grid = imaging::open_dicom_series(scan.series.front())->info().grid;
  for (const auto& slice : scan.series.front().slices)
    prediction.source_files.push_back(slice.path);
}

void read_request(const Json& json, Request& request) {
  CtPrediction& prediction = request.prediction;
  read_series(json.at("series"), prediction);
  request.classes = read_file(json.at("classes").get<std::string>());
  prediction.classes = bytes_of(request.classes);
  prediction.algorithm = {json.at("version"), json.at("weights")};
  prediction.predicted_at =
      std::chrono::sys_seconds(std::chrono::seconds(json.at("time").get<std::int64_t>()));
  request.probabilities.reserve(json.at("segments").size());
  for (const Json& one : json.at("segments")) {
    const std::string name = one.at("name");
    const std::uint8_t value = one.at("value");
    const auto shade = static_cast<std::uint8_t>(40 * value);
    Segment segment{value, name, {255, shade, 0}, segment_codes(name), {}};
    if (one.contains("probability")) {
      request.probabilities.push_back(read_file(one.at("probability").get<std::string>()));
      segment.probability = bytes_of(request.probabilities.back());
    }
    prediction.segments.push_back(std::move(segment));
  }
}

std::vector<Lesion> lesions_of(const Json& json) {
  std::vector<Lesion> lesions;
  for (const Json& one : json) {
    Lesion lesion{one.at("name"),
                  one.value("segment", std::uint16_t{0}),
                  one.at("volume_ml"),
                  one.at("long_axis_mm"),
                  one.at("short_axis_mm"),
                  std::nullopt,
                  segment_codes("lesion").type,
                  std::nullopt};
    if (one.contains("score")) lesion.score = one.at("score").get<double>();
    if (one.contains("centre_lps_mm")) one.at("centre_lps_mm").get_to(lesion.centre_lps_mm);
    if (one.contains("probability")) lesion.probability = one.at("probability").get<double>();
    if (one.contains("site")) lesion.site = segment_codes(one.at("site").get<std::string>()).type;
    lesions.push_back(std::move(lesion));
  }
  return lesions;
}

WrittenObject write(const Json& order, const Request& request, const WrittenObject& before) {
  const std::string kind = order.at("kind"), out = order.at("out");
  if (const auto coding = value_named<SegmentationKind>(kind)) {
    return write_segmentation(request.prediction, *coding, out);
  }
  if (kind == "structure-set") return write_structure_set(request.prediction, out);
  const std::vector<Lesion> lesions = lesions_of(order.at("lesions")),
                            below = lesions_of(order.at("below"));
  StudyFindings findings{lesions, below, std::nullopt};
  if (!order.at("flag").is_null())
    findings.flag = {order.at("flag").at("positive"), order.at("flag").at("text")};
  return write_measurement_report(request.prediction, findings, before, out);
}

void run(const std::string& path) {
  const Json json = parse_json(read_file(path), path);
  Request request;
  read_request(json, request);
  Json written = Json::array();
  WrittenObject object;
  for (const Json& order : json.at("write")) {
    object = write(order, request, object);
    written.push_back({{"sop_class_uid", object.sop_class_uid},
                       {"sop_instance_uid", object.sop_instance_uid},
                       {"series_uid", object.series_uid}});
  }
  std::cout << written.dump() << "\n";
}

}  // namespace
}  // namespace headrace::handover

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: dicom_export_tool REQUEST.json\n";
    return 2;
  }
  try {
    headrace::handover::run(argv[1]);
    return 0;
  } catch (const headrace::Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return headrace::exit_code(error.code());
  }
}
