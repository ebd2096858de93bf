#include <tilewright/impl/schedule/primitive/reductions/factored_sums.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/random.hpp>

using namespace tilewright;

namespace {

struct axis {
  char name;
  int extent;
  bool reduced;
};

/// An array is named by the axes that it has: P_rs[vr, vs]; "" has one element.
std::string shape_of(const std::string& over, const std::vector<axis>& axes) {
  std::string out = "(";
  for (const char name : over)
    for (const axis& a : axes)
      if (a.name == name) out += std::to_string(a.extent) + ", ";
  return (out == "(" ? "(1, " : out) + ")";
}

std::string element_of(const std::string& array, const std::string& over) {
  std::string out;
  for (const char a : over) out += (out.empty() ? "v" : ", v") + std::string(1, a);
  return array + "[" + (out.empty() ? "0" : out) + "]";
}

/// Y over the axes that are not reduced: the sum of products of arrays, each over some axes; "/rs" divides.
ir::function sum_of(const std::vector<axis>& axes, const std::vector<std::string>& factors,
                    const std::string& type = "int32") {
  std::string params, value, results, names, extents, kinds, iters;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const std::string array = "F" + std::to_string(f);
    const bool divides = factors[f].starts_with("/");
    const std::string over = factors[f].substr(divides);
    params += array + ": T.Buffer(" + shape_of(over, axes) + ", \"" + type + "\"), ";
    if (divides && value.empty()) value = "T." + type + "(3)";
    value += (value.empty() ? "" : divides ? " / " : " * ") + element_of(array, over);
  }
  for (const axis& a : axes) {
    if (!a.reduced) results += a.name;
    names += (names.empty() ? "" : ", ") + std::string(1, a.name);
    iters += (iters.empty() ? "v" : ", v") + std::string(1, a.name);
    extents += (extents.empty() ? "" : ", ") + std::to_string(a.extent);
    kinds += a.reduced ? "R" : "S";
  }
  const std::string y = element_of("Y", results);
  return ir::parse("@T.prim_func\ndef main(" + params + "Y: T.Buffer(" + shape_of(results, axes) +
                   ", \"" + type + "\")):\n    for " + names + " in T.grid(" + extents +
                   "):\n        with T.block(\"Y\"):\n            " + iters + " = T.axis.remap(\"" +
                   kinds + "\", [" + names + "])\n            with T.init():\n                " +
                   y + " = T." + type + "(0)\n            " + y + " = " + y + " + " + value + "\n");
}

/// Integers, or floats by which none of the sums here is rounded.
template <class T>
T drawn(support::random& draw) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(draw.below(2000)) - 1000;
  const T size = draw.below(2) > 0 ? 1 : 2;
  return draw.below(2) > 0 ? size : -size;
}

/// What the function leaves in its last parameter.
template <class T>
std::vector<T> result(const ir::function& f) {
  support::random draw(5);
  std::vector<std::vector<T>> data;
  for (const ir::param& p : f.params) {
    std::int64_t size = 1;
    for (const ir::expr& e : p.buffer->shape) size *= ir::as_int(e);
    data.emplace_back(static_cast<std::size_t>(size));
    for (T& x : data.back()) x = drawn<T>(draw);
  }
  std::vector<ir::tensor_view> views;
  for (auto& values : data) views.push_back({values.data(), {}});
  ir::interpret(f, views, {});
  return data.back();
}

int blocks(const ir::function& f) {
  int out = -1;  // the root
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) { out += ir::as_realize(s) != nullptr; });
  return out;
}

/// How many blocks the function has afterwards, 0 where it is left alone; its results stay what they were.
int factored(const ir::function& f) {
  const std::optional<ir::function> out = primitive::factor_sums(f);
  if (!out) return 0;
  INFO(ir::print(*out));
  ir::verify(*out);
  if (is_float(f.params.back().buffer->type))
    CHECK(result<float>(f) == result<float>(*out));
  else
    CHECK(result<std::int32_t>(f) == result<std::int32_t>(*out));
  return blocks(*out);
}

}  // namespace

TEST_CASE("factor_sums: a factor that stays the same along an axis multiplies the sum over it") {
  const axis n{'n', 3, false}, r{'r', 5, true}, s{'s', 7, true}, t{'t', 4, true}, j{'j', 6, false};
  CHECK(factored(sum_of({n, r, s}, {"nr", "rs", "ns"})) == 2);
  CHECK(factored(sum_of({n, j, r, s}, {"nrs", "rj", "sj"})) == 2);
  // along every axis: products of results, no second sum
  CHECK(factored(sum_of({n, j, r}, {"nr", "rj", "n"})) == 2);
  CHECK(factored(sum_of({n, r}, {"nr", "r", ""})) == 2);
  // products of results with one element, whose sum is taken apart again
  CHECK(factored(sum_of({n, r, s}, {"nr", "rs", ""})) == 3);
  // no axis but reduced ones
  CHECK(factored(sum_of({r, s}, {"r", "rs", "s"})) == 2);
  CHECK(factored(sum_of({r, s}, {"r", "s"})) == 2);
  // a chain of matrices
  CHECK(factored(sum_of({n, r, s, t, j}, {"nr", "rs", "st", "tj"})) == 3);
}

TEST_CASE("factor_sums: the text of both sums") {
  const std::optional<ir::function> out = primitive::factor_sums(
      sum_of({{'n', 3, false}, {'r', 8, true}, {'s', 8, true}}, {"nr", "rs", "ns"}, "float32"));
  REQUIRE(out);
  const std::string text = ir::print(*out);
  CHECK(text.find("Y_inner[vn, vr] = Y_inner[vn, vr] + F1[vr, vs] * F2[vn, vs]") !=
        std::string::npos);
  CHECK(text.find("Y[vn] = Y[vn] + F0[vn, vr] * Y_inner[vn, vr]") != std::string::npos);
}

TEST_CASE("factor_sums: a divisor that stays the same along an axis divides the sum over it") {
  const axis n{'n', 3, false}, r{'r', 5, true}, s{'s', 7, true}, j{'j', 6, false};
  const auto blocks_of = [](const std::vector<axis>& axes,
                            const std::vector<std::string>& factors) {
    return factored(sum_of(axes, factors, "float32"));
  };
  CHECK(blocks_of({n, r}, {"nr", "/n"}) == 2);
  CHECK(blocks_of({n, r}, {"nr", "/"}) == 2);
  CHECK(blocks_of({n, j, r}, {"nr", "/n", "rj"}) == 2);
  CHECK(blocks_of({n, r, s}, {"nrs", "/nr"}) == 2);
  CHECK(blocks_of({n, r, s}, {"ns", "/nr"}) == 2);
  CHECK(blocks_of({n, r, s}, {"/ns", "/nr"}) == 2);
  CHECK(blocks_of({r, s}, {"/s", "r"}) == 2);
  CHECK(blocks_of({n, r}, {"nr", "/nr"}) == 0);
  // two divisions of one sum each beside two of each term
  CHECK(blocks_of({n, {'r', 2, true}}, {"nr", "/n"}) == 0);
  const std::optional<ir::function> out =
      primitive::factor_sums(sum_of({n, r, s}, {"nrs", "/nr", "n"}, "float32"));
  REQUIRE(out);
  const std::string text = ir::print(*out);
  INFO(text);
  CHECK(text.find("Y_inner[vn, vr] = Y_inner[vn, vr] + F0[vn, vr, vs]") != std::string::npos);
  CHECK(text.find("+ F2[vn] * Y_inner[vn, vr] / F1[vn, vr]") != std::string::npos);
}

TEST_CASE("factor_sums: a quotient in a divisor, and one of integers, are one factor") {
  const std::string head = R"(@T.prim_func
def main(A: T.Buffer((4, 8), "TYPE"), B: T.Buffer((4,), "TYPE"), C: T.Buffer((8,), "TYPE"), Y: T.Buffer((4,), "TYPE")):
    for n, r in T.grid(4, 8):
        with T.block("Y"):
            vn, vr = T.axis.remap("SR", [n, r])
            with T.init():
                Y[vn] = T.TYPE(0)
            Y[vn] = Y[vn] + )";
  const auto sum_of_terms = [&](const std::string& type, const std::string& term) {
    std::string text = head + term + "\n";
    for (std::size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    return ir::parse(text);
  };
  CHECK(factored(sum_of_terms("float32", "A[vn, vr] / B[vn]")) == 2);
  CHECK(factored(sum_of_terms("float32", "A[vn, vr] / (B[vn] / C[vr])")) == 0);
  CHECK(factored(sum_of_terms("float32", "A[vn, vr] / (B[vn] * C[vr])")) == 0);
  CHECK(factored(sum_of_terms("float32", "A[vn, vr] / (B[vn] * B[vn])")) == 2);
  CHECK_FALSE(primitive::factor_sums(sum_of_terms("int32", "T.truncdiv(A[vn, vr], B[vn])")));
  CHECK_FALSE(primitive::factor_sums(sum_of_terms("float16", "A[vn, vr] / B[vn]")));
}

TEST_CASE("factor_sums: what stays as it is") {
  const axis n{'n', 3, false}, r{'r', 5, true}, s{'s', 7, true}, j{'j', 6, false};
  CHECK(factored(sum_of({n, j, r}, {"nr", "rj"})) == 0);  // a product of matrices
  CHECK(factored(sum_of({n, r, s}, {"nrs", "rs"})) == 0);
  CHECK(factored(sum_of({n, r, s}, {"nrs", "rs", "nr"})) == 2);
  // two steps of an axis are too few to pay for a second sum
  CHECK(factored(sum_of({n, {'r', 2, true}, {'s', 2, true}}, {"nr", "rs", "ns"})) == 0);
  // sums of few bits would be rounded, or wrap, once more
  CHECK_FALSE(primitive::factor_sums(sum_of({n, r, s}, {"nr", "rs", "ns"}, "float16")));
  CHECK_FALSE(primitive::factor_sums(sum_of({n, r, s}, {"nr", "rs", "ns"}, "int8")));
  const ir::function largest = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4, 4), "float32"), Y: T.Buffer((1,), "float32")):
    for r, s in T.grid(4, 4):
        with T.block("Y"):
            vr, vs = T.axis.remap("RR", [r, s])
            with T.init():
                Y[0] = T.min_value("float32")
            Y[0] = T.max(Y[0], A[vr] * B[vr, vs] * A[vs])
)");
  CHECK_FALSE(primitive::factor_sums(largest));
}

TEST_CASE("factor_sums: random sums are what they were") {
  for (const std::string type : {"int32", "float32"}) {
    int some = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      support::random draw(seed);
      std::vector<axis> axes;
      for (const char name : {'n', 'm', 'r', 's', 't'})
        if (draw.below(4) > 0)
          axes.push_back({name, 1 + static_cast<int>(draw.below(6)), name > 'n'});
      if (axes.empty()) continue;
      std::vector<std::string> factors(1 + draw.below(4));
      for (std::string& f : factors) {
        if (type == "float32" && draw.below(3) == 0) f = "/";
        for (const axis& a : axes)
          if (draw.below(2) > 0) f += a.name;
      }
      some += factored(sum_of(axes, factors, type)) > 0;
    }
    CHECK(some > 60);
  }
}
