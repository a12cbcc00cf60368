#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "headrace/transform/entry_stream.hpp"
#include "headrace/transform/slide/colour_affine.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_graph.hpp"

namespace headrace::transform {

/// Builds the two colour programs: runs of operations of one kind become one stage.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(SampleParams& params) : params_(params) {}

  void density(const ColourAffine& od);  ///< in optical density
  void linear(const ColourAffine& rgb);  ///< in RGB, full range 1
  void noise(double sigma);              ///< full range is 1
  void blur(double sigma);               ///< output pixels
  void finish(const ColourAffine& to_output);

 private:
  enum class Pending { none, density, linear };

  void flush();
  /// Ends a run of colour operations: its output is a colour again.
  void limit();
  void add(const Stage& stage);

  SampleParams& params_;
  Pending pending_ = Pending::none;
  ColourAffine affine_;
  bool coloured_ = false, blurred_ = false;
};

/// One sample while it is drawn, entry after entry: what an operation may read, and what it adds
/// to.
struct SlideDraw {
  const PatchSpec& patch;
  const ImageColour& colour;     ///< of the sample's image
  const ImageColour& reference;  ///< target of stain_normalize
  SampleWords words;
  bool random;  ///< false: random operations add nothing
  SampleParams& params;
  ProgramBuilder& program;
  std::size_t entry = 0;     ///< place in the list
  ColourAffine to_output{};  ///< values 0..1 → output values

  /// The random numbers of this entry.
  EntryStream stream() const { return EntryStream(words, entry); }
  /// What this entry drew, for describe().
  void record(std::vector<std::pair<const char*, double>> values) {
    params.drawn.back().values = std::move(values);
  }
};

}  // namespace headrace::transform
