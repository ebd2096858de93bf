#include <tilewright/space/expression_text.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/space/compose.hpp>
#include <tilewright/space/metaschedule.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/steps.hpp>

using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;

namespace {

constexpr variable<"tiles"> tiles;
constexpr variable<"copy"> copy;

}  // namespace

/// The text of an expression is how it stands here, but for breaks of lines.
#define CHECK_WRITTEN(...)                                                \
  do {                                                                    \
    std::string written = #__VA_ARGS__, text = cpp_text(__VA_ARGS__);     \
    std::erase_if(written, [](char c) { return c == ' ' || c == '\n'; }); \
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });    \
    CHECK(text == written);                                               \
  } while (false)

TEST_CASE("expression text: it is the C++ that writes the expression") {
  CHECK_WRITTEN(vectorize<i[1]>);
  CHECK_WRITTEN(on<"C">(tile<i, 2>(choose({4, 8})) >> reorder<i[0], j, i[1]> >> vectorize<i[1]>));
  CHECK_WRITTEN(on<"C">(tile<i, 3>(choose({4, 8}, {1, 2.5}))));
  CHECK_WRITTEN(on<"C">(tile<"SSRSRS">(perfect(32))) | tile<"SSRSRS"> | weighted(3, skip));
  CHECK_WRITTEN((parallel<i> | unroll<i>) >> (vectorize<j> | skip));
  CHECK_WRITTEN(
      on<"C">(steps(let<tiles> = sample_perfect_tile<i, 2>, split<i, tiles>,
                    let<copy> = cache_write<here, 0, "local">, reverse_compute_at<copy, i[0]>)));
  CHECK_WRITTEN(steps(let<"a", "b"> = sample_perfect_tile<i, 2>, unroll<tiles[-1]>));
  CHECK_WRITTEN(post_order(attempt(for_target("avx512f", sometimes(0.25, unroll<k>)))));
  CHECK_WRITTEN(post_order(sample(weighted(2, attempt(vectorize<j>)) | unroll<j> | skip)));
  CHECK_WRITTEN(split<i>(infer, (tiles[1] * 2)) >> reindex<here>(read_buffer(0)));
  CHECK_WRITTEN(assert_<>((tiles[0] <= floordiv(tiles[1], 2))));
  CHECK_WRITTEN(sample_categorical<2, 4>({1, 3}));
}

TEST_CASE("expression text: functions are named by their type, or a comment stands for them") {
  struct rule {
    int members = 1;
    void operator()(schedule&) const {}
  };
  CHECK(cpp_text(module([](schedule&) {})) == "module(/* a lambda */)");
  CHECK(cpp_text(module(&blocks_in_post_order)) == "module(/* a function */)");
  CHECK(cpp_text(module(rule{})).find("rule{/* its members */})") != std::string::npos);
  CHECK(cpp_text(when([](const context&) { return true; }, unroll<i>)) ==
        "when(/* a lambda */, unroll<i>)");
}

TEST_CASE("expression text: long sequences are listed, a step a line") {
  CHECK(cpp_text(
            on<"C">(steps(let<tiles> = sample_perfect_tile<i, 2>, split<i, tiles>,
                          reorder<i[0], j, k, i[1]>, unroll<k>, vectorize<j>, parallel<i[0]>))) ==
        R"(on<"C">(steps(
  let<tiles> = sample_perfect_tile<i, 2>,
  split<i, tiles>,
  reorder<i[0], j, k, i[1]>,
  unroll<k>,
  vectorize<j>,
  parallel<i[0]>)))");
}

TEST_CASE("expression text: a space keeps it, and unions of spaces have both") {
  const design_space a = unroll<i>, b = on<"C">(vectorize<j>);
  CHECK(a.text() == "unroll<i>");
  CHECK((a | b).text() == "unroll<i> | on<\"C\">(vectorize<j>)");
  CHECK(a.with({}).text() == "unroll<i>");
  CHECK(design_space([](schedule&) {}).text().empty());
  CHECK(metaschedule_cpu().text().find("post_order(module(inline_constant_scalars{}))") !=
        std::string::npos);
}
