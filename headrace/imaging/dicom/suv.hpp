#pragma once
#include <optional>
#include <span>
#include <string>

namespace headrace::imaging {

/// What a PET file's header says of its values, as it stands there. Holds a patient's weight and
/// times: nothing of it may leave the scan but the factor, and the reason why there is none.
struct PetHeader {
  std::string units;             ///< Units: BQML, GML, CNTS, …
  std::string suv_type;          ///< SUVType: BW, LBM, …
  std::string corrected;         ///< CorrectedImage: the corrections, separated by backslashes
  std::string decay_correction;  ///< DecayCorrection: START, ADMIN, NONE
  std::optional<double> weight_kg, dose_bq, half_life_s;
  long agents = 1;  ///< items of RadiopharmaceuticalInformationSequence
  /// Philips' own: SUV, and Bq/ml, of what rescale slope and intercept give.
  std::optional<double> philips_suv, philips_bqml;
  std::optional<double> decay_factor, frame_ms;  ///< of this file: DecayFactor, ActualFrameDuration
  std::string injection_date_time, injection_time;                           ///< DT, TM
  std::string series_date, series_time, acquisition_date, acquisition_time;  ///< DA, TM
  std::string utc_offset;    ///< TimezoneOffsetFromUTC
  bool rescaled = true;      ///< RescaleSlope is there
  bool multi_frame = false;  ///< an enhanced object, which says all this elsewhere
};

/// Whether attenuation was corrected: otherwise values are not concentrations.
bool attenuation_corrected(const PetHeader& header);

/// For a series: SUV by body weight is (rescaled value) · factor.
struct SuvFactor {
  double factor = 1;
  std::string problem;  ///< why there is no factor: words after the series' name; empty: there is
                        ///< one
};

/// source   QIBA, SUV vendor-neutral pseudo-code: qibawiki.rsna.org, Standardized Uptake Value
/// in       headers of all files of one series, at least one
/// Activity is that of Units BQML, weighed against the dose that is left at the time to which the
/// scanner corrected decay: the injection (ADMIN), or the scan's start (START). That is the series'
/// time where no acquisition is earlier, else the earliest acquisition; some scanners state series'
/// times that are neither, so where the earliest file has its DecayFactor the one of the two is
/// taken that fits it, and it must fit. An injection of which only the time of day is known lies in
/// the 24 hours before, which is believed of short-lived tracers alone.
SuvFactor suv_factor(std::span<const PetHeader* const> files);

}  // namespace headrace::imaging
