#include <tilewright/pass/gpu/name_pieces.hpp>

#include <string>
#include <vector>

#include <tilewright/ir/visit.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// `count` elements of a buffer side by side.
void append(std::vector<ir::expr>& to, const ir::buffer& b, int count) {
  for (int i = 0; i < count; ++i) to.push_back(ir::load(b, {ir::integer(dtype::i32, i)}));
}

std::string shortened(const char* name, const std::vector<ir::expr>& arguments) {
  ir::function f;
  f.name = "main";
  f.body = ir::make_evaluate(ir::call(dtype::i32, name, arguments));
  const ir::expr e = ir::as_evaluate(pass::name_pieces(f).body)->value;
  std::string out;
  for (const ir::expr& a : e->args)
    out += a->op == ir::op::load ? a->buffer->name + std::to_string(a->args[0]->integer) + " "
                                 : std::to_string(a->integer);
  return out;
}

ir::buffer row(const char* name, dtype type, const char* scope) {
  return ir::make_buffer(name, type, {ir::integer(dtype::i32, 64)}, scope);
}

}  // namespace

TEST_CASE("calls on pieces keep the first element of each") {
  const ir::buffer c = row("C", dtype::f32, "local"), a = row("A", dtype::f16, "local"),
                   b = row("B", dtype::f16, "local"), s = row("S", dtype::f16, "shared"),
                   g = row("G", dtype::f16, "global"), w = row("W", dtype::f32, "shared"),
                   r = row("R", dtype::f32, "local");
  std::vector<ir::expr> product, load, wide, copy;
  for (const ir::buffer& piece : {c, a, b}) append(product, piece, 8);
  append(load, a, 8);
  append(load, s, 8);
  append(wide, r, 4);
  append(wide, w, 4);
  append(copy, s, 8);
  append(copy, g, 8);
  CHECK(shortened("tw_mma", product) == "C0 A0 B0 ");
  CHECK(shortened("tw_load_matrix", load) == "A0 S0 ");
  CHECK(shortened("tw_load_transposed", load) == "A0 S0 ");
  CHECK(shortened("tw_load_matrix", wide) == "R0 W0 ");
  CHECK(shortened("tw_copy_async", copy) == "S0 G0 8");
}

TEST_CASE("other statements stay as they are") {
  const ir::function f = threads::without_blocks(threads::tiles);
  CHECK(ir::print(pass::name_pieces(f)) == ir::print(f));
  CHECK(pass::name_pieces(f).body == f.body);
}
