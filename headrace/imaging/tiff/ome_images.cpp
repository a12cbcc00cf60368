#include "headrace/imaging/tiff/ome_images.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "headrace/core/text.hpp"
#include "headrace/imaging/pixel_size.hpp"
#include "headrace/imaging/xml_tags.hpp"

namespace headrace::imaging {
namespace {

std::string attribute(const XmlTag& tag, const char* name) {
  const auto found = tag.attributes.find(name);
  return found == tag.attributes.end() ? "" : found->second;
}

std::int64_t count_of(const XmlTag& tag, const char* name, std::int64_t missing) {
  const std::string text = attribute(tag, name);
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return text.empty() || *end != '\0' || value < 0 ? missing : value;
}

std::optional<double> size_of(const XmlTag& tag, const std::string& axis) {
  const std::string text = attribute(tag, ("PhysicalSize" + axis).c_str());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value <= 0) return std::nullopt;
  return ome_micrometres(value, attribute(tag, ("PhysicalSize" + axis + "Unit").c_str()));
}

void read_pixels(const XmlTag& tag, OmeImage& image) {
  image.width = count_of(tag, "SizeX", 0);
  image.height = count_of(tag, "SizeY", 0);
  image.channels = count_of(tag, "SizeC", 1);
  image.slices = count_of(tag, "SizeZ", 1);
  image.times = count_of(tag, "SizeT", 1);
  image.order = attribute(tag, "DimensionOrder");
  image.mpp_x = size_of(tag, "X");
  image.mpp_y = size_of(tag, "Y");
}

OmeChannel read_channel(const XmlTag& tag) {
  OmeChannel channel;
  channel.name = attribute(tag, "Name");
  channel.samples = count_of(tag, "SamplesPerPixel", 1);
  channel.fluorescent = attribute(tag, "ContrastMethod") == "Fluorescence" ||
                        !attribute(tag, "Fluor").empty() ||
                        !attribute(tag, "EmissionWavelength").empty() ||
                        !attribute(tag, "ExcitationWavelength").empty();
  return channel;
}

/// 0, 1 or 2 where a name is that of a colour.
std::optional<std::size_t> colour_of(const std::string& name) {
  constexpr std::array<std::array<const char*, 2>, 3> kNames{
      {{"red", "r"}, {"green", "g"}, {"blue", "b"}}};
  const std::string plain = lowered(name);
  for (std::size_t c = 0; c < kNames.size(); ++c) {
    if (plain == kNames[c][0] || plain == kNames[c][1]) return c;
  }
  return std::nullopt;
}

/// Names that programs give where the user gave none: "", "0", "C1", "Channel 2", "Channel:0:1".
bool says_nothing(const std::string& name) {
  std::string plain = lowered(name);
  for (const char* word : {"channel", "ch", "c"}) {
    if (plain.starts_with(word)) {
      plain.erase(0, std::string(word).size());
      break;
    }
  }
  return plain.find_first_not_of("0123456789 :_-") == std::string::npos;
}

}  // namespace

bool OmeImage::holds(std::size_t page) const noexcept {
  return std::any_of(planes.begin(), planes.end(), [&](const OmePlanes& of) {
    return page >= of.page && page - of.page < of.count;
  });
}

std::vector<OmeImage> read_ome_images(std::string_view description) {
  std::vector<OmeImage> images;
  if (description.find("OME") == std::string_view::npos) return images;
  XmlTags tags(description);
  bool ome = false, in_image = false;
  while (const auto tag = tags.next()) {
    if (tag->name == "OME") ome = true;
    if (!ome) continue;
    if (tag->name == "Image") in_image = !tag->closing;
    if (tag->closing || !in_image) continue;
    if (tag->name == "Image") {
      images.push_back({});
      images.back().name = attribute(*tag, "Name");
    } else if (tag->name == "Pixels") {
      read_pixels(*tag, images.back());
    } else if (tag->name == "Channel") {
      images.back().channel_list.push_back(read_channel(*tag));
    } else if (tag->name == "TiffData") {
      // Without PlaneCount an IFD means one plane, and neither of them all planes of the file.
      const bool stated = !attribute(*tag, "IFD").empty();
      const std::int64_t all = images.back().channels * images.back().slices * images.back().times;
      images.back().planes.push_back(
          {static_cast<std::size_t>(count_of(*tag, "IFD", 0)),
           static_cast<std::size_t>(count_of(*tag, "PlaneCount", stated ? 1 : all)),
           count_of(*tag, "FirstC", 0)});
    }
  }
  return images;
}

std::optional<double> ome_micrometres(double value, const std::string& unit) {
  static const std::map<std::string, double> kUnits{{"", 1},
                                                    {"\xC2\xB5m", 1},
                                                    {"\xCE\xBCm", 1},
                                                    {"\xB5m", 1},
                                                    {"um", 1},
                                                    {"micron", 1},
                                                    {"Ym", 1e30},
                                                    {"Zm", 1e27},
                                                    {"Em", 1e24},
                                                    {"Pm", 1e21},
                                                    {"Tm", 1e18},
                                                    {"Gm", 1e15},
                                                    {"Mm", 1e12},
                                                    {"km", 1e9},
                                                    {"hm", 1e8},
                                                    {"dam", 1e7},
                                                    {"m", 1e6},
                                                    {"dm", 1e5},
                                                    {"cm", 1e4},
                                                    {"mm", 1e3},
                                                    {"nm", 1e-3},
                                                    {"pm", 1e-6},
                                                    {"fm", 1e-9},
                                                    {"am", 1e-12},
                                                    {"zm", 1e-15},
                                                    {"ym", 1e-18},
                                                    {"\xC3\x85", 1e-4},
                                                    {"\xE2\x84\xAB", 1e-4},
                                                    {"thou", 25.4},
                                                    {"li", 25400.0 / 12},
                                                    {"in", 25400},
                                                    {"inch", 25400},
                                                    {"ft", 304800},
                                                    {"yd", 914400},
                                                    {"mi", 1609344e3},
                                                    {"ua", 149597870700e6},
                                                    {"ly", 9460730472580800e6},
                                                    {"pc", 3.0856775814913673e22},
                                                    {"pt", 25400.0 / 72}};
  const auto found = kUnits.find(unit);
  if (found == kUnits.end()) return std::nullopt;
  return found->second == 1e-3 ? value / 1e3 : value * found->second;
}

std::optional<std::vector<std::size_t>> ome_colour_pages(const OmeImage& image) {
  if (image.channels != 3 || image.slices != 1 || image.times != 1) return std::nullopt;
  const auto& list = image.channel_list;
  if (std::any_of(list.begin(), list.end(),
                  [](const OmeChannel& c) { return c.fluorescent || c.samples != 1; })) {
    return std::nullopt;
  }
  // The page of each channel, then the channel of each colour.
  std::vector<std::optional<std::size_t>> pages(3);
  for (const OmePlanes& of : image.planes) {
    for (std::size_t i = 0; i < of.count && i < 3; ++i) {
      const std::size_t channel = static_cast<std::size_t>(of.channel) + i;
      if (channel < 3 && !pages[channel]) pages[channel] = of.page + i;
    }
  }
  if (image.planes.empty()) pages = {0, 1, 2};
  std::vector<std::size_t> channel_of{0, 1, 2};
  const bool named = list.size() == 3 && std::all_of(list.begin(), list.end(), [](const auto& c) {
                       return colour_of(c.name).has_value();
                     });
  if (named) {
    for (std::size_t i = 0; i < 3; ++i) channel_of[*colour_of(list[i].name)] = i;
  } else if (!std::all_of(list.begin(), list.end(),
                          [](const OmeChannel& c) { return says_nothing(c.name); })) {
    return std::nullopt;
  }
  std::vector<std::size_t> found;
  for (const std::size_t channel : channel_of) {
    if (!pages[channel]) return std::nullopt;
    found.push_back(*pages[channel]);
  }
  std::vector<std::size_t> distinct = found;
  std::sort(distinct.begin(), distinct.end());
  if (std::unique(distinct.begin(), distinct.end()) != distinct.end()) return std::nullopt;
  return found;
}

}  // namespace headrace::imaging
