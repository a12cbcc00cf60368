#include "headrace/imaging/tiff/tiff_file_writer.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::imaging {
namespace {

// Data begins after the longer header of the two kinds; a classic file leaves 8 of these bytes
// unused.
constexpr std::uint64_t kHeaderBytes = 16;
constexpr std::uint16_t kSubIfds = 330;

void put(std::vector<std::byte>& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void sort_tags(std::vector<TiffTag>& tags) {
  std::sort(tags.begin(), tags.end(),
            [](const TiffTag& a, const TiffTag& b) { return a.tag < b.tag; });
}

int value_bytes(TiffType type, bool big) {
  switch (type) {
    case TiffType::ascii:
    case TiffType::undefined:
      return 1;
    case TiffType::word:
      return 2;
    case TiffType::dword:
    case TiffType::rational:
      return 4;
    case TiffType::offset:
      return big ? 8 : 4;
  }
  return 1;
}

std::uint64_t type_number(TiffType type, bool big) {
  constexpr std::uint64_t kLong = 4, kLong8 = 16;
  return type == TiffType::offset ? (big ? kLong8 : kLong) : static_cast<std::uint64_t>(type);
}

/// A directory as bytes for place `at`, followed by the values that do not fit into their entries;
/// `last`: no other directory follows.
std::vector<std::byte> directory_bytes(const std::vector<TiffTag>& tags, std::uint64_t at, bool big,
                                       bool last) {
  const int word = big ? 8 : 4;
  const std::uint64_t entries_end =
      at + (big ? 8 : 2) + tags.size() * (big ? 20 : 12) + static_cast<std::uint64_t>(word);
  std::vector<std::byte> out, beyond;
  put(out, tags.size(), big ? 8 : 2);
  for (const TiffTag& tag : tags) {
    std::vector<std::byte> values;
    for (const std::uint64_t value : tag.values) put(values, value, value_bytes(tag.type, big));
    put(out, tag.tag, 2);
    put(out, type_number(tag.type, big), 2);
    put(out, tag.type == TiffType::rational ? tag.values.size() / 2 : tag.values.size(), word);
    if (values.size() <= static_cast<std::size_t>(word)) {
      values.resize(static_cast<std::size_t>(word));
      out.insert(out.end(), values.begin(), values.end());
    } else {
      put(out, entries_end + beyond.size(), word);
      beyond.insert(beyond.end(), values.begin(), values.end());
      if (beyond.size() % 2 != 0) beyond.push_back(std::byte{0});
    }
  }
  put(out, last ? 0 : entries_end + beyond.size(), word);
  out.insert(out.end(), beyond.begin(), beyond.end());
  return out;
}

}  // namespace

TiffFileWriter::TiffFileWriter(const std::string& path, std::uint64_t classic_limit)
    : file_(path), classic_limit_(classic_limit) {
  const std::vector<std::byte> header(kHeaderBytes);
  file_.append(header);
}

std::uint64_t TiffFileWriter::append(std::span<const std::byte> bytes) {
  const std::uint64_t at = file_.size();
  file_.append(bytes);
  return at;
}

void TiffFileWriter::add_directory(std::vector<TiffTag> tags,
                                   std::vector<std::vector<TiffTag>> children) {
  if (!children.empty())
    tags.push_back({kSubIfds, TiffType::offset, std::vector<std::uint64_t>(children.size())});
  sort_tags(tags);
  for (auto& child : children) sort_tags(child);
  directories_.push_back({std::move(tags), std::move(children)});
}

/// Children lie before the main chain, whose directories then know where they are.
void TiffFileWriter::write_children(bool big) {
  for (Directory& directory : directories_) {
    std::vector<std::uint64_t> places;
    for (const auto& child : directory.children) {
      places.push_back(file_.size());
      file_.append(directory_bytes(child, file_.size(), big, true));
    }
    for (TiffTag& tag : directory.tags) {
      if (tag.tag == kSubIfds && !places.empty()) tag.values = places;
    }
  }
}

void TiffFileWriter::finish() {
  if (file_.size() % 2 != 0) file_.append(std::vector<std::byte>(1));
  std::uint64_t directory_size = 0;
  for (const Directory& directory : directories_) {
    directory_size += directory_bytes(directory.tags, 0, true, false).size();
    for (const auto& child : directory.children)
      directory_size += directory_bytes(child, 0, true, true).size();
  }
  const bool big = file_.size() + directory_size > classic_limit_;
  write_children(big);
  const std::uint64_t first = file_.size();
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    const bool last = i + 1 == directories_.size();
    file_.append(directory_bytes(directories_[i].tags, file_.size(), big, last));
  }
  std::vector<std::byte> header;
  put(header, 0x4949, 2);
  put(header, big ? 43 : 42, 2);
  if (big) {
    put(header, 8, 2);
    put(header, 0, 2);
  }
  put(header, first, big ? 8 : 4);
  file_.write_at(0, header);
  file_.finish();
}

std::vector<TiffTag> tiff_resolution_tags(double mpp) {
  constexpr std::uint64_t kDenominator = 1000;
  const auto pixels =
      static_cast<std::uint64_t>(std::llround(1e4 / mpp * static_cast<double>(kDenominator)));
  return {{282, TiffType::rational, {pixels, kDenominator}},
          {283, TiffType::rational, {pixels, kDenominator}},
          {296, TiffType::word, {3}}};
}

}  // namespace headrace::imaging
