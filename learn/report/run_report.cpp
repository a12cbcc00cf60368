#include "learn/report/run_report.hpp"

#include "learn/report/baseline_section.hpp"
#include "learn/report/calibration_section.hpp"
#include "learn/report/card_sections.hpp"
#include "learn/report/class_section.hpp"
#include "learn/report/grade_section.hpp"
#include "learn/report/group_section.hpp"
#include "learn/report/html.hpp"
#include "learn/report/image_section.hpp"
#include "learn/report/picture_section.hpp"
#include "learn/report/run_data.hpp"
#include "learn/report/summary_section.hpp"
#include "learn/report/training_section.hpp"
#include "learn/report/tumour_section.hpp"
#include "learn/report/volume_section.hpp"

namespace headrace::report {
namespace {

std::string evaluation(const RunData& data) {
  if (data.eval.is_null()) return "";
  if (data.volumes()) {
    return group_section(data) + volume_class_section(data) + baseline_section(data) +
           lesion_section(data) + calibration_section(data) + example_section(data) +
           montage_section(data) + volume_image_section(data);
  }
  return group_section(data) + grade_section(data) + class_section(data) + baseline_section(data) +
         tumour_section(data) + calibration_section(data) + example_section(data) +
         montage_section(data) + image_section(data);
}

}  // namespace

std::string render_run(const std::filesystem::path& run) {
  return made_of(run.string(), [&] {
    const RunData data = read_run(run);
    const std::string body = header(data) + verdict(data) + key_figures(data) + curves(data) +
                             evaluation(data) + time_section(data) + data_card(data) +
                             model_card(data) + reproduction(data);
    return page(run_name(data) + ", Headrace run", body,
                data.run.at("code_version").get<std::string>());
  });
}

}  // namespace headrace::report
