#include <tilewright/ir/analysis/buffer_uses.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

using namespace tilewright;

namespace {

class names : public ir::buffer_uses {
 public:
  static std::string in(const ir::stmt& s) {
    names all;
    all.visit(s);
    std::sort(all.found_.begin(), all.found_.end());
    std::string out;
    for (const std::string& name : all.found_) out += name;
    return out;
  }

 private:
  void use(const ir::buffer& b) override { found_.push_back(b->name); }

  std::vector<std::string> found_;
};

}  // namespace

TEST_CASE("buffer_uses: loads, stores, views and addresses, wherever they stand") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), L: T.Buffer((4,), "int32"), G: T.Buffer((4,), "int32"),
         I: T.Buffer((4,), "int32"), D: T.Buffer((4, 8), "int32")):
    for i in range(4):
        for j in range(L[i]):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(G[i] > 0)
                T.reads(A[0:4, 0:8], I[vi])
                T.writes(D[vi, vj])
                W = T.match_buffer(A[vi, 0:8], (8,), "int32", offset_factor=1)
                T.evaluate(T.call_extern("int32", "f", W.data))
                D[vi, vj] = W[I[vi]]
)");
  CHECK(names::in(f.body) == "ADGILLWW");  // L twice: the domain of vj has it, too
}

TEST_CASE("buffer_uses: what blocks declare and allocate is no use") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi])
            T.writes(D[vi])
            with T.init():
                D[vi] = 0
            D[vi] = D[vi] + vi
)");
  CHECK(names::in(f.body) == "DDD");
}

TEST_CASE("buffer_uses: of blocks that only store each buffer once, found once for a block") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4,), "int32"), I: T.Buffer((4,), "int32"), D: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            with T.init():
                D[vi] = 0
            D[vi] = D[vi] + A[I[vi]]
)");
  const ir::block& root = ir::root_block(f);
  CHECK(ir::buffers_of_stores(root) == nullptr);  // a loop and a block stand inside
  const ir::block inner = ir::as_realize(ir::as_loop(root->body)->body)->block;
  const std::vector<ir::buffer>* all = ir::buffers_of_stores(inner);
  REQUIRE(all);
  std::string found;
  for (const ir::buffer& b : *all) found += b->name;
  CHECK(found == "DAI");
  CHECK(ir::buffers_of_stores(inner) == all);

  ir::block_node changed = *inner;  // a copy has stores of its own
  changed.body = ir::make_store(f.params[2].buffer, {0}, ir::integer(dtype::i32, 1));
  const ir::block copy = ir::make_block(changed);
  const std::vector<ir::buffer>* of_copy = ir::buffers_of_stores(copy);
  REQUIRE(of_copy);
  CHECK(of_copy->size() == 1);
}
