#include <tilewright/impl/search/session/form_times.hpp>

#include <vector>

#include <doctest/doctest.h>

using namespace tilewright::search;
using namespace tilewright::search::detail;

TEST_CASE("a form is behind once a few of its candidates were slow") {
  const argument_form form;
  const std::vector<argument_form> none;
  form_times times(none);
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

TEST_CASE("a schedule takes the form of the algorithm that its trace begins with") {
  using tilewright::trace;
  const std::vector<argument_form> none;
  const trace blocked = trace::parse("sch.work_on(func_name=\"blocked\")\n");
  CHECK_FALSE(form_times(none).any());
  CHECK(form_times(none).of(blocked) == nullptr);
  std::vector<argument_form> forms(2);
  forms[0].algorithm = "sliced";
  forms[1].algorithm = "blocked";
  const form_times times(forms);
  CHECK(times.any());
  CHECK(times.of(blocked) == &times.all()[1]);
  CHECK(times.of(trace::parse("")) == nullptr);
  CHECK(times.of(trace::parse("sch.work_on(func_name=\"rows\")\n")) == nullptr);
}

TEST_CASE(
    "a form may win as long as few of its times are known, all of which may have been disturbed") {
  const std::vector<argument_form> forms(1);
  form_times times(forms);
  const argument_form& form = forms[0];
  CHECK(times.may_win(&form, 3.5, 1));
  CHECK(!times.may_win(&form, 4.5, 1));
  for (int n = 0; n < 6; ++n) times.note(&form, 3.5);
  CHECK(times.is_behind(&form, 1));
  CHECK(!times.may_win(&form, 3.5, 1));
  CHECK(times.may_win(&form, 1.2, 1));
}

TEST_CASE(
    "a form that had many candidates and stays slower gets no more of them, but may win yet") {
  const argument_form form;
  const std::vector<argument_form> none;
  form_times times(none);
  for (int n = 0; n < 15; ++n) times.note(&form, 1.2);
  CHECK_FALSE(times.gets_no_more(&form, 1));
  times.note(&form, 1.2);
  CHECK(times.gets_no_more(&form, 1));
  CHECK_FALSE(times.is_behind(&form, 1));
  CHECK(times.may_win(&form, 1.2, 1));
  CHECK_FALSE(times.gets_no_more(&form, 1.15));
  CHECK(times.gets_no_more(&form, 0.5));
  CHECK_FALSE(times.gets_no_more(nullptr, 0.5));
}
