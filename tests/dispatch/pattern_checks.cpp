#include <tilewright/dispatch/pattern_checks.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include <string>
#include <vector>

#include <tilewright/dispatch/argument_checks.hpp>
#include <tilewright/dispatch/pattern_class.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::dispatch;
using namespace tilewright::search;

namespace {

/// A kernel of one sparse argument, and a pattern for it.
struct sparse_call {
  std::vector<std::int64_t> offsets, indices;
  std::int64_t columns = 4;

  template <class Use>
  auto with(const Use& use) {
    kernel_signature kernel{"f",
                            {{"p", dtype::i64, false, false, {{"M", 0, 1}}},
                             {"q", dtype::i64, false, false, {{"nnz", 0}}, {{"K", 0}}}}};
    std::vector<operand> operands(2);
    operands[0].name = "p";
    operands[1].name = "q";
    operands[0].type = operands[1].type = dtype::i64;
    operands[0].offsets = operand::offsets_into{1, static_cast<std::int64_t>(indices.size())};
    const std::int64_t offset_extent[] = {static_cast<std::int64_t>(offsets.size())};
    const std::int64_t index_extents[] = {static_cast<std::int64_t>(indices.size()), columns};
    const std::int64_t stride[] = {1};
    const call_argument arguments[] = {{offsets.data(), offset_extent, stride},
                                       {indices.data(), index_extents, stride}};
    return use(kernel, operands, arguments);
  }

  std::string refusal() {
    return with([](const auto& k, const auto& o, const call_argument* a) {
      try {
        check_patterns(k, o, a);
      } catch (const argument_error& e) {
        return std::string(e.what());
      }
      return std::string();
    });
  }
  std::string kind() {
    return with([](const auto&, const auto& o, const call_argument* a) {
      return pattern_class(o[0], a[0], a[1]);
    });
  }
};

}  // namespace

TEST_CASE("a pattern is right, or its first mistake is named by position and value") {
  CHECK(sparse_call{{0, 2, 2, 3}, {0, 3, 1}}.refusal() == "");
  CHECK(sparse_call{{0, 0}, {}}.refusal() == "");
  CHECK(sparse_call{{0}, {}}.refusal() == "");
  CHECK(sparse_call{{0, 2, 2, 3}, {0, 4, 1}}.refusal() ==
        "f: \"q\"[1] is 4 in row 0; the columns are 0 to 3");
  CHECK(sparse_call{{0, 9223372036854775807, 3}, {0, 1, 2}}.refusal() ==
        "f: \"p\"[2] is 3 after 9223372036854775807; offsets never decrease");
}

TEST_CASE("extents with more elements, and those that no array has, bind and must agree") {
  sparse_call c{{0, 2, 2, 3}, {0, 3, 1}};
  const extent_map bound = c.with(
      [](const auto& k, const auto&, const call_argument* a) { return bound_extents(k, a); });
  CHECK(bound == extent_map{{"M", 3}, {"nnz", 3}, {"K", 4}});
}

TEST_CASE("patterns of one class have like rows") {
  sparse_call even{{0}, {}, 1000}, uneven{{0}, {}, 1000};
  for (int row = 0; row < 100; ++row) {
    for (int k = 0; k < 8; ++k) even.indices.push_back(k * 16);
    for (int k = 0; k < (row == 50 ? 800 : 0); ++k) uneven.indices.push_back(k);
    even.offsets.push_back(static_cast<std::int64_t>(even.indices.size()));
    uneven.offsets.push_back(static_cast<std::int64_t>(uneven.indices.size()));
  }
  CHECK(even.kind() == "l3v0e0g4");
  CHECK(uneven.kind() == "l3v20e9g0");
  CHECK(sparse_call{{0, 0}, {}}.kind() == "");
  const auto note = [](sparse_call& c) {
    return c.with([](const auto&, const auto& o, const call_argument* a) {
      return pattern_note_of(o[0], a[0], a[1]);
    });
  };
  CHECK(note(even).gap == doctest::Approx(16));
  CHECK(note(even).mean_row == 8);
  CHECK(note(even).longest == 1);
  CHECK(note(even).gini == doctest::Approx(0));
  CHECK(note(uneven).spread == doctest::Approx(std::sqrt(99.0)));
  CHECK(note(uneven).empty == doctest::Approx(0.99));
  CHECK(note(uneven).gini == doctest::Approx(0.99));
  CHECK(note(uneven).gap == doctest::Approx(1));
}
