#include "learn/report/picture_section.hpp"

#include <fmt/format.h>

#include "headrace/core/base64.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/plane_sides.hpp"

namespace headrace::report {
namespace {

/// The file of a picture. Errors: malformed (a place outside montage/).
std::filesystem::path picture_path(const RunData& data, const Json& file) {
  const std::string name = file.get<std::string>();
  if (!name.starts_with("montage/") || name.find("..") != std::string::npos)
    fail(ErrorCode::malformed, "eval.json: the picture {} is not in montage/.", name);
  return data.path / name;
}

/// Whether the folder still has it: pictures may have been left out of a copy.
bool kept(const RunData& data, const Json& file) {
  return std::filesystem::exists(picture_path(data, file));
}

/// Empty where it is gone.
std::string image_tag(const RunData& data, const Json& file, const std::string& alt) {
  if (!kept(data, file)) return "";
  const std::filesystem::path path = picture_path(data, file);
  const std::string bytes = read_file(path);
  return fmt::format("<img alt=\"{}\" src=\"data:image/{};base64,{}\">", alt,
                     path.extension() == ".jpg" ? "jpeg" : "png",
                     to_base64(std::as_bytes(std::span(bytes))));
}

constexpr const char* kNotKept = "<p>The pictures are not in this folder.</p>";

/// With the sides of the patient marked, for a plane of this name.
std::string with_sides(const std::string& image, const std::string& plane) {
  for (const PlaneSides& sides : kPlaneSides) {
    if (plane != sides.name) continue;
    return fmt::format(
        "<span class=\"plane\">{}<i class=\"left\">{}</i><i class=\"right\">{}</i>"
        "<i class=\"top\">{}</i><i class=\"bottom\">{}</i></span>",
        image, sides.left, sides.right, sides.top, sides.bottom);
  }
  return image;
}

std::string class_legend(const Json& eval) {
  const auto names = names_of(eval.at("labels"));
  std::string legend;
  for (std::size_t c = 1; c < names.size(); ++c)
    legend += fmt::format("<span class=\"key\">{}</span>", class_label(names[c], c));
  return "<div class=\"legend classes\">" + legend + "</div>";
}

/// Of an example: what it is, and its figure.
std::string example_caption(const Json& example, bool volumes) {
  const bool worst = example.at("rank") == "worst";
  std::string text = fmt::format("<span class=\"mark{}\">{} {}</span> <b>{}</b> · {} {}",
                                 worst ? "" : " best", worst ? "worst" : "best",
                                 example.at("number").get<int>(), text_of(example.at("image")),
                                 text_of(example.at("figure")), figure(example.at("value")));
  if (volumes)
    text += fmt::format(" · axial slice {} of {}", example.at("slice").get<std::int64_t>() + 1,
                        example.at("slices").get<std::int64_t>());
  return text;
}

}  // namespace

std::string example_section(const RunData& data) {
  const Json examples = data.eval.value("examples", Json::array());
  if (examples.empty()) return "";
  if (!kept(data, examples.front().at("original")))
    return section("Worst and best images", kNotKept);
  const bool volumes = data.volumes();
  std::string rows;
  for (const Json& example : examples) {
    rows += "<figure><div class=\"row\">";
    for (const auto& [key, name] :
         {std::pair{"original", "original"}, std::pair{"truth", "annotation"},
          std::pair{"prediction", "prediction"}}) {
      const std::string image = image_tag(data, example.at(key), name);
      rows += fmt::format("<span>{}{}</span>", with_sides(image, volumes ? "axial" : ""), name);
    }
    rows += fmt::format("</div><figcaption>{}</figcaption></figure>\n",
                        example_caption(example, volumes));
  }
  const char* what =
      volumes
          ? "The axial slice with the most voxels that the network got wrong (of the best, "
            "with the most voxels annotated as a lesion, or as any class where none is asked for), in "
            "radiological convention: R and L are "
            "the patient’s right and left, A and P front and back. CT from −160 to 240 HU."
          : "The whole image, at most 512 pixels wide or high. Outlines are in the colours of the "
            "classes; where the network had no tile nothing is outlined.";
  return section(
      "Worst and best images",
      fmt::format("<p>Chosen by their figure from all {} images that were evaluated; equal ones "
                  "by id. {}</p>{}<div class=\"examples\">{}</div>",
                  data.eval.at("images").size(), what, class_legend(data.eval), rows));
}

std::string montage_section(const RunData& data) {
  const Json montage = data.eval.value("montage", Json::array());
  if (montage.empty()) return "";
  std::string rows;
  const std::vector<const char*> slide_kinds{"input", "truth", "prediction"},
      plane_kinds{"axial", "coronal", "sagittal"};
  if (!kept(data, montage.front().at(data.volumes() ? plane_kinds.front() : slide_kinds.front())))
    return section("What the model saw and said", kNotKept);
  for (const Json& patch : montage) {
    rows += "<figure><div class=\"row\">";
    for (const char* kind : data.volumes() ? plane_kinds : slide_kinds) {
      rows += fmt::format("<span>{}{}</span>",
                          with_sides(image_tag(data, patch.at(kind), kind), kind), kind);
    }
    const Json& tile = patch.at(data.volumes() ? "tile_zyx" : "tile_yx");
    const auto at = [&](std::size_t axis) { return tile[axis].get<std::int64_t>(); };
    const std::string place = data.volumes()
                                  ? fmt::format("slice {}, row {}, column {}", at(0), at(1), at(2))
                                  : fmt::format("row {}, column {}", at(0), at(1));
    rows += fmt::format("</div><figcaption>{}, {}</figcaption></figure>\n",
                        text_of(patch.at("image")), place);
  }
  const char* what =
      data.volumes()
          ? "Planes through patches of the validation windows, grey values as the network got them "
            "(percentiles 0.5 to 99.5), in radiological convention: R and L are the patient's "
            "right and left, A and P front and back, H and F head and feet. Outlined: the "
            "annotation. Tinted: what the network said."
          : "The input is what the network got, after the transforms, with the normalisation "
            "undone.";
  return section("What the model saw and said",
                 fmt::format("<p>{}</p>{}<div class=\"montage\">{}</div>", what,
                             class_legend(data.eval), rows));
}

}  // namespace headrace::report
