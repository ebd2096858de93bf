#include <tilewright/schedule/schedule.hpp>

#include "check_schedule.hpp"
#include "programs.hpp"

using namespace tilewright;

TEST_CASE("a function without a root block is none to schedule") {
  ir::function f = programs::elementwise({"i"}, {4});
  f.body = ir::root_block(f)->body;
  CHECK_THROWS_AS(schedule{f}, argument_error);
  CHECK_THROWS_AS(schedule{ir::function{}}, argument_error);
}

TEST_CASE("variables of another schedule, or of a wrong class, are refused") {
  const ir::function f = programs::elementwise({"i"}, {4});
  schedule s(f), other(f);
  const loop_rv i = s.get_loops(s.block("B"))[0];
  CHECK_THROWS_AS(other.parallel(i), argument_error);
  CHECK_THROWS_AS(other.get(i), argument_error);
  CHECK_THROWS_AS(s.parallel(loop_rv{0}), argument_error);  // number 0 is the block
  CHECK_THROWS_AS(s.get(expr_rv{1}), argument_error);
  const std::string text = s.trace().print();
  CHECK_THROWS_AS(s.split(i, {expr_rv{7}}), argument_error);
  CHECK(s.trace().print() == text);
}

TEST_CASE("copies share the program and go separate ways") {
  const ir::function f = programs::matmul(4, 4, 4);
  schedule s(f);
  const auto [i, j, k] = s.loops<3>(s.block("C"));
  schedule t = s.copy();
  CHECK(t.function().body == s.function().body);
  t.parallel(i);
  CHECK(s.get(i).loop == ir::loop_kind::serial);
  CHECK(t.get(i).loop == ir::loop_kind::parallel);
  CHECK(t.trace().size() == s.trace().size() + 1);
  check_meaning(s, f);
  check_meaning(t, f);
}

TEST_CASE("block variables survive every rewrite around them") {
  const ir::function f = programs::matmul_relu(6, 8, 4);
  schedule s(f);
  const block_rv c = s.block("C"), d = s.block("D");
  const auto [i, j, k] = s.loops<3>(c);
  const std::uint64_t id = s.get(c).block->id;
  s.split(i, {infer, 4});
  s.annotate(c, "x", 1);
  s.fuse(s.get_loops(d));
  CHECK(s.get(c).block->id == id);
  CHECK(s.get(c).block->name == "C");
  CHECK(s.get_loops(c).size() == 4);
  check_meaning(s, f);
}

TEST_CASE("factors are expressions over sampled integers") {
  const ir::function f = programs::elementwise({"i"}, {64});
  schedule s(f);
  const auto [i] = s.loops<1>(s.block("B"));
  const expr_rv v = s.sample_categorical({16, 32}, {1, 1}, 1);
  const auto [a, b, c] = s.split(i, {infer, floordiv(v, 4), v * 2 - 60});
  CHECK(ir::is_int(s.get(b).extent, 8));
  CHECK(ir::is_int(s.get(c).extent, 4));
  CHECK(ir::is_int(s.get(a).extent, 2));
  check_meaning(s, f);
  CHECK_THROWS_AS(s.split(a, {floordiv(v, 0)}), argument_error);
  CHECK_THROWS_AS(s.split(a, {floormod(v, v - v)}), argument_error);
}

TEST_CASE("instructions of any kind can be applied by name") {
  const ir::function f = programs::elementwise({"i"}, {8});
  schedule s(f);
  const instruction_kind* kind = find_instruction_kind("get_block");
  REQUIRE(kind);
  CHECK(find_instruction_kind("get_sblock") == kind);
  CHECK(find_instruction_kind("nothing") == nullptr);
  const std::vector<rv> out = s.apply(*kind, {std::string("B"), std::string("main")});
  REQUIRE(out.size() == 1);
  CHECK(out[0].kind == rv_class::block);
  CHECK_THROWS_AS(s.apply(*kind, {std::string("B")}), argument_error);
  CHECK_THROWS_AS(s.apply(*kind, {std::string("B"), true}), argument_error);
  CHECK(s.trace().size() == 1);
}

TEST_CASE("every kind of the table is complete") {
  for (const instruction_kind& kind : instruction_kinds()) {
    CHECK(find_instruction_kind(kind.name) == &kind);
    CHECK(static_cast<bool>(kind.apply));
    CHECK((kind.choice == decision_shape::none || kind.pure));
    for (const parameter& p : kind.parameters) CHECK_FALSE(p.name.empty());
  }
}
