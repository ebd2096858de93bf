// What options take, and what people read of it: in --help, and where a value is refused.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <tilewright/support/numbers/number_text.hpp>

namespace tool {

/// Refuses numbers below 0, those that are not finite, and what is none.
inline CLI::Validator at_least_0() {
  return {[](std::string& text) -> std::string {
            const auto value = tilewright::support::read_number<double>(text);
            if (value && *value >= 0 && std::isfinite(*value)) return {};
            return "a number of 0 or more is wanted, not " + (text.empty() ? "nothing" : text);
          },
          ""};
}

/// Refuses what is no whole number of type T, and numbers below `least`.
template <class T>
CLI::Validator whole(T least = 0) {
  return {[least](std::string& text) -> std::string {
            const auto value = tilewright::support::read_number<T>(text);
            if (value && *value >= least) return {};
            return "a whole number from " + std::to_string(least) + " to " +
                   std::to_string(std::numeric_limits<T>::max()) + " is wanted, not " +
                   (text.empty() ? "nothing" : text);
          },
          ""};
}

/// "a, b, c".
template <class Names>
std::string list_of(const Names& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

/// Turns the words of an enumeration into its values, and refuses others with the words.
template <class Enum>
CLI::Validator one_of_words(const std::map<std::string, Enum>& words) {
  std::vector<std::string> names;
  std::map<std::string, std::string> numbers;
  for (const auto& [word, value] : words) {
    names.push_back(word);
    numbers[word] = std::to_string(static_cast<int>(value));
  }
  return {[names, numbers](std::string& text) -> std::string {
            const auto at = numbers.find(text);
            if (at == numbers.end()) return text + " is none of " + list_of(names);
            text = at->second;
            return {};
          },
          ""};
}

}  // namespace tool
