#include "headrace/imaging/tiff/tiff_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/tiff/tiff_pixel_size.hpp"
#include "headrace/imaging/xml_tags.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint32_t kReducedImage = 1, kMask = 4;  // NewSubfileType
constexpr std::array kSideNames{"label", "macro", "overview", "thumbnail"};

bool is_side_name(const std::string& name) {
  const std::string plain = lowered(name);
  return std::any_of(kSideNames.begin(), kSideNames.end(), [&](const char* side) {
    const std::string word = side;
    if (!plain.starts_with(word)) return false;
    // "label", "label image", "label 387x463", but not "labelled nuclei".
    return plain.size() == word.size() ||
           std::string(" _-.,:;\t\r\n").find(plain[word.size()]) != std::string::npos ||
           plain[word.size()] == '\0';
  });
}

/// What a description calls its page: its last line, as Aperio writes it, or the ImageType of a
/// QPTIFF.
std::string name_in(const std::string& description) {
  if (description.find("<ImageType>") != std::string::npos) {
    XmlTags tags(description);
    while (const auto tag = tags.next()) {
      if (tag->name == "ImageType" && !tag->closing) return tag->text;
    }
  }
  if (description.starts_with("<")) return "";
  std::string text = description.substr(0, description.find('\0'));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  const auto line = text.find_last_of("\r\n");
  return line == std::string::npos ? text : text.substr(line + 1);
}

/// Whether a description of keys and values, as JSON and many programs' lists are, states that its
/// page is a side picture: "type": "MACRO image", Name = label.
bool states_side(const std::string& description) {
  if (description.starts_with("<")) return false;
  constexpr std::array kKeys{"type",      "kind",     "name",     "role",     "imagetype",
                             "imagename", "pagetype", "pagename", "imagekind"};
  const auto bare = [](const std::string& text) -> std::string {
    const auto begin = text.find_first_not_of("\"' \t");
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of("\"' \t") - begin + 1);
  };
  std::string text = description.substr(0, description.find('\0'));
  for (char& c : text) {
    if (std::string_view("{}[],;|\r").find(c) != std::string_view::npos) c = '\n';
  }
  for (const std::string& field : split(text, '\n')) {
    const auto at = field.find_first_of(":=");
    if (at == std::string::npos) continue;
    const std::string key = folded_name(bare(field.substr(0, at)));
    const bool known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
    if (known && is_side_name(bare(field.substr(at + 1)))) return true;
  }
  return false;
}

class Chooser {
 public:
  Chooser(const storage::Object& file, TiffRole role) : file_(file), role_(role) {
    bool damaged = false;
    all_ = read_whole_tiff_directories(file, damaged);
    if (damaged) pages_.notes.push_back(make_note(NoteCode::pages_unreadable));
    pages_.ome = read_ome_images(file, all_[0]);
    add_larger_parts();
  }

  TiffPages choose() {
    if (all_.size() == 1) {
      if (role_ == TiffRole::slide) find_candidates();
      take(0);
      check_single();
      return std::move(pages_);
    }
    find_candidates();
    std::size_t best = candidates_[0];
    for (const std::size_t i : candidates_) {
      if (area(i) > area(best)) best = i;
    }
    std::vector<std::size_t> equal;
    for (const std::size_t i : candidates_) {
      if (all_[i].width == all_[best].width && all_[i].height == all_[best].height)
        equal.push_back(i);
    }
    if (equal.size() > 1) {
      choose_among(equal);
    } else {
      check_it_is_the_slide(best);
      note_others({best});
      take(best);
    }
    return std::move(pages_);
  }

 private:
  /// SubIFDs are levels, unless they are larger than their page: then that is the thumbnail.
  void add_larger_parts() {
    for (std::size_t i = 0, pages = all_.size(); i < pages; ++i) {
      for (TiffDirectory& part : read_sub_directories(file_, all_[i])) {
        if (part.width > all_[i].width && part.height > all_[i].height)
          all_.push_back(std::move(part));
      }
    }
  }

  const char* noun() const { return role_ == TiffRole::slide ? "slide" : "mask"; }

  std::int64_t area(std::size_t i) const { return all_[i].width * all_[i].height; }

  /// As a list for error texts.
  std::string sizes() const {
    constexpr std::size_t kNamed = 12;
    std::vector<std::string> list;
    for (const TiffDirectory& d : all_) {
      if (list.size() == kNamed) {
        list.push_back("…");
        break;
      }
      list.push_back(fmt::format("{}x{}", d.width, d.height));
    }
    return fmt::format("{}", fmt::join(list, ", "));
  }

  bool is_side(std::size_t i) const {
    const TiffDirectory& d = all_[i];
    if ((d.subfile_type & (kReducedImage | kMask)) != 0) return true;
    if (names_side_picture(d.description) || is_side_name(d.page_name)) return true;
    return pages_.ome.size() > 1 &&
           std::any_of(pages_.ome.begin(), pages_.ome.end(), [&](const OmeImage& image) {
             return image.holds(i) && is_side_name(image.name);
           });
  }

  void find_candidates() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].width > 0 && all_[i].height > 0 && !is_side(i)) candidates_.push_back(i);
    }
    if (!candidates_.empty()) return;
    fail(
        ErrorCode::unsupported,
        "{}: {} marked as reduced, label, macro or thumbnail, so none is the {} (pages: {} pixels). "
        "Where it is the {} itself, save it without the mark",
        file_.describe(),
        all_.size() == 1 ? "its only picture is"
                         : fmt::format("all of its {} pictures are", all_.size()),
        noun(), sizes(), noun());
  }

  /// Whether a picture in tiles has levels of its own, as slides have.
  bool is_pyramid(std::size_t i, std::size_t best) const {
    if (!all_[i].tiled()) return false;
    return !all_[i].sub_directories.empty() ||
           std::any_of(all_.begin(), all_.end(), [&](const TiffDirectory& d) {
             return d.tiled() && is_reduced(d, all_[i]) && !is_reduced(d, all_[best]);
           });
  }

  /// A picture in strips that is larger than a pyramid may be a macro picture.
  void check_it_is_the_slide(std::size_t best) const {
    if (all_[best].tiled()) return;
    for (const std::size_t i : candidates_) {
      if (i == best || is_reduced(all_[i], all_[best]) || !is_pyramid(i, best)) continue;
      fail(
          ErrorCode::unsupported,
          "{}: which of its pictures is the slide can't be told: the largest, {}x{}, is in strips, "
          "another, {}x{}, has levels in tiles (pages: {} pixels). Extract the slide to a file of "
          "its own",
          file_.describe(), all_[best].width, all_[best].height, all_[i].width, all_[i].height,
          sizes());
    }
  }

  void choose_among(const std::vector<std::size_t>& equal) {
    std::vector<std::size_t> colour;
    for (const std::size_t i : equal) {
      if (all_[i].samples >= 3) colour.push_back(i);
    }
    if (colour.size() == 1) {
      note_others({colour[0]});
      return take(colour[0]);
    }
    if (colour.empty()) {
      if (const auto planes = colour_planes(equal)) {
        note_others(*planes);
        return join(*planes);
      }
    }
    const TiffDirectory& d = all_[equal[0]];
    fail(ErrorCode::unsupported, "{}: holds {} pictures of {}x{} pixels ({}), and one is a {}. {}",
         file_.describe(), equal.size(), d.width, d.height, what_they_are(equal, colour.empty()),
         noun(),
         colour.empty() && equal.size() == 3
             ? "Where they are red, green and blue, store them as RGB; else extract one of them"
             : "Extract the one that is meant to a file of its own");
  }

  /// "a z-stack of 5 planes", as the file says it.
  std::string what_they_are(const std::vector<std::size_t>& equal, bool grey) const {
    for (const OmeImage& image : pages_.ome) {
      if (!image.holds(equal[0]) && pages_.ome.size() > 1) continue;
      std::vector<std::string> parts;
      if (image.channels > 1 && grey) parts.push_back(fmt::format("{} channels", image.channels));
      if (image.slices > 1) parts.push_back(fmt::format("a z-stack of {}", image.slices));
      if (image.times > 1) parts.push_back(fmt::format("{} time points", image.times));
      if (!parts.empty()) return fmt::format("{}", fmt::join(parts, ", "));
    }
    return grey ? "grey: channels, focal planes or time points"
                : "in colour: focal planes, time points or several scans";
  }

  /// The pages of red, green and blue, where the file states that.
  std::optional<std::vector<std::size_t>> colour_planes(
      const std::vector<std::size_t>& equal) const {
    if (equal.size() != 3) return std::nullopt;
    const auto among = [&](const std::vector<std::size_t>& pages) {
      return std::all_of(pages.begin(), pages.end(), [&](std::size_t page) {
        return std::find(equal.begin(), equal.end(), page) != equal.end();
      });
    };
    for (const OmeImage& image : pages_.ome) {
      if (const auto pages = ome_colour_pages(image); pages && among(*pages)) return pages;
    }
    std::vector<std::string> names;
    for (const std::size_t i : equal) names.push_back(lowered(plain(all_[i].page_name)));
    const std::array colours{"red", "green", "blue"};
    std::vector<std::size_t> found;
    for (const char* colour : colours) {
      const auto at = std::find(names.begin(), names.end(), colour);
      if (at != names.end()) found.push_back(equal[static_cast<std::size_t>(at - names.begin())]);
    }
    if (found.size() == 3) return found;
    return std::nullopt;
  }

  static std::string plain(const std::string& text) { return text.substr(0, text.find('\0')); }

  /// Pictures that are neither the slide, nor its levels, nor marked as something else.
  void note_others(const std::vector<std::size_t>& taken) {
    double count = 0;
    std::size_t largest = all_.size();
    for (const std::size_t i : candidates_) {
      const bool is_taken = std::find(taken.begin(), taken.end(), i) != taken.end();
      if (is_taken || is_reduced(all_[i], all_[taken[0]])) continue;
      ++count;
      if (largest == all_.size() || area(i) > area(largest)) largest = i;
    }
    if (count == 0) return;
    pages_.notes.push_back(
        make_note(NoteCode::pages_left_out, {count, static_cast<double>(all_[largest].height),
                                             static_cast<double>(all_[largest].width)}));
  }

  /// One page that stands for several planes: ImageJ writes those of a large stack behind it, and
  /// OME-XML may name other files.
  void check_single() const {
    const std::string& text = pages_.levels[0].description;
    const auto images = text.starts_with("ImageJ=") ? text.find("\nimages=") : std::string::npos;
    if (images != std::string::npos) {
      const int count = std::atoi(text.c_str() + images + 8);
      if (count > 1) {
        fail(ErrorCode::unsupported,
             "{}: is a stack of ImageJ of {} pictures (channels, focal planes or time points), and "
             "one is a {}. Extract the one that is meant to a file of its own",
             file_.describe(), count, noun());
      }
    }
    for (const OmeImage& image : pages_.ome) {
      const TiffDirectory& d = pages_.levels[0];
      std::int64_t samples = 0;
      for (const OmeChannel& channel : image.channel_list) samples += channel.samples;
      const bool one = image.slices <= 1 && image.times <= 1 &&
                       image.channels <= std::max<std::int64_t>(d.samples, 1);
      if (image.width != d.width || image.height != d.height || one || samples == d.samples)
        continue;
      fail(ErrorCode::unsupported,
           "{}: holds one picture, and its OME-XML states {} channels, {} focal planes and {} time "
           "points, which lie in other files or are lost; convert them to one RGB picture",
           file_.describe(), image.channels, image.slices, image.times);
    }
  }

  void take(std::size_t i) {
    pages_.is_first = i == 0;
    pages_.levels = tiff_pyramid_of(file_, all_, i);
  }

  void join(const std::vector<std::size_t>& planes) {
    for (const std::size_t i : planes) pages_.planes.push_back(tiff_pyramid_of(file_, all_, i));
    // Levels that all three have.
    std::size_t count = pages_.planes[0].size();
    for (const auto& plane : pages_.planes) count = std::min(count, plane.size());
    for (auto& plane : pages_.planes) plane.resize(count);
    pages_.levels = pages_.planes[0];
  }

  const storage::Object& file_;
  TiffRole role_;
  std::vector<TiffDirectory> all_;
  std::vector<std::size_t> candidates_;
  TiffPages pages_;
};

}  // namespace

bool names_side_picture(const std::string& description) {
  return is_side_name(name_in(description)) || states_side(description);
}

TiffPages choose_tiff_pages(const storage::Object& file, TiffRole role) {
  return Chooser(file, role).choose();
}

}  // namespace headrace::imaging
