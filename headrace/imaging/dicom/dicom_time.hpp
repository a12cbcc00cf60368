#pragma once
#include <optional>
#include <string>

namespace headrace::imaging {

/// A date and a time of day as DICOM states them, either of which may be missing.
struct Moment {
  std::optional<double> days;     ///< since 1970-01-01
  std::optional<double> seconds;  ///< since midnight
  /// Of a DT that states it, seconds that its clock is ahead of UTC.
  std::optional<double> ahead_of_utc;

  bool whole() const { return days && seconds; }
  double value() const { return *days * 86400 + *seconds; }  ///< seconds; of a whole one
};

/// DA and TM (PS3.5, 6.2): YYYYMMDD or the old YYYY.MM.DD; HH[MM[SS[.FFFFFF]]] or the old HH:MM:SS.
/// What is anything else counts as missing.
Moment moment_of(const std::string& date, const std::string& time);
/// DT: YYYYMMDDHH[MM[SS[.FFFFFF]]][&ZZXX]; one without an hour is missing.
Moment moment_of(const std::string& date_time);
/// &ZZXX, as TimezoneOffsetFromUTC has it: seconds ahead of UTC.
std::optional<double> utc_offset_of(const std::string& text);

}  // namespace headrace::imaging
