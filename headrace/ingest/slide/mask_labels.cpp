#include "headrace/ingest/slide/mask_labels.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kBandPixels = std::int64_t{1} << 22;
constexpr std::array<std::uint16_t, 2> kFullScales{255, 65535};

}  // namespace

MaskLabels::MaskLabels(const std::string& file, MaskCoding coding, const GivenClasses& given,
                       const std::vector<std::string>& names, const SlideCanvas& canvas)
    : file_(file),
      coding_(coding),
      classes_(names.size()),
      stated_(coding == MaskCoding::classes && given.states_values()),
      table_(stated_ ? stated_table(given) : coding_table(coding, names)),
      reader_(imaging::LabelReader::open(file)),
      image_(canvas.size),
      place_(place_on_canvas({reader_->height(), reader_->width()}, canvas)) {
  check_place(canvas);
}

void MaskLabels::check_place(const SlideCanvas& canvas) const {
  const std::string scan =
      canvas.scan
          ? fmt::format(", of which {}×{} from x {}, y {} on were scanned", canvas.scan->width,
                        canvas.scan->height, canvas.scan->x0, canvas.scan->y0)
          : "";
  if (place_.scale == 0) {
    fail(ErrorCode::malformed,
         "mask {}: is {}×{} pixels, the slide is {}×{}{}; a mask must have the slide's size{}, or "
         "that divided by a whole number, to within a pixel",
         file_, place_.mask.width, place_.mask.height, image_.width, image_.height, scan,
         canvas.scan ? " or the scan's" : "");
  }
  if (place_.other == 0) return;
  fail(ErrorCode::malformed,
       "mask {}: is {}×{} pixels, and the slide is {}×{}{}: the mask's size is that of the slide "
       "divided by {}, and that of the scan divided by {}, so its place can't be known; give a "
       "mask of the slide's whole size",
       file_, place_.mask.width, place_.mask.height, image_.width, image_.height, scan,
       place_.scale, place_.other);
}

std::string MaskLabels::expected() const {
  if (stated_) return fmt::format("stated in {}", Option{"classes"});
  return fmt::format("of coding '{}' with {} classes (255 is ignore)", name_of(coding_), classes_);
}

MaskFacts MaskLabels::examine(const Accepted& accepted) const {
  const std::int64_t height = reader_->height(), width = reader_->width();
  const std::int64_t band = std::max<std::int64_t>(1, kBandPixels / width);
  std::vector<std::uint64_t> counts(table_.size());
  std::vector<std::uint16_t> values(static_cast<std::size_t>(std::min(band, height) * width));
  imaging::ColourCount colours;
  for (std::int64_t y = 0; y < height; y += band) {
    const std::int64_t rows = std::min(band, height - y);
    reader_->read(y, 0, rows, width, values.data(), width);
    colours += reader_->count_colours(y, rows);
    const std::uint16_t *at = values.data(), *const end = at + rows * width;
    while (at < end) {
      const std::uint16_t* const next =
          std::find_if(at, end, [value = *at](std::uint16_t other) { return other != value; });
      counts[*at] += static_cast<std::uint64_t>(next - at);
      at = next;
    }
  }
  MaskFacts facts;
  facts.plain_values = coding_ == MaskCoding::classes && !stated_;
  facts.background = 0;
  std::map<std::uint32_t, std::uint64_t> unknown;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    if (counts[value] == 0) continue;
    if (table_[value] < 0) {
      unknown[static_cast<std::uint32_t>(value)] = counts[value];
    } else {
      (table_[value] == 0              ? facts.background
       : table_[value] == kIgnoreLabel ? facts.ignored
                                       : facts.painted) += counts[value];
    }
  }
  // One channel says all where the others are 0 and it holds classes, as PANDA's masks are.
  const bool in_colours =
      colours.mixed > 0 || (colours.first_only > 0 && (!unknown.empty() || facts.ignored > 0));
  if (in_colours) {
    refuse_unless(
        accepted, Doubt::colour_mask, ErrorCode::malformed,
        fmt::format("mask {}: is a picture in colours ({} pixels of {} are not grey), and which "
                    "class a colour is can't be known; give a mask whose values are classes",
                    file_, colours.mixed + colours.first_only, height * width));
  }
  const auto held =
      std::count_if(counts.begin(), counts.end(), [](auto count) { return count > 0; });
  if (held == 1 && colours.clear > 0 && colours.opaque > 0) {
    refuse_unless(
        accepted, Doubt::colour_mask, ErrorCode::malformed,
        fmt::format("mask {}: its values are the same everywhere, and what it shows is in its "
                    "transparency alone ({} pixels of {} are not transparent), which is no class; "
                    "give a mask whose values are classes",
                    file_, colours.opaque, height * width));
  }
  if (facts.plain_values && classes_ == 2) {
    for (const std::uint16_t scale : kFullScales) {
      const bool alone = unknown.empty() || (unknown.size() == 1 && unknown.contains(scale));
      if (counts[scale] == 0 || !alone || facts.full_scale != 0) continue;
      if (facts.ignored > 0 && scale != kIgnoreLabel) continue;
      facts.full_scale = scale;
      facts.ignored = counts[scale];
      unknown.erase(scale);
    }
  }
  if (!unknown.empty()) {
    const bool most = unknown.contains(imaging::kMostLabel);
    fail(ErrorCode::malformed,
         "mask {}: {} {} {}{} none {}; state what they are ({} NAME={}), choose another {}, or "
         "name all {}",
         file_, unknown.size() == 1 ? "value" : "values", listed_values(unknown, "pixels"),
         most ? fmt::format("({} stands for it and more) ", imaging::kMostLabel) : "",
         unknown.size() == 1 ? "is" : "are", expected(), Option{"classes"}, unknown.begin()->first,
         Option{"coding"}, Option{"classes"});
  }
  return facts;
}

void MaskLabels::take(const MaskFacts& facts) {
  facts_ = facts;
  if (facts.full_scale_is_class) table_[facts.full_scale] = 1;
}

/// Around the scan nothing is to be seen, so nothing is annotated there.
void MaskLabels::read(const Box2& box, std::uint8_t* dst) const {
  const Box2& shown = place_.shown;
  const std::int64_t y0 = std::max(box.y0, shown.y0), x0 = std::max(box.x0, shown.x0);
  const std::int64_t y1 = std::min(box.y0 + box.height, shown.y0 + shown.height);
  const std::int64_t x1 = std::min(box.x0 + box.width, shown.x0 + shown.width);
  const Box2 part{y0 - shown.y0, x0 - shown.x0, y1 - y0, x1 - x0};
  if (part.height != box.height || part.width != box.width)
    std::fill(dst, dst + box.height * box.width, std::uint8_t{0});
  if (part.height <= 0 || part.width <= 0) return;
  read_shown(part, dst + (y0 - box.y0) * box.width + (x0 - box.x0), box.width);
}

void MaskLabels::read_shown(const Box2& box, std::uint8_t* dst, std::int64_t stride) const {
  const std::int64_t scale = place_.scale;
  const std::int64_t y0 = box.y0 / scale, x0 = box.x0 / scale;
  const std::int64_t h = std::min((box.y0 + box.height - 1) / scale + 1, place_.mask.height) - y0;
  const std::int64_t w = std::min((box.x0 + box.width - 1) / scale + 1, place_.mask.width) - x0;
  std::vector<std::uint16_t> values;
  if (h > 0 && w > 0) {
    values.resize(static_cast<std::size_t>(h * w));
    reader_->read(y0, x0, h, w, values.data(), w);
  }
  const std::int64_t right = std::clamp(place_.mask.width * scale, box.x0, box.x0 + box.width);
  for (std::int64_t y = box.y0; y < box.y0 + box.height; ++y) {
    std::uint8_t* const row = dst + (y - box.y0) * stride - box.x0;
    const bool inside = y < place_.mask.height * scale;
    const std::int64_t end = inside ? right : box.x0;
    const std::uint16_t* const line =
        inside ? values.data() + (y / scale - y0) * w - x0 : values.data();
    for (std::int64_t x = box.x0; x < end; ++x) {
      const std::uint16_t value = line[x / scale];
      const int label = table_[value];
      if (label < 0) reject(value, y + place_.shown.y0, x + place_.shown.x0);
      row[x] = static_cast<std::uint8_t>(label);
    }
    std::fill(row + end, row + box.x0 + box.width, kIgnoreLabel);
  }
}

void MaskLabels::reject(std::uint16_t value, std::int64_t y, std::int64_t x) const {
  fail(ErrorCode::malformed,
       "mask {}: value {} at y {}, x {} (pixels of level 0) is none {}; the file changed while it "
       "was read",
       file_, value, y, x, expected());
}

std::vector<imaging::Note> MaskLabels::notes() const {
  std::vector<imaging::Note> notes;
  if (facts_.full_scale_is_class) {
    notes.push_back(imaging::make_note(
        imaging::NoteCode::mask_full_scale,
        {static_cast<double>(facts_.full_scale), static_cast<double>(facts_.ignored)}));
  }
  const std::int64_t s = place_.scale;
  const Box2& shown = place_.shown;
  if (shown.height != image_.height || shown.width != image_.width) {
    notes.push_back(imaging::make_note(
        imaging::NoteCode::mask_of_scan,
        {static_cast<double>(shown.y0), static_cast<double>(shown.x0), static_cast<double>(s)}));
  }
  if (place_.mask.height * s != shown.height || place_.mask.width * s != shown.width) {
    const auto beyond = [&](std::int64_t image, std::int64_t mask) {
      return static_cast<double>(std::max<std::int64_t>(0, image - mask * s));
    };
    notes.push_back(
        imaging::make_note(imaging::NoteCode::mask_rounded,
                           {static_cast<double>(s), beyond(shown.height, place_.mask.height),
                            beyond(shown.width, place_.mask.width)}));
  }
  return notes;
}

}  // namespace headrace::ingest
