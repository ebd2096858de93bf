#include <tilewright/ir/visit.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace tilewright;
using namespace tilewright::ir;

TEST_CASE("substitute replaces variables and shares what it does not touch") {
  const var i = make_var("i"), j = make_var("j");
  const expr untouched = j * 4;
  const expr e = i * 2 + untouched;
  const expr out = substitute(e, {{i, j}});
  CHECK(uses_var(out, j));
  CHECK_FALSE(uses_var(out, i));
  CHECK(out->args[1].same(untouched));
  CHECK(substitute(untouched, {{i, j}}).same(untouched));
}

TEST_CASE("substituting a constant folds") {
  const var i = make_var("i");
  CHECK(is_int(substitute(floordiv(i * 3 + 1, 4), {{i, expr(-3)}}), -2));
}

TEST_CASE("conjuncts and conjunction are inverse") {
  const var i = make_var("i");
  const expr both = logical_and(lt(i, 4), ge(i, 1));
  CHECK(conjuncts(both).size() == 2);
  CHECK(conjuncts(boolean(true)).empty());
  CHECK(is_true(conjunction({})));
}

TEST_CASE("a mutator that changes nothing returns the same statement") {
  const var i = make_var("i");
  const buffer a = make_buffer("A", dtype::f32, {8});
  const stmt s = make_loop(i, 0, 8, make_store(a, {i}, real(dtype::f32, 1.0)));
  CHECK(mutator{}.mutate(s) == s);
  const buffer b = make_buffer("B", dtype::f32, {8});
  const stmt replaced = replace_buffers(s, {{a, b}});
  REQUIRE(as_loop(replaced));
  CHECK(as_store(as_loop(replaced)->body)->buffer == b);
}

TEST_CASE("any_stmt: outermost first, into all that statements hold, until one is found") {
  const buffer a = make_buffer("A", dtype::f32, {8});
  const auto store = [&](int at) { return make_store(a, {expr(at)}, real(dtype::f32, 1.0)); };
  block_node sum;
  sum.name = "sum";
  sum.init = store(0);
  sum.body = make_if(boolean(true), store(1), make_let(make_var("v"), 1, store(2)));
  const stmt all =
      make_seq({make_loop(make_var("i"), 0, 8, make_realize({}, boolean(true), make_block(sum))),
                make_while(boolean(false), make_allocate(a, make_attribute(0, "key", 0, store(3)))),
                make_evaluate(0)});
  std::string seen;
  const auto visit = [&](const stmt& s) {
    if (as_store(s)) seen += std::to_string(as_int(as_store(s)->indices[0]));
    if (as_loop(s)) seen += 'l';
    if (as_evaluate(s)) seen += 'e';
    return false;
  };
  CHECK_FALSE(any_stmt(all, visit));
  CHECK(seen == "l0123e");
  int asked = 0;
  CHECK(any_stmt(all, [&](const stmt& s) { return ++asked, as_store(s) != nullptr; }));
  CHECK(asked == 4);  // the sequence, the loop, the block, its init
  CHECK_FALSE(any_stmt(stmt(), visit));
}

TEST_CASE("any_child: what stands directly in a statement, in order, without the init of a block") {
  const buffer a = make_buffer("A", dtype::f32, {8});
  const auto store = [&](int at) { return make_store(a, {expr(at)}, real(dtype::f32, 1.0)); };
  block_node sum;
  sum.name = "sum";
  sum.init = store(0);
  sum.body = store(1);
  const stmt block = make_realize({}, boolean(true), make_block(sum));
  std::string seen;
  const auto note = [&](const stmt& s) {
    seen += as_store(s) ? std::to_string(as_int(as_store(s)->indices[0])) : "b";
    return seen.size() == 2;
  };
  CHECK_FALSE(any_child(block, note));
  CHECK(seen == "1");
  seen.clear();
  CHECK_FALSE(any_child(make_if(boolean(true), store(2)), note));
  CHECK(any_child(make_if(boolean(true), store(3), store(4)), note));  // the second one suffices
  CHECK(seen == "23");
  seen.clear();
  CHECK(any_child(make_seq({store(5), block, store(6)}), note));
  CHECK(seen == "5b");  // the third one is not asked
  CHECK_FALSE(any_child(store(7), note));
}

TEST_CASE("find_note: the value of a key, or nothing") {
  const annotations notes = {{"b", attr(1)}, {"bc", attr("x")}, {"d", attr(2)}};
  REQUIRE(find_note(notes, "bc"));
  CHECK(*find_note(notes, "bc") == attr("x"));
  CHECK(*find_note(notes, "b") == attr(1));
  CHECK(*find_note(notes, "d") == attr(2));
  for (const char* missing : {"", "a", "bb", "c", "e"}) CHECK(find_note(notes, missing) == nullptr);
  CHECK(find_note({}, "b") == nullptr);
}
