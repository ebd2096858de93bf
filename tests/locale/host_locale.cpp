// Tests in a program that follows its user's locale: TILEWRIGHT_TEST_LOCALE names the one that the
// C library and the streams of C++ have before any test runs.
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <locale>
#include <string>

namespace {

[[maybe_unused]] const bool host_locale_is_set = [] {
  const char* name = std::getenv("TILEWRIGHT_TEST_LOCALE");
  if (!name) return false;
  try {
    std::locale::global(std::locale(name));  // calls setlocale, too
  } catch (const std::exception& e) {
    std::fprintf(stderr, "locale %s: %s\n", name, e.what());
    std::exit(3);
  }
  if (std::string(std::localeconv()->decimal_point) != ",") {
    std::fprintf(stderr, "locale %s writes no decimal comma\n", name);
    std::exit(3);
  }
  return true;
}();

}  // namespace
