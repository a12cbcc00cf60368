#include "learn/handover/slide/class_map_tiff.hpp"

#include "headrace/pixels/palette.hpp"
#include "learn/handover/slide/ome_xml.hpp"

namespace headrace::handover {

void write_class_map_tiff(const PredictedSlide& slide, const std::filesystem::path& path,
                          ThreadPool& pool) {
  const result::SlideMap& map = *slide.facts.slide;
  imaging::LabelPyramid pyramid;
  pyramid.levels = slide.classes;
  pyramid.mpp = map.mpp;
  pyramid.colours.resize(256);
  for (std::size_t c = 0; c < slide.facts.classes.size(); ++c)
    pyramid.colours[c] = pixels::class_colour(c);
  pyramid.colours[result::kNotPredicted] = {255, 255, 255};
  pyramid.description =
      ome_xml({slide.facts.id, map.height, map.width, map.mpp, slide.facts.classes});
  imaging::write_label_pyramid(path.string(), pyramid, pool);
}

void write_class_map_tiff(const result::ImageResult& result, const std::filesystem::path& path,
                          ThreadPool& pool) {
  write_class_map_tiff(predicted_slide(result), path, pool);
}

}  // namespace headrace::handover
