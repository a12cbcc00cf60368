#include "headrace/imaging/volume/rescale.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"

namespace headrace::ingest {
namespace {

std::unique_ptr<imaging::VolumeReader> open_source(
    const std::string& file, const std::optional<imaging::DicomSeries>& series, IntensityUnit unit,
    const VolumeReading& reading) {
  if (series) return imaging::open_dicom_series(*series, reading.irregular, reading.rescale);
  auto volume = imaging::open_volume(file);
  if (!reading.rescale || unit != IntensityUnit::hu) return volume;
  return imaging::rescaled(std::move(volume), *reading.rescale);
}

}  // namespace

std::unique_ptr<imaging::VolumeReader> open_case(const VolumeCase& volume,
                                                 const VolumeReading& reading) {
  return open_source(volume.file, volume.series, IntensityUnit::hu, reading);
}

std::unique_ptr<imaging::VolumeReader> open_channel(const ChannelSource& channel,
                                                    const VolumeReading& reading) {
  return open_source(channel.file, channel.series, channel.unit, reading);
}

}  // namespace headrace::ingest
