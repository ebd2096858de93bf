// Names as types: character packs, legible in the messages of every compiler.
#pragma once

#include <boost/hana/string.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

#include <tilewright/meta/fixed_string.hpp>

namespace tilewright::meta {

/// A name as a type: name<'c', 'o'>.
template <char... C>
using name = boost::hana::string<C...>;

namespace detail {

template <fixed_string S, class Indices>
struct name_of_string;
template <fixed_string S, std::size_t... I>
struct name_of_string<S, std::index_sequence<I...>> {
  using type = name<S.text[I]...>;
};

template <class Text, class Indices>
struct name_of_text;
template <class Text, std::size_t... I>
struct name_of_text<Text, std::index_sequence<I...>> {
  using type = name<Text::value[I]...>;
};

template <class Name>
struct name_text;
template <char... C>
struct name_text<name<C...>> {
  static constexpr char storage[sizeof...(C) + 1] = {C..., '\0'};
  static constexpr std::string_view view{storage, sizeof...(C)};
};

}  // namespace detail

/// "co" -> name<'c', 'o'>.
template <fixed_string S>
using to_name =
    typename detail::name_of_string<S, std::make_index_sequence<sizeof(S.text) - 1>>::type;

/// The text of a name; lives as long as the program.
template <class Name>
inline constexpr std::string_view text_of = detail::name_text<Name>::view;

/// Back from a value to a type, to name the offender in a message: Text::value is a string_view.
template <class Text>
using name_from =
    typename detail::name_of_text<Text, std::make_index_sequence<Text::value.size()>>::type;

/// A name in a message: text<"co">, or letters<'c', 'o'> where the compiler does not print strings.
template <fixed_string S>
struct text;
template <char... C>
struct letters;

namespace detail {

template <fixed_string S>
constexpr std::string_view printed() {
  return __PRETTY_FUNCTION__;
}
/// False where the compiler prints a string that is part of a type as a list of numbers, as clang 14.
inline constexpr bool prints_strings = printed<"co">().find("co") != std::string_view::npos;

template <class T, bool AsText = prints_strings>
struct shown_of {
  using type = T;
};
template <char... C>
struct shown_of<name<C...>, true> {
  using type = text<fixed_string<sizeof...(C) + 1>(name_text<name<C...>>::storage)>;
};
template <char... C>
struct shown_of<name<C...>, false> {
  using type = letters<C...>;
};

}  // namespace detail

/// An offender as a message shows it: names as text, other types as they are.
template <class T>
using shown = typename detail::shown_of<T>::type;

/// FNV-1a; what sets of names are compared by.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = 14695981039346656037u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

/// Letters, digits and underscores, not starting with a digit.
constexpr bool is_identifier(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(i > 0 && c >= '0' && c <= '9')) return false;
  }
  return true;
}

}  // namespace tilewright::meta
