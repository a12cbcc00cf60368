#include <fmt/format.h>

#include <algorithm>

#include "learn/train/replay/replay_result.hpp"

namespace headrace::train {
namespace {

using Kind = KnownDifference::Kind;
using What = ReplayDifference::What;

bool begins_with_one_of(const std::string& key, std::initializer_list<const char*> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const char* one) { return key.starts_with(one); });
}

/// Whether a key of the config decides what is in a batch.
bool makes_batches(const std::string& key) {
  return begins_with_one_of(key, {"task", "data.", "patch.", "sampling.", "transforms", "loader."});
}

/// Whether a known difference can make a batch another one.
bool reaches_batch(const KnownDifference& one) {
  switch (one.kind) {
    case Kind::config:
      return makes_batches(one.key);
    case Kind::dataset:
    case Kind::preprocessing:
      return true;
    case Kind::code:  // networks, losses and optimisers of one's own make no batches
      return !one.key.starts_with(kPythonCode);
    case Kind::libraries:
      return one.key == "decoder";
    case Kind::runtime:  // the format of batches goes by it
      return one.key == "runtime.device" || one.key == "runtime.bfloat16";
    default:
      return false;
  }
}

/// The same of loss, gradient and weights, where the batch is the run's.
bool reaches_network(const KnownDifference& one) {
  switch (one.kind) {
    case Kind::config:  // the seed also draws the first weights
      return begins_with_one_of(one.key, {"model.", "train.", "sampling.seed", "config_hash"});
    case Kind::code:
    case Kind::libraries:
    case Kind::runtime:
    case Kind::hardware:
    case Kind::weights:
      return true;
    default:
      return false;
  }
}

bool explains(const KnownDifference& one, const ReplayDifference& difference) {
  if (one.from_step >= difference.step && one.from_step > 0) return false;
  switch (difference.what) {
    case What::data:
      return one.kind == Kind::dataset;
    case What::batch:
      return reaches_batch(one) || one.key == "config_hash";
    case What::weights:  // the loss, and so the first weights, agree
      return reaches_network(one) && one.kind != Kind::weights;
    case What::figures:
      return true;
    default:
      return reaches_network(one) || (!difference.batch_agrees && reaches_batch(one));
  }
}

/// What is left to look at.
const char* advice(const ReplayDifference& difference) {
  switch (difference.what) {
    case What::data:
      return "An object of the store is damaged: headrace verify names all such objects. Put it "
             "back from a copy, or ingest the image again.";
    case What::batch:
      return "Nothing that is recorded explains it: look at the objects of the store (headrace "
             "verify), at changes of the code within its version, and at this machine's memory.";
    case What::weights:
      return "Nothing that is recorded explains it, and the loss agrees: look at a train.optimizer "
             "of your own, at changes of the code within its version, and at this machine's "
             "memory.";
    case What::figures:
      return "Nothing that is recorded explains it, and all steps agree: look at whether the file "
             "was made again or changed after the run, and at the objects of the validation split "
             "(headrace verify).";
    default:
      if (!difference.batch_agrees) {
        return "Nothing that is recorded explains it, and the batch of this step is not recorded: "
               "look at the objects of the store (headrace verify), at a model.module, train.loss "
               "or train.optimizer of your own, at changes of the code within its version, and at "
               "this machine's memory.";
      }
      return "Nothing that is recorded explains it, and the batch agrees: look at a model.module, "
             "train.loss or train.optimizer of your own, at changes of the code within its "
             "version, at variables of the environment that LibTorch reads, and at this machine's "
             "memory.";
  }
}

}  // namespace

std::vector<std::string> likely_causes(const ReplayResult& result) {
  std::vector<std::string> causes;
  if (!result.difference) return causes;
  const ReplayDifference& difference = *result.difference;
  for (const KnownDifference& one : result.known) {
    if (explains(one, difference)) causes.push_back(one.text());
  }
  if (causes.empty()) causes.emplace_back(advice(difference));
  return causes;
}

}  // namespace headrace::train
