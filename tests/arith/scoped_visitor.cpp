#include <tilewright/arith/scoped_visitor.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

using namespace tilewright;

namespace {

/// The indices of all stores, simplified where they stand.
class indices : public arith::scoped_visitor {
 public:
  std::string found;
  using scoped_visitor::visit;
  void visit(const ir::stmt& s) override {
    if (const ir::store_node* store = ir::as_store(s))
      for (const ir::expr& index : store->indices) found += ir::print(known.simplify(index)) + "; ";
    scoped_visitor::visit(s);
  }
};

std::string indices_of(const char* program) {
  indices all;
  all.visit(ir::parse(program).body);
  return all.found;
}

}  // namespace

TEST_CASE("scoped_visitor: what loops and blocks range over is known inside of them") {
  CHECK(indices_of(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32")):
    for i in range(8):
        with T.block("A"):
            v = T.axis.spatial(8, i)
            A[v % 8, i % 8] = 0
)") == "v; i; ");
}

TEST_CASE("scoped_visitor: that a loop has iterations is known inside of it alone") {
  // where n is less than 4 the first loop has none, and the second stores to element 0
  CHECK(indices_of(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), n: T.int32):
    for i in range(n - 3):
        A[T.max(n - 3, 0)] = 1
    A[T.max(n - 3, 0)] = 2
)") == "n - 3; T.max(n - 3, 0); ");
}

TEST_CASE("scoped_visitor: a condition holds in its branch alone") {
  CHECK(indices_of(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), n: T.int32):
    if n < 4:
        A[T.min(n, 4)] = 0
    else:
        A[T.min(n, 4)] = 0
    A[T.min(n, 4)] = 0
)") == "n; T.min(n, 4); T.min(n, 4); ");
}
