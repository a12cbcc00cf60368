#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/imaging/label_reader.hpp"
#include "headrace/ingest/inputs/class_values.hpp"
#include "headrace/ingest/slide/label_source.hpp"
#include "headrace/ingest/slide/mask_facts.hpp"
#include "headrace/ingest/slide/mask_place.hpp"

namespace headrace::ingest {

/// The labels of a mask image.
class MaskLabels : public LabelSource {
 public:
  /// names: of the classes and class sets, by label value. Errors: malformed (a size that is not
  /// the slide's, or that of its canvas and of its scan alike).
  MaskLabels(const std::string& file, MaskCoding coding, const GivenClasses& given,
             const std::vector<std::string>& names, const SlideCanvas& canvas);

  /// Reads all of it. Errors: malformed (values that are no classes, each with its pixels; a
  /// picture in colours, unless accepted).
  MaskFacts examine(const Accepted& accepted) const;
  /// How it is read from here on.
  void take(const MaskFacts& facts);

  void read(const Box2& box, std::uint8_t* dst) const override;
  std::vector<imaging::Note> notes() const override;

 private:
  void check_place(const SlideCanvas& canvas) const;
  void read_shown(const Box2& box, std::uint8_t* dst, std::int64_t stride) const;
  std::string expected() const;
  [[noreturn]] void reject(std::uint16_t value, std::int64_t y, std::int64_t x) const;

  std::string file_;
  MaskCoding coding_;
  std::size_t classes_;
  bool stated_ = false;
  std::vector<int> table_;
  std::unique_ptr<imaging::LabelReader> reader_;
  LevelSize image_;
  MaskPlace place_;
  MaskFacts facts_;
};

}  // namespace headrace::ingest
