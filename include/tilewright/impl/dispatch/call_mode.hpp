// What a call does where nothing is stored: the options, or the environment instead of them.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <tilewright/search/options.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::dispatch::detail {

/// @throws argument_error for a TILEWRIGHT_TUNE that is no mode
inline mode mode_of_environment(mode wanted) {
  const char* v = std::getenv("TILEWRIGHT_TUNE");
  if (!v || !*v) return wanted;
  const std::string_view text = v;
  if (text == "now") return mode::now;
  if (text == "background") return mode::background;
  if (text == "off") return mode::off;
  if (text == "miss_error") return mode::miss_error;
  throw argument_error("TILEWRIGHT_TUNE is \"" + std::string(text) +
                       "\"; write now, background, off or miss_error");
}

}  // namespace tilewright::dispatch::detail
