#include "headrace/ingest/volume/label_objects.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::ingest {
namespace {

using imaging::DicomLabelFile;
using imaging::DicomSeries;

using Images = std::vector<VolumeCase*>;

void add(Images& images, VolumeCase& image) {
  if (std::find(images.begin(), images.end(), &image) == images.end()) images.push_back(&image);
}

/// Those that the series of an image and its channels state.
std::set<std::string> frames_of(const VolumeCase& image) {
  std::set<std::string> frames;
  if (image.series) frames.insert(image.series->frame_of_reference);
  for (const ChannelSource& channel : image.further) {
    if (channel.series) frames.insert(channel.series->frame_of_reference);
  }
  frames.erase("");
  return frames;
}

/// Whether labels state a frame of reference that no series of their image has.
bool in_other_frame(const DicomLabelFile& label, const VolumeCase& image) {
  if (label.frame_of_reference.empty()) return false;
  const std::set<std::string> frames = frames_of(image);
  return !frames.empty() && !frames.contains(label.frame_of_reference);
}

class ImagesOfLabels {
 public:
  explicit ImagesOfLabels(std::vector<VolumeCase>& cases) {
    for (VolumeCase& volume : cases) {
      if (volume.series) know(volume, *volume.series);
      for (const ChannelSource& channel : volume.further) {
        if (channel.series) know(volume, *channel.series);
      }
    }
  }

  /// The image that has most of the pictures that a label names, where no other has as many: it
  /// tells the acquisitions of one series apart, and several series. Null where none has.
  VolumeCase* most_named(const DicomLabelFile& label) const {
    std::map<VolumeCase*, std::size_t> named;
    for (const std::string& instance : label.referenced_instances) {
      const auto found = by_instance_.find(instance);
      if (found == by_instance_.end()) continue;
      for (VolumeCase* image : found->second) ++named[image];
    }
    VolumeCase* most = nullptr;
    std::size_t count = 0;
    bool alone = false;
    for (const auto& [image, pictures] : named) {
      if (pictures < count) continue;
      alone = pictures > count;
      most = image;
      count = pictures;
    }
    return alone ? most : nullptr;
  }

  /// Of the series that a label refers to; of several those in the frame of its structures, if any.
  Images referred_to(const DicomLabelFile& label) const {
    Images images;
    for (const std::string& series : label.referenced_series) {
      const auto found = by_series_.find(series);
      if (found == by_series_.end()) continue;
      for (VolumeCase* image : found->second) {
        if (!other_part(label, *image)) add(images, *image);
      }
    }
    Images in_frame;
    for (VolumeCase* image : images) {
      if (frames_of(*image).contains(label.frame_of_reference)) in_frame.push_back(image);
    }
    return in_frame.empty() ? images : in_frame;
  }

  Images in_frame(const DicomLabelFile& label) const {
    const auto found = by_frame_.find(label.patient + label.frame_of_reference);
    return found == by_frame_.end() ? Images() : found->second;
  }

 private:
  void know(VolumeCase& volume, const DicomSeries& series) {
    for (const imaging::DicomSlice& slice : series.slices)
      add(by_instance_[slice.instance], volume);
    know_series(series.series, series.stack, volume);
    for (const std::string& member : series.joined) know_series(member, series.stack, volume);
    if (!series.frame_of_reference.empty())
      add(by_frame_[series.patient + series.frame_of_reference], volume);
  }

  /// The largest stack of a series comes first, and labels of the series refer to it; all of its
  /// acquisitions are meant.
  void know_series(const std::string& series, std::size_t stack, VolumeCase& volume) {
    if (stack_of_.try_emplace(series, stack).first->second == stack)
      add(by_series_[series], volume);
  }

  /// Whether a label names pictures, but none of this part of a series of several acquisitions: it
  /// was drawn on another part, which may have been left out.
  bool other_part(const DicomLabelFile& label, const VolumeCase& image) const {
    if (!image.series || image.series->acquisitions < 2 || label.referenced_instances.empty())
      return false;
    return std::none_of(label.referenced_instances.begin(), label.referenced_instances.end(),
                        [&](const std::string& instance) {
                          const auto found = by_instance_.find(instance);
                          return found != by_instance_.end() &&
                                 std::find(found->second.begin(), found->second.end(), &image) !=
                                     found->second.end();
                        });
  }

  std::map<std::string, Images> by_series_, by_frame_, by_instance_;
  std::map<std::string, std::size_t> stack_of_;  ///< the one of each series that labels refer to
};

}  // namespace

UnusedFiles attach_label_objects(const std::vector<DicomLabelFile>& labels,
                                 std::vector<VolumeCase>& cases) {
  const ImagesOfLabels images(cases);
  std::vector<const DicomLabelFile*> ordered;
  for (const auto& label : labels) ordered.push_back(&label);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](auto* a, auto* b) { return a->instance < b->instance; });
  UnusedFiles unused;
  std::set<std::string> seen;
  for (const DicomLabelFile* label : ordered) {
    if (!label->instance.empty() && !seen.insert(label->instance).second) continue;  // a copy
    Images found;
    if (VolumeCase* drawn_on = images.most_named(*label)) found = {drawn_on};
    if (found.empty()) found = images.referred_to(*label);
    if (found.size() > 1) {
      unused.push_back({label->path,
                        "its labels refer to several images, and neither the pictures that it "
                        "names nor its frame of reference say to which of them"});
      continue;
    }
    if (found.empty() && label->referenced_series.empty()) {
      found = images.in_frame(*label);
      if (found.size() == 1) found.front()->labels_by_frame = true;
    }
    if (found.size() != 1) {
      unused.push_back({label->path, ""});
      continue;
    }
    VolumeCase& image = *found.front();
    image.labels.push_back(label->path);
    image.labels_other_frame = image.labels_other_frame || in_other_frame(*label, image);
  }
  std::sort(unused.begin(), unused.end(),
            [](const UnusedFile& a, const UnusedFile& b) { return a.path < b.path; });
  return unused;
}

void note_other_frames(const imaging::Pseudonymizer& pseudonym, VolumeCase& volume) {
  std::vector<std::string> files;
  for (const std::string& path : volume.labels) {
    std::error_code error;
    if (!imaging::is_volume_file(path) && std::filesystem::is_regular_file(path, error))
      files.push_back(path);
  }
  if (!volume.series || files.empty()) return;
  for (const DicomLabelFile& label : imaging::scan_dicom(files, pseudonym).labels)
    volume.labels_other_frame = volume.labels_other_frame || in_other_frame(label, volume);
}

}  // namespace headrace::ingest
