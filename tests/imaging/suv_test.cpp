// SUV factors against the rule of QIBA's vendor-neutral pseudo-code, worked out by hand: a dose of
// 400 MBq, half-life 6586.2 s (F-18), 80 kg. Right after the injection 1 Bq/ml is
// 1000 · 80 / 400e6 = 2e-4 SUV; after one half-life twice that.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "headrace/imaging/dicom/suv.hpp"

namespace headrace::imaging {
namespace {

constexpr double kAtInjection = 2e-4, kHalfLife = 6586.2;

PetHeader bqml() {
  PetHeader header;
  header.units = "BQML";
  header.corrected = "DECY\\ATTN\\SCAT";
  header.decay_correction = "START";
  header.weight_kg = 80;
  header.dose_bq = 400e6;
  header.half_life_s = kHalfLife;
  header.series_date = header.acquisition_date = "20240229";
  header.series_time = header.acquisition_time = "120000";
  header.injection_time = "110000";
  return header;
}

SuvFactor factor_of(const PetHeader& header) {
  const PetHeader* files[] = {&header};
  return suv_factor(files);
}

/// The same with changes.
SuvFactor changed(const std::function<void(PetHeader&)>& change) {
  PetHeader header = bqml();
  change(header);
  return factor_of(header);
}

void expect_factor(const SuvFactor& suv, double expected) {
  EXPECT_EQ(suv.problem, "");
  EXPECT_NEAR(suv.factor / expected, 1, 1e-9);
}

/// 2^(seconds / half-life), by multiplication: 2^(1/2^k) are square roots of roots of 2.
double grown(double seconds) {
  double left = seconds / kHalfLife, power = 1, root = 2;
  while (left >= 1) {
    power *= 2;
    left -= 1;
  }
  for (double part = 0.5; part > 1e-12; part /= 2) {
    root = std::sqrt(root);
    if (left < part) continue;
    power *= root;
    left -= part;
  }
  return power;
}

TEST(Suv, ActivityAtTheInjectionNeedsNoDecay) {
  expect_factor(changed([](auto& h) { h.decay_correction = "ADMIN"; }), kAtInjection);
}

TEST(Suv, ActivityAtTheScanCountsTheDoseThatIsLeft) {
  expect_factor(factor_of(bqml()), kAtInjection * grown(3600));
  expect_factor(changed([](auto& h) {
                  h.injection_time = "101013.8";  // one half-life before noon
                }),
                2 * kAtInjection);
}

TEST(Suv, AnInjectionOfWhichOnlyTheTimeIsKnownMayLieBeforeMidnight) {
  expect_factor(changed([](auto& h) {
                  h.series_time = h.acquisition_time = "003000";
                  h.injection_time = "233000.00";
                }),
                kAtInjection * grown(3600));
}

TEST(Suv, TheInjectionsDateAndTimeComeFirst) {
  const auto suv = changed([](auto& h) {
    h.half_life_s = 282240;  // Zr-89: days between injection and scan
    h.injection_date_time = "20240225120000.000000+0100";
    h.injection_time = "115900";
  });
  EXPECT_EQ(suv.problem, "");
  // 4 days over a leap year's end of February: 345600 / 282240 half-lives.
  EXPECT_NEAR(suv.factor / (kAtInjection * std::pow(2.0, 345600.0 / 282240.0)), 1, 1e-9);
}

TEST(Suv, ASeriesMadeLaterTellsNoStartOfTheScan) {
  PetHeader first = bqml(), second = bqml();
  for (PetHeader* header : {&first, &second}) {
    header->series_date = "20240302";
    header->series_time = "083000";
  }
  first.acquisition_time = "120400";  // the second bed
  const PetHeader* files[] = {&first, &second};
  expect_factor(suv_factor(files), kAtInjection * grown(3600));
}

TEST(Suv, ASeriesThatBeganBeforeItsAcquisitionsIsTheScan) {
  expect_factor(changed([](auto& h) { h.acquisition_time = "121500"; }),
                kAtInjection * grown(3600));
}

TEST(Suv, ADecayFactorTellsWhichTimeIsTheStart) {
  const auto of = [](const char* series, double factor) {
    return changed([&](auto& h) {
      h.series_time = series;
      h.acquisition_time = "120000";  // 4 minutes, so 2 to the middle
      h.frame_ms = 240000;
      h.decay_factor = factor;
    });
  };
  // 120 s in half-lives of 6586.2 s; and half an hour more.
  expect_factor(of("113000", grown(120)), kAtInjection * grown(3600));
  expect_factor(of("113000", grown(1920)), kAtInjection * grown(1800));
  expect_factor(of("120000", grown(120)), kAtInjection * grown(3600));
  expect_factor(of("123000", grown(120)), kAtInjection * grown(3600));
}

TEST(Suv, SuvItselfIsTakenAsItIsByBodyWeightAlone) {
  const auto gml = [](const char* type) {
    return changed([&](auto& h) {
      h.units = "GML";
      h.suv_type = type;
      h.weight_kg = h.dose_bq = std::nullopt;
    });
  };
  expect_factor(gml(""), 1);
  expect_factor(gml("BW"), 1);
  EXPECT_EQ(gml("LBM").problem, "has SUV by 'LBM' (SUVType), expected BW, body weight");
}

TEST(Suv, CountsTakePhilipsFactors) {
  const auto counts = [](std::optional<double> suv, std::optional<double> activity) {
    return changed([&](auto& h) {
      h.units = "CNTS";
      h.decay_correction = "ADMIN";
      h.philips_suv = suv;
      h.philips_bqml = activity;
    });
  };
  expect_factor(counts(0.00071, 12.5), 0.00071);
  expect_factor(counts(0, 12.5), 12.5 * kAtInjection);
  EXPECT_EQ(counts(std::nullopt, std::nullopt).problem,
            "has counts (Units CNTS) and no factor that makes SUV of them");
}

TEST(Suv, WhatIsMissingIsNamed) {
  EXPECT_EQ(changed([](auto& h) {
              h.weight_kg = std::nullopt;
              h.dose_bq = 0;
            }).problem,
            "lacks PatientWeight, RadionuclideTotalDose");
  EXPECT_EQ(changed([](auto& h) { h.half_life_s = std::nullopt; }).problem,
            "lacks RadionuclideHalfLife");
  EXPECT_NE(changed([](auto& h) {
              h.injection_time = "?";
            }).problem.find("lacks RadiopharmaceuticalStartDateTime"),
            std::string::npos);
  EXPECT_NE(changed([](auto& h) {
              h.series_time = h.acquisition_time = "";
            }).problem.find("lacks SeriesTime and AcquisitionTime"),
            std::string::npos);
}

TEST(Suv, WhatCantBeTakenIsSaid) {
  EXPECT_EQ(changed([](auto& h) { h.corrected = "DECY\\NATTN"; }).problem,
            "has no correction of attenuation (CorrectedImage without ATTN)");
  EXPECT_EQ(changed([](auto& h) { h.units = "PROPCNTS"; }).problem,
            "has Units 'PROPCNTS', expected BQML, GML or Philips' CNTS");
  EXPECT_NE(changed([](auto& h) { h.decay_correction = "NONE"; }).problem.find("'NONE'"),
            std::string::npos);
  // Dates that were moved apart: no picture is taken 30 days, 393 half-lives, after the injection.
  EXPECT_EQ(changed([](auto& h) { h.injection_date_time = "20240130120000"; }).problem,
            "was taken 720.0 hours after the injection by its dates and times, which can't be with "
            "a half-life of 1.8 hours");
  EXPECT_NE(changed([](auto& h) {
              h.injection_date_time =
                  "20240301"
                  "000000";
            }).problem.find("-12.0 hours"),
            std::string::npos);
}

TEST(Suv, WithoutDatesTheTimesOfTheDayCount) {
  expect_factor(changed([](auto& h) {
                  h.series_date = h.acquisition_date = "";
                  h.injection_date_time = "20010101110000";
                }),
                kAtInjection * grown(3600));
}

TEST(Suv, TheOldWritingOfDatesAndTimesIsRead) {
  expect_factor(changed([](auto& h) {
                  h.series_date = h.acquisition_date = "2024.02.29";
                  h.series_time = h.acquisition_time = "12:00:00.00";
                  h.injection_time = "11:00";
                }),
                kAtInjection * grown(3600));
  for (const char* broken : {"1150x0", "11x0", "1170", "115", "1", "-1", "12.00.00"}) {
    EXPECT_NE(changed([&](auto& h) { h.injection_time = broken; }).problem.find("lacks"),
              std::string::npos)
        << broken;
  }
}

TEST(Suv, LongLivedTracersNeedTheDateOfTheirInjection) {
  const auto zirconium = [](const char* date_time, const char* scan_date) {
    return changed([&](auto& h) {
      h.half_life_s = 282240;
      h.injection_date_time = date_time;
      h.series_date = h.acquisition_date = scan_date;
    });
  };
  EXPECT_EQ(zirconium("20240225120000", "20240229").problem, "");
  for (const auto& suv : {zirconium("", "20240229"), zirconium("20240225120000", "")})
    EXPECT_NE(suv.problem.find("lacks the date of its injection or of its scan"),
              std::string::npos);
}

TEST(Suv, TimeZonesCount) {
  const auto of = [](const char* date_time, const char* time, const char* offset) {
    return changed([&](auto& h) {
      h.injection_date_time = date_time;
      h.injection_time = time;
      h.utc_offset = offset;
    });
  };
  // Ten o'clock by UTC is eleven on the scanner's clock.
  expect_factor(of("20240229100000+0000", "110000", "+0100"), kAtInjection * grown(3600));
  expect_factor(of("20240229110000+0100", "110000", ""), kAtInjection * grown(3600));
  expect_factor(of("20240229060000-0500", "", "-0500"), kAtInjection * grown(6 * 3600));
  EXPECT_NE(of("20240229100000+0000", "110000", "").problem.find("another time zone"),
            std::string::npos);
}

TEST(Suv, FilesOfASeriesAgree) {
  const auto with = [](const std::function<void(PetHeader&)>& change) {
    PetHeader first = bqml(), second = bqml();
    change(second);
    const PetHeader* files[] = {&first, &second};
    return suv_factor(files).problem;
  };
  EXPECT_EQ(with([](auto& h) { h.units = "GML"; }), "has files that differ in Units");
  EXPECT_EQ(with([](auto& h) { h.weight_kg = 60; }), "has files that differ in PatientWeight");
  EXPECT_EQ(with([](auto& h) { h.corrected = "ATTN"; }), "has files that differ in CorrectedImage");
  EXPECT_EQ(with([](auto& h) { h.acquisition_time = "120400"; }), "") << "beds";
}

TEST(Suv, ADecayFactorThatFitsNeitherTimeIsRefused) {
  // The last bed alone, made anew at three: decay was corrected to noon, an hour before its bed.
  EXPECT_NE(changed([](auto& h) {
              h.series_time = "150000";
              h.acquisition_time = "130000";
              h.frame_ms = 240000;
              h.decay_factor = grown(3720);
            }).problem.find("fits neither SeriesTime nor AcquisitionTime"),
            std::string::npos);
}

}  // namespace
}  // namespace headrace::imaging
