#include "headrace/imaging/dicom/suv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headrace/core/text.hpp"
#include "headrace/imaging/dicom/dicom_time.hpp"
#include "headrace/math/exponential.hpp"

namespace headrace::imaging {
namespace {

constexpr double kDay = 86400;
constexpr double kMostHalfLives = 10;  ///< from injection to scan: what is left then is no picture

bool has_correction(const PetHeader& header, const char* name) {
  const auto parts = split(header.corrected, '\\');
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

bool before(const Moment& a, const Moment& b) {
  return a.whole() && b.whole() ? a.value() < b.value() : *a.seconds < *b.seconds;
}

/// How far the decay that a file's factor undoes differs from the decay between a start and the
/// middle of its frame, in half-lives; nothing where the file does not state it.
std::optional<double> misfit(const PetHeader& file, const Moment& taken, const Moment& start) {
  if (!file.decay_factor || !(*file.decay_factor > 0) || !file.half_life_s || !file.frame_ms ||
      !(*file.half_life_s > 0) || !taken.whole() || !start.whole())
    return std::nullopt;
  const double seconds = taken.value() + *file.frame_ms / 2000 - start.value();
  return std::abs(seconds / *file.half_life_s - std::log2(*file.decay_factor));
}

/// A series' start, or why it is not known.
struct Start {
  Moment moment;
  std::string problem;
};

/// When the scan began: the time to which decay is corrected by START.
Start scan_start(std::span<const PetHeader* const> files) {
  const Moment series = moment_of(files.front()->series_date, files.front()->series_time);
  Moment earliest;
  const PetHeader* first = nullptr;
  for (const PetHeader* file : files) {
    const Moment taken = moment_of(file->acquisition_date, file->acquisition_time);
    if (!taken.seconds || (first != nullptr && !before(taken, earliest))) continue;
    earliest = taken;
    first = file;
  }
  if (first == nullptr && !series.seconds) {
    return {{},
            "lacks SeriesTime and AcquisitionTime, so how far its tracer had decayed is not known"};
  }
  if (first == nullptr) return {series, ""};
  if (!series.seconds) return {earliest, ""};
  const auto of_series = misfit(*first, earliest, series),
             of_earliest = misfit(*first, earliest, earliest);
  if (of_series && of_earliest) {
    constexpr double kMostMisfit = 0.1;  // half-lives: 7 % of the values
    if (std::min(*of_series, *of_earliest) > kMostMisfit) {
      return {{},
              "has a DecayFactor that fits neither SeriesTime nor AcquisitionTime, so the time to "
              "which decay was corrected is not known"};
    }
    return {*of_series <= *of_earliest ? series : earliest, ""};
  }
  // A series that was made later says when that was, not when the scan began.
  return {before(earliest, series) ? earliest : series, ""};
}

SuvFactor none(std::string why) { return {1, std::move(why)}; }

/// Seconds from the injection to the scan; `problem` gets the reason where they are not known.
double decay_seconds(std::span<const PetHeader* const> files, std::string& problem) {
  const PetHeader& first = *files.front();
  const Start start = scan_start(files);
  problem = start.problem;
  if (!problem.empty()) return 0;
  const Moment& scan = start.moment;
  Moment injection = moment_of(first.injection_date_time);
  const Moment of_day = moment_of("", first.injection_time);
  if (injection.ahead_of_utc) {
    const auto local = utc_offset_of(first.utc_offset);
    constexpr double kNextZone = 900;  // zones lie a quarter of an hour apart, or more
    const bool same_clock = of_day.seconds && injection.seconds &&
                            std::abs(*of_day.seconds - *injection.seconds) < kNextZone;
    if (injection.whole() && local) {
      *injection.seconds += *local - *injection.ahead_of_utc;
    } else if (of_day.seconds && !same_clock) {
      problem =
          "has a RadiopharmaceuticalStartDateTime in another time zone than its other times, whose "
          "TimezoneOffsetFromUTC is not there";
      return 0;
    }
  }
  if (injection.whole() && scan.whole()) return scan.value() - injection.value();
  const auto seconds = injection.seconds ? injection.seconds : of_day.seconds;
  if (!seconds) {
    problem =
        "lacks RadiopharmaceuticalStartDateTime and RadiopharmaceuticalStartTime, so how far its "
        "tracer had decayed is not known";
    return 0;
  }
  if (kDay <= kMostHalfLives * *first.half_life_s) {
    problem =
        "lacks the date of its injection or of its scan (RadiopharmaceuticalStartDateTime, "
        "SeriesDate), and its tracer may have been given days before";
    return 0;
  }
  const double since = *scan.seconds - *seconds;
  return since < 0 ? since + kDay : since;
}

/// What no patient and no scan has, most often another unit than the standard's.
std::string impossible(const PetHeader& header) {
  constexpr double kLeastDose = 1e5, kMostWeight = 500;
  if (*header.dose_bq < kLeastDose)
    return fmt::format("has RadionuclideTotalDose {}, expected becquerels", *header.dose_bq);
  if (*header.weight_kg > kMostWeight)
    return fmt::format("has a PatientWeight above {} kg", kMostWeight);
  return "";
}

SuvFactor of_activity(std::span<const PetHeader* const> files, double bqml) {
  const PetHeader& first = *files.front();
  const bool start = first.decay_correction == "START";
  if (!start && first.decay_correction != "ADMIN") {
    return none(
        fmt::format("has DecayCorrection '{}', expected START or ADMIN: SUV needs activity at one "
                    "time",
                    first.decay_correction));
  }
  if (!has_correction(first, "DECY"))
    return none("has no correction of decay (CorrectedImage without DECY)");
  if (first.agents > 1)
    return none("names several tracers (RadiopharmaceuticalInformationSequence)");
  std::vector<std::string> missing;
  const auto need = [&](const std::optional<double>& value, const char* keyword) {
    if (!value || !(*value > 0)) missing.emplace_back(keyword);
  };
  need(first.weight_kg, "PatientWeight");
  need(first.dose_bq, "RadionuclideTotalDose");
  if (start) need(first.half_life_s, "RadionuclideHalfLife");
  if (!missing.empty()) return none(fmt::format("lacks {}", fmt::join(missing, ", ")));
  if (auto why = impossible(first); !why.empty()) return none(std::move(why));
  double dose = *first.dose_bq;
  if (start) {
    std::string problem;
    const double seconds = decay_seconds(files, problem);
    if (!problem.empty()) return none(std::move(problem));
    if (seconds < 0 || seconds > kMostHalfLives * *first.half_life_s) {
      return none(
          fmt::format("was taken {:.1f} hours after the injection by its dates and times, "
                      "which can't be with a half-life of {:.1f} hours",
                      seconds / 3600, *first.half_life_s / 3600));
    }
    constexpr double kLn2 = 0.69314718055994531;
    dose *= math::exp_of(-kLn2 * seconds / *first.half_life_s);
  }
  return {1000 * *first.weight_kg / dose * bqml, ""};
}

/// What the files of one series must have in common; empty where they do, else its keyword.
std::string differing(std::span<const PetHeader* const> files) {
  const PetHeader& first = *files.front();
  for (const PetHeader* file : files) {
    if (file->units != first.units) return "Units";
    if (file->suv_type != first.suv_type) return "SUVType";
    if (file->corrected != first.corrected) return "CorrectedImage";
    if (file->decay_correction != first.decay_correction) return "DecayCorrection";
    if (file->weight_kg != first.weight_kg) return "PatientWeight";
    if (file->dose_bq != first.dose_bq) return "RadionuclideTotalDose";
    if (file->half_life_s != first.half_life_s) return "RadionuclideHalfLife";
    if (file->injection_time != first.injection_time) return "RadiopharmaceuticalStartTime";
    if (file->injection_date_time != first.injection_date_time)
      return "RadiopharmaceuticalStartDateTime";
    if (file->philips_suv != first.philips_suv || file->philips_bqml != first.philips_bqml)
      return "Philips' private factor";
    if (file->series_time != first.series_time || file->series_date != first.series_date)
      return "SeriesDate or SeriesTime";
  }
  return "";
}

}  // namespace

bool attenuation_corrected(const PetHeader& header) {
  return header.multi_frame || has_correction(header, "ATTN");
}

SuvFactor suv_factor(std::span<const PetHeader* const> files) {
  const PetHeader& first = *files.front();
  if (first.multi_frame) return none("is an enhanced multi-frame object, whose SUV is not read");
  if (!attenuation_corrected(first))
    return none("has no correction of attenuation (CorrectedImage without ATTN)");
  if (const auto what = differing(files); !what.empty())
    return none(fmt::format("has files that differ in {}", what));
  if (std::any_of(files.begin(), files.end(), [](const auto* file) { return !file->rescaled; }))
    return none("lacks RescaleSlope");
  if (first.units == "GML") {
    if (first.suv_type.empty() || first.suv_type == "BW") return {};
    return none(fmt::format("has SUV by '{}' (SUVType), expected BW, body weight", first.suv_type));
  }
  if (first.units == "BQML") return of_activity(files, 1);
  if (first.units == "CNTS") {
    if (first.philips_suv && *first.philips_suv > 0) return {*first.philips_suv, ""};
    if (first.philips_bqml && *first.philips_bqml > 0)
      return of_activity(files, *first.philips_bqml);
    return none("has counts (Units CNTS) and no factor that makes SUV of them");
  }
  return none(fmt::format("has Units '{}', expected BQML, GML or Philips' CNTS", first.units));
}

}  // namespace headrace::imaging
