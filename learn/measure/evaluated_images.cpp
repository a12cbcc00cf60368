#include "learn/measure/evaluated_images.hpp"

#include <algorithm>
#include <map>

#include "learn/measure/slide/evaluated_slides.hpp"
#include "learn/measure/volume/evaluated_volumes.hpp"

namespace headrace::measure {
namespace {

constexpr const char* kNotStated = "not stated";  // volumes whose scanner is not in a table

bool is_in(const ImageFacts& facts, const std::optional<std::string>& phase,
           const std::string& kind, const std::string& name) {
  if (kind == "overall") return true;
  if (kind == "cohorts") return facts.cohort == name;
  if (kind == "phases") return phase && *phase == name;
  return facts.scanner == name || (facts.scanner == "" && name == kNotStated);
}

/// Those of the figures that images determine.
template <typename Evaluated>
void drop_unknown(std::vector<PathFigure>& figures, const Evaluated& evaluated) {
  std::erase_if(figures, [&](const PathFigure& one) { return !evaluated.knows(one.first); });
}

class SlideCases : public EvaluatedCases {
 public:
  SlideCases(const EvaluatedSlides& all, const std::string& kind, const std::string& name)
      : all_(all) {
    std::map<std::string, CaseSlides> by_case;
    std::map<std::string, std::size_t> slides_of;
    for (const JudgedSlide& slide : all.slides) {
      const std::string& id = slide.facts.case_id;
      ++slides_of[id];
      if (!is_in(slide.facts, std::nullopt, kind, name)) continue;
      by_case[id].slides.push_back(&slide);
    }
    for (auto& [id, slides] : by_case) {
      slides.id = id;
      whole_ &= slides.slides.size() == slides_of.at(id);
      slides.verdict = all.cases.at(id);
      Case one{id, {}};
      for (const JudgedSlide* slide : slides.slides) one.images.push_back(slide->facts.id);
      std::sort(one.images.begin(), one.images.end());
      cases_.push_back(std::move(one));
      slides_.push_back(std::move(slides));
    }
  }

  std::vector<PathFigure> figures(std::span<const std::size_t> drawn) const override {
    std::vector<const CaseSlides*> of;
    for (const std::size_t i : drawn) of.push_back(&slides_[i]);
    const ScoreCounts none;
    auto out = slide_figures(of, all_.rules, &none);
    drop_unknown(out, all_);
    if (!whole_) std::erase_if(out, [](const PathFigure& one) { return is_by_case(one.first); });
    return out;
  }

 private:
  static bool is_by_case(const JsonPath& path) {
    return (path.front() == "gleason" && path[1] == "by_case") ||
           (path.front() == "detection" && path[1] == "cases");
  }

  const EvaluatedSlides& all_;
  std::vector<CaseSlides> slides_;
  bool whole_ = true;  ///< all slides of each case are in the group
};

class VolumeCases : public EvaluatedCases {
 public:
  VolumeCases(const EvaluatedVolumes& all, const std::string& kind, const std::string& name)
      : all_(all) {
    std::map<std::string, std::pair<Case, CaseVolumes>> by_case;
    for (const JudgedVolume& volume : all.volumes) {
      if (!is_in(volume.facts, volume.facts.phase, kind, name)) continue;
      auto& [one, volumes] = by_case[volume.facts.case_id];
      one.id = volume.facts.case_id;
      one.images.push_back(volume.facts.id);
      volumes.volumes.push_back(&volume.figures);
    }
    for (auto& [id, both] : by_case) {
      std::sort(both.first.images.begin(), both.first.images.end());
      cases_.push_back(std::move(both.first));
      volumes_.push_back(std::move(both.second));
    }
  }

  std::vector<PathFigure> figures(std::span<const std::size_t> drawn) const override {
    std::vector<const CaseVolumes*> of;
    for (const std::size_t i : drawn) of.push_back(&volumes_[i]);
    std::vector<PathFigure> out;
    for (const GroupFigure& figure : group_figures(of, all_.rules))
      out.emplace_back(figure.path, figure.value);
    drop_unknown(out, all_);
    return out;
  }

 private:
  const EvaluatedVolumes& all_;
  std::vector<CaseVolumes> volumes_;
};

template <typename Evaluated, typename Cases>
class Images : public EvaluatedImages {
 public:
  explicit Images(Evaluated all) : all_(std::move(all)) {}
  std::unique_ptr<const EvaluatedCases> group(const std::string& kind,
                                              const std::string& name) const override {
    return std::make_unique<const Cases>(all_, kind, name);
  }

 private:
  Evaluated all_;
};

}  // namespace

std::shared_ptr<const EvaluatedImages> EvaluatedImages::read(const Json& evaluation,
                                                             const std::string& origin) {
  if (evaluation.contains("phases")) {
    return std::make_shared<const Images<EvaluatedVolumes, VolumeCases>>(
        evaluated_volumes(evaluation, origin));
  }
  return std::make_shared<const Images<EvaluatedSlides, SlideCases>>(
      evaluated_slides(evaluation, origin));
}

}  // namespace headrace::measure
