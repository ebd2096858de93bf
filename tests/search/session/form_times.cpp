#include <tilewright/impl/search/session/form_times.hpp>

#include <doctest/doctest.h>

using namespace tilewright::search;
using namespace tilewright::search::detail;

TEST_CASE("a form is behind once a few of its candidates were slow") {
  const argument_form form;
  form_times times;
  CHECK_FALSE(times.is_behind(&form, 1));
  for (int i = 0; i < 100; ++i) times.note(nullptr, 1);
  int measured = 0;
  while (!times.is_behind(&form, 1)) {
    REQUIRE(measured++ < 20);
    times.note(&form, 3);
  }
  CHECK(measured > 2);
  CHECK_FALSE(times.is_behind(nullptr, 1));
  // the best of them counts, and what is near the best is not behind
  times.note(&form, 1.1);
  CHECK_FALSE(times.is_behind(&form, 1));
  CHECK(times.is_behind(nullptr, 0.5));
}
