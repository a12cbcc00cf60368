// Dumps volumes as the readers see them: JSON on standard output, voxels as .npy (float64 or
// uint16, (z, y, x)). The conformance tests compare that with SimpleITK, nibabel and pydicom.
//   volume_tool read FILE OUT.npy
//   volume_tool labels FILE IMAGE OUT.npy
//   volume_tool scan INPUT...                          what scan_dicom finds
//   volume_tool series INPUT N OUT.npy [resample]      series N of the scan
//   volume_tool dicom-labels FILE INPUT N OUT.npy      DICOM SEG or RTSTRUCT on the grid of series
//   N
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/volume/label_volume.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {
namespace {

void write_npy(const std::string& path, const std::string& descr, const VolumeGrid& grid,
               const void* data, std::size_t size_bytes) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}, {}), }}", descr,
                  grid.shape_zyx[0], grid.shape_zyx[1], grid.shape_zyx[2]);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  const auto size = static_cast<std::uint16_t>(header.size());
  out.write(reinterpret_cast<const char*>(&size), 2);
  out << header;
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(size_bytes));
}

std::vector<std::string> texts_of(const std::vector<Note>& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes) texts.push_back(text_of(note));
  return texts;
}

Json json_of(const VolumeInfo& info) {
  const auto d = info.grid.direction_lps();
  return {{"shape_zyx", info.grid.shape_zyx},
          {"spacing_mm_xyz",
           {info.grid.spacing_mm(0), info.grid.spacing_mm(1), info.grid.spacing_mm(2)}},
          {"origin_lps_mm", info.grid.origin_lps_mm()},
          {"direction", d},
          {"affine_lps", info.grid.affine_lps},
          {"modality", name_of(info.modality)},
          {"phase", name_of(info.phase)},
          {"notes", texts_of(info.notes)}};
}

void dump(const VolumeReader& reader, const std::string& out) {
  const auto& grid = reader.info().grid;
  std::vector<double> voxels(static_cast<std::size_t>(grid.voxels()));
  for (std::int64_t z = 0; z < grid.shape_zyx[0]; ++z) {
    reader.read_slice(z, voxels.data() + z * grid.slice_voxels());
  }
  write_npy(out, "<f8", grid, voxels.data(), voxels.size() * sizeof(double));
}

void read(const std::string& path, const std::string& out) {
  const auto reader = open_volume(path);
  dump(*reader, out);
  std::cout << json_of(reader->info()).dump() << "\n";
}

void labels(const std::string& path, const std::string& image, const std::string& out) {
  const auto on = open_volume(image);
  const LabelVolume volume = read_label_volume(*open_volume(path), on->info().grid);
  write_npy(out, "<u2", volume.grid, volume.voxels.data(), volume.voxels.size() * 2);
  std::cout << json_of(on->info()).dump() << "\n";
}

const Pseudonymizer kPseudonym("a key for tests only");

Json json_of(const DicomSeries& series) {
  return {{"patient", series.patient},
          {"study", series.study},
          {"series", series.series},
          {"frame_of_reference", series.frame_of_reference},
          {"number", series.series_number ? Json(*series.series_number) : Json()},
          {"modality", name_of(series.modality)},
          {"phase", name_of(series.phase)},
          {"rows", series.rows},
          {"columns", series.columns},
          {"slices", series.slices.size()},
          {"localizer", series.localizer}};
}

void scan(const std::vector<std::string>& inputs) {
  const DicomScan found = scan_dicom(inputs, kPseudonym, 2);
  Json out{{"series", Json::array()}, {"labels", Json::array()}};
  for (const DicomSeries& series : found.series) out["series"].push_back(json_of(series));
  for (const DicomLabelFile& label : found.labels) {
    out["labels"].push_back({{"path", label.path},
                             {"segmentation", label.object == DicomObject::segmentation},
                             {"patient", label.patient},
                             {"frame_of_reference", label.frame_of_reference},
                             {"referenced_series", label.referenced_series}});
  }
  out["problems"] = Json::array();
  for (const auto& problem : found.problems) out["problems"].push_back(problem.text);
  out["other_files"] = found.other_files;
  std::cout << out.dump() << "\n";
}

std::unique_ptr<VolumeReader> open_nth(const std::string& input, const std::string& n,
                                       bool resample) {
  const DicomScan found = scan_dicom({input}, kPseudonym, 2);
  if (!found.problems.empty()) fail(ErrorCode::malformed, "{}", found.problems.front().text);
  const auto i = static_cast<std::size_t>(std::stoi(n));
  if (i >= found.series.size())
    fail(ErrorCode::usage, "{} series, expected more than {}.", found.series.size(), i);
  return open_dicom_series(found.series[i], resample ? Irregular::resample : Irregular::refuse);
}

void dicom_labels(const std::string& path, const VolumeGrid& image, const std::string& out) {
  const DicomScan found = scan_dicom({path}, kPseudonym, 1);
  if (found.labels.size() != 1) fail(ErrorCode::usage, "{}: no DICOM labels.", path);
  const bool seg = found.labels[0].object == DicomObject::segmentation;
  const NamedLabels labels =
      seg ? read_dicom_segmentation(path, image) : read_structure_set(path, image);
  if (!labels.unpainted.empty()) fail(ErrorCode::malformed, "{}", labels.unpainted.front().text);
  write_npy(out, "<u2", image, labels.volume.voxels.data(), labels.volume.voxels.size() * 2);
  std::cout << Json{{"names", labels.names}, {"notes", texts_of(labels.volume.notes)}}.dump()
            << "\n";
}

int run(const std::vector<std::string>& args) {
  if (args.size() == 3 && args[0] == "read") {
    read(args[1], args[2]);
  } else if (args.size() == 4 && args[0] == "labels") {
    labels(args[1], args[2], args[3]);
  } else if (args.size() >= 2 && args[0] == "scan") {
    scan({args.begin() + 1, args.end()});
  } else if (args.size() >= 4 && args[0] == "series") {
    const auto reader = open_nth(args[1], args[2], args.size() == 5 && args[4] == "resample");
    dump(*reader, args[3]);
    std::cout << json_of(reader->info()).dump() << "\n";
  } else if (args.size() == 5 && args[0] == "dicom-labels") {
    dicom_labels(args[1], open_nth(args[2], args[3], false)->info().grid, args[4]);
  } else {
    std::cerr << "usage: volume_tool read | labels | scan | series | dicom-labels (see the head of "
                 "volume_tool.cpp)\n";
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace headrace::imaging

int main(int argc, char** argv) {
  try {
    return headrace::imaging::run({argv + 1, argv + argc});
  } catch (const headrace::Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return headrace::exit_code(error.code());
  }
}
