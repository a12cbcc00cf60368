#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace {

/// The names of an enumeration's values, as users write them in configs and on the command line and
/// as JSON has them. Specialised beside the enumeration, one pair for each value, in the order in
/// which a list of them is to be read:
///
///   enum class OnError { stop, skip };
///   template <>
///   inline constexpr auto kNamesOf<OnError> = names<OnError>({{OnError::stop, "stop"}, …});
template <typename Enum>
inline constexpr auto kNamesOf = nullptr;

template <typename Enum, std::size_t kCount>
constexpr std::array<std::pair<Enum, std::string_view>, kCount> names(
    const std::pair<Enum, std::string_view> (&pairs)[kCount]) {
  return std::to_array(pairs);
}

template <typename Enum>
concept NamedEnum = requires {
  kNamesOf<Enum>.size();
};

/// The name of a value.
template <NamedEnum Enum>
constexpr std::string_view name_of(Enum value) noexcept {
  for (const auto& [one, name] : kNamesOf<Enum>) {
    if (one == value) return name;
  }
  return {};
}

/// All names, in the order of kNamesOf.
template <NamedEnum Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> all;
  for (const auto& [value, name] : kNamesOf<Enum>) all.emplace_back(name);
  return all;
}

/// The value of a name; nothing where there is none.
template <NamedEnum Enum>
constexpr std::optional<Enum> value_named(std::string_view name) noexcept {
  for (const auto& [value, one] : kNamesOf<Enum>) {
    if (one == name) return value;
  }
  return std::nullopt;
}

}  // namespace headrace
