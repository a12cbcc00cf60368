#include "headrace/imaging/dicom/suv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "headrace/core/text.hpp"
#include "headrace/math/exponential.hpp"

namespace headrace::imaging {
namespace {

constexpr double kDay = 86400;

/// Digits of a text at a place; nothing where there is anything else.
std::optional<int> digits(const std::string& text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  const char *begin = text.data() + at, *end = begin + count;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

/// DA, YYYYMMDD: days since 1970-01-01.
/// source  Howard Hinnant, chrono-compatible low-level date algorithms, days_from_civil
std::optional<double> days_of(const std::string& date) {
  const auto year = digits(date, 0, 4), month = digits(date, 4, 2), day = digits(date, 6, 2);
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1 || *day > 31)
    return std::nullopt;
  const int y = *year - (*month <= 2 ? 1 : 0), era = y / 400, of_era = y - era * 400;
  const int of_year = (153 * (*month + (*month > 2 ? -3 : 9)) + 2) / 5 + *day - 1;
  return era * 146097.0 + (of_era * 365 + of_era / 4 - of_era / 100 + of_year) - 719468;
}

/// TM, HH[MM[SS[.FFFFFF]]]: seconds since midnight.
std::optional<double> seconds_of(const std::string& time) {
  const auto hour = digits(time, 0, 2);
  if (!hour || *hour > 23) return std::nullopt;
  double seconds = *hour * 3600.0;
  if (time.size() >= 4) seconds += digits(time, 2, 2).value_or(0) * 60.0;
  if (time.size() >= 6) seconds += digits(time, 4, 2).value_or(0);
  double part = 0.1;
  for (std::size_t i = 7; i < time.size() && time[6] == '.' && time[i] >= '0' && time[i] <= '9';
       ++i) {
    seconds += (time[i] - '0') * part;
    part /= 10;
  }
  return seconds;
}

/// A date and a time of day, either of which may be missing.
struct Moment {
  std::optional<double> days, seconds;
  bool whole() const { return days && seconds; }
  double value() const { return *days * kDay + *seconds; }
};

Moment moment_of(const std::string& date, const std::string& time) {
  return {days_of(date), seconds_of(time)};
}

/// DT: a date and a time in one; hours from universal time are left out, as the dates beside it
/// have none.
Moment moment_of(const std::string& date_time) {
  if (date_time.size() < 10) return {};
  return moment_of(date_time.substr(0, 8), date_time.substr(8));
}

bool before(const Moment& a, const Moment& b) {
  return a.whole() && b.whole() ? a.value() < b.value() : *a.seconds < *b.seconds;
}

/// How far the decay that a file's factor undoes is from that between a start and the middle of its
/// frame, in half-lives; nothing where it doesn't say.
std::optional<double> misfit(const PetHeader& file, const Moment& taken, const Moment& start) {
  if (!file.decay_factor || !(*file.decay_factor > 0) || !file.half_life_s || !file.frame_ms ||
      !(*file.half_life_s > 0) || !taken.whole() || !start.whole())
    return std::nullopt;
  const double seconds = taken.value() + *file.frame_ms / 2000 - start.value();
  return std::abs(seconds / *file.half_life_s - std::log2(*file.decay_factor));
}

/// When the scan began: the time to which decay is corrected by START.
Moment scan_start(std::span<const PetHeader* const> files) {
  const Moment series = moment_of(files.front()->series_date, files.front()->series_time);
  Moment earliest;
  const PetHeader* first = nullptr;
  for (const PetHeader* file : files) {
    const Moment taken = moment_of(file->acquisition_date, file->acquisition_time);
    if (!taken.seconds || (first != nullptr && !before(taken, earliest))) continue;
    earliest = taken;
    first = file;
  }
  if (first == nullptr) return series;
  if (!series.seconds) return earliest;
  const auto of_series = misfit(*first, earliest, series),
             of_earliest = misfit(*first, earliest, earliest);
  if (of_series && of_earliest) return *of_series <= *of_earliest ? series : earliest;
  // A series that was made later says when that was, not when the scan began.
  return before(earliest, series) ? earliest : series;
}

SuvFactor none(std::string why) { return {1, std::move(why)}; }

/// Seconds from the injection to the scan; in `problem` why they are not known.
double decay_seconds(std::span<const PetHeader* const> files, std::string& problem) {
  const PetHeader& first = *files.front();
  const Moment scan = scan_start(files), injection = moment_of(first.injection_date_time);
  if (!scan.seconds) {
    problem =
        "lacks SeriesTime and AcquisitionTime, so how far its tracer had decayed is not known";
    return 0;
  }
  if (injection.whole() && scan.whole()) return scan.value() - injection.value();
  const auto of_day = injection.seconds ? injection.seconds : seconds_of(first.injection_time);
  if (!of_day) {
    problem =
        "lacks RadiopharmaceuticalStartDateTime and RadiopharmaceuticalStartTime, so how far its "
        "tracer had decayed is not known";
    return 0;
  }
  const double seconds = *scan.seconds - *of_day;
  return seconds < 0 ? seconds + kDay : seconds;
}

SuvFactor of_activity(std::span<const PetHeader* const> files, double bqml) {
  const PetHeader& first = *files.front();
  const bool start = first.decay_correction == "START";
  if (!start && first.decay_correction != "ADMIN") {
    return none(
        fmt::format("has DecayCorrection '{}', expected START or ADMIN: SUV needs activity "
                    "at one time",
                    first.decay_correction));
  }
  std::vector<std::string> missing;
  const auto need = [&](const std::optional<double>& value, const char* keyword) {
    if (!value || !(*value > 0)) missing.emplace_back(keyword);
  };
  need(first.weight_kg, "PatientWeight");
  need(first.dose_bq, "RadionuclideTotalDose");
  if (start) need(first.half_life_s, "RadionuclideHalfLife");
  if (!missing.empty()) return none(fmt::format("lacks {}", fmt::join(missing, ", ")));
  double dose = *first.dose_bq;
  if (start) {
    constexpr double kMostHalfLives = 10;  // what is left then is no picture
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

}  // namespace

bool attenuation_corrected(const PetHeader& header) {
  const auto parts = split(header.corrected, '\\');
  return std::find(parts.begin(), parts.end(), "ATTN") != parts.end();
}

SuvFactor suv_factor(std::span<const PetHeader* const> files) {
  const PetHeader& first = *files.front();
  if (!attenuation_corrected(first))
    return none("has no correction of attenuation (CorrectedImage without ATTN)");
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
