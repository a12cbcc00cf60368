#pragma once
#include <cstddef>
#include <set>
#include <span>
#include <string>

namespace headrace::runs {

/// What the names of a network's weights begin with in a weights file and in a checkpoint, which
/// has those of the optimiser and the averaged weights beside them.
inline constexpr const char* kWeightPrefix = "model.";

/// The identity of a network's weights: a SHA-256 over its tensors in the order of their names'
/// bytes, each as a line ["NAME","DTYPE",[EDGE,…]] of JSON without spaces, a line feed, and its
/// values, little-endian in C order. So the same tensors are the same weights in whatever file they
/// lie, with whatever metadata and in whatever order; any other bit of a value, name or shape is
/// another identity. `weights` are a safetensors file's bytes, `origin` its name in errors.
/// Errors: malformed (damaged, or no tensor of a network).
std::string weights_identity(std::span<const std::byte> weights, const std::string& origin);

/// The hashes by which a record may mean these weights: their identity, and the file's own SHA-256,
/// which stood in its place in records of earlier versions.
std::set<std::string> weights_hashes(std::span<const std::byte> weights, const std::string& origin);

}  // namespace headrace::runs
