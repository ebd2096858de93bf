#include <tilewright/arith/scoped_mutator.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

using namespace tilewright;

namespace {

/// Simplifies every expression where it stands.
class simplifier : public arith::scoped_mutator {
 public:
  using scoped_mutator::mutate;
  ir::expr mutate(const ir::expr& e) override { return known.simplify(e); }
};

void check_simplified(const char* from, const char* to) {
  ir::function f = ir::parse(from);
  f.body = simplifier().mutate(f.body);
  const ir::function expected = ir::parse(to);
  CAPTURE(ir::print(f));
  CHECK(ir::equal(f, expected));
}

}  // namespace

TEST_CASE("scoped_mutator: what loops and blocks range over is known inside of them") {
  check_simplified(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("A"):
            v = T.axis.spatial(8, i % 8)
            A[v % 8] = v // 8
)",
                   R"(@T.prim_func
def main(A: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("A"):
            v = T.axis.spatial(8, i)
            A[v] = 0
)");
}

TEST_CASE("scoped_mutator: that a loop has iterations is known inside of it alone") {
  // where n is less than 4 the first loop has none, and the second stores to element 0
  check_simplified(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(n - 3):
        A[T.max(n - 3, 0)] = 1
    A[T.max(n - 3, 0)] = 2
    for j in range(T.max(n - 3, 0)):
        A[j] = 3
)",
                   R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(n - 3):
        A[n - 3] = 1
    A[T.max(n - 3, 0)] = 2
    for j in range(T.max(n - 3, 0)):
        A[j] = 3
)");
}

TEST_CASE("scoped_mutator: a condition holds in its branch alone") {
  check_simplified(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), n: T.int32):
    if n < 4:
        A[0] = T.min(n, 4)
    else:
        A[0] = T.min(n, 4)
    A[1] = T.min(n, 4)
)",
                   R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), n: T.int32):
    if n < 4:
        A[0] = n
    else:
        A[0] = T.min(n, 4)
    A[1] = T.min(n, 4)
)");
}

TEST_CASE("scoped_mutator: what is said of elements does not hold where they change") {
  const char* changed = R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    if A[0] < 4:
        A[0] = 5
        B[0] = T.min(A[0], 4)
    for i in range(A[0]):
        A[0] = 1
        B[0] = T.min(A[0], i)
)";
  check_simplified(changed, changed);
  check_simplified(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    if A[0] < 4:
        B[0] = T.min(A[0], 4)
)",
                   R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    if A[0] < 4:
        B[0] = A[0]
)");
}
