#include <tilewright/ir/specialize.hpp>

#include <doctest/doctest.h>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

const char* const symbolic = R"(
@T.prim_func
def f(a: T.handle, c: T.handle, m: T.int32):
    n = T.int64()
    s = T.int64()
    A = T.match_buffer(a, (n, n * T.int64(2)), "float32", strides=(s, T.int64(1)))
    C = T.match_buffer(c, (n, m), "float32")
    D = T.alloc_buffer((n,), "float32")
    for i in T.grid(n):
        with T.block("D"):
            vi = T.axis.spatial(n, i)
            D[vi] = A[vi, vi + T.Cast("int64", m)]
    for i in T.grid(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi, 0] = D[vi]
)";

}  // namespace

TEST_CASE("extents become literal everywhere; run-time strides stay") {
  const function f = parse(symbolic);
  const std::vector<var> extents = symbolic_extents(f);
  REQUIRE(extents.size() == 2);
  CHECK(extents[0]->name == "n");
  CHECK(extents[1]->name == "m");
  const function g = specialize(f, {{"n", 8}, {"m", 4}});
  CHECK(symbolic_extents(g).empty());
  CHECK_NOTHROW(verify(g));
  CHECK(equal(g, parse(R"(
@T.prim_func
def f(a: T.handle, C: T.Buffer((T.int64(8), 4), "float32"), m: T.int32):
    s = T.int64()
    A = T.match_buffer(a, (T.int64(8), T.int64(16)), "float32", strides=(s, T.int64(1)))
    D = T.alloc_buffer((T.int64(8),), "float32")
    for i in T.grid(T.int64(8)):
        with T.block("D"):
            vi = T.axis.spatial(T.int64(8), i)
            D[vi] = A[vi, vi + T.int64(4)]
    for i in T.grid(T.int64(8)):
        with T.block("C"):
            vi = T.axis.spatial(T.int64(8), i)
            C[vi, 0] = D[vi]
)")));
}

TEST_CASE("some values leave the others symbolic; unknown names are refused") {
  const function f = parse(symbolic);
  CHECK(symbolic_extents(specialize(f, {{"m", 4}})).size() == 1);
  CHECK_THROWS_AS(specialize(f, {{"q", 4}}), argument_error);
  CHECK_THROWS_AS(specialize(f, {{"s", 4}}), argument_error);
}
