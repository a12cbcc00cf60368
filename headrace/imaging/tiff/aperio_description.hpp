#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace headrace::imaging {

/// The (height, width) that the description of an Aperio page states, where none of its sizes is
/// that of the picture: "46920x33014 [0,100 46000x32914] (256x256) JPEG/RGB Q=30|MPP = 0.25" of a
/// picture that was shrunk or cut later. Nothing where one is, or none is stated.
std::optional<std::pair<std::int64_t, std::int64_t>> other_size_in_aperio(
    const std::string& description, std::int64_t height, std::int64_t width);

/// Whether a stated size is a picture's, in either order: to a hundredth, which changes no pixel
/// size that matters.
bool is_size_of(std::int64_t stated_height, std::int64_t stated_width, std::int64_t height,
                std::int64_t width);

}  // namespace headrace::imaging
