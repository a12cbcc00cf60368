#pragma once
#include <map>
#include <memory>
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader {

/// The fold of each case of the splits data.train and data.val together (data.train alone where no
/// image is in data.val); images of other splits are in no fold. All images of a case, which is a
/// patient, are in one.
///
/// A function of the case ids, of what the store states about them and of data.folds_seed: neither
/// the order of images, nor the run's own seed, nor other columns matter. In the order of a hash of
/// their ids, cases with label images first, and cohort by cohort, each case goes to the fold that
/// has fewest like it: by kind of truth, then by whether it shows a class above 0, by grade group,
/// by cohort, by images. So cases of each kind of truth differ by at most one between folds; for task
/// gleason with fewer cases with label images than folds, those with label images or a grade.
/// Reads the labels' index of every image.
/// Errors: usage (more folds than cases, or than cases that can be judged: with label images, for
/// task grading also with a grade; fewer than two cases with label images; no image to deal).
std::map<std::string, int> deal_folds(const cohort::Cohort& cohort, const LoaderConfig& config);

/// The cohort as a run of this config splits it: with data.folds the images of fold data.fold are
/// in data.val and those of the other folds in data.train, whatever the cohort table says; without,
/// the cohort itself. Everything that goes by splits is to get its cohort from here.
/// Errors: those of deal_folds.
std::shared_ptr<const cohort::Cohort> split_for(std::shared_ptr<const cohort::Cohort> cohort,
                                                const LoaderConfig& config);

/// Opens the store that the config names, in its version, split for the run. Errors: those of
/// Cohort::open and split_for.
std::shared_ptr<const cohort::Cohort> open_split(const LoaderConfig& config);

}  // namespace headrace::loader
