#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/expr.hpp>

using namespace tilewright;

TEST_CASE("small integers are made once") {
  for (const int value : {0, 1, 64, 256}) {
    const ir::expr a = ir::integer(dtype::i32, value), b = value;
    CHECK(a.same(b));
    CHECK(a->integer == value);
    CHECK(a->op == ir::op::integer);
    CHECK(a.type() == dtype::i32);
  }
  CHECK(ir::boolean(true).same(ir::boolean(true)));
  CHECK(ir::boolean(true)->integer == 1);
  CHECK(ir::boolean(false)->integer == 0);
  CHECK(ir::boolean(false).type() == dtype::boolean);
}

TEST_CASE("other integers and other types are nodes of their own") {
  for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{257}, std::int64_t{1} << 30}) {
    const ir::expr a = ir::integer(dtype::i32, value), b = ir::integer(dtype::i32, value);
    CHECK_FALSE(a.same(b));
    CHECK(a->integer == value);
  }
  for (const dtype type : {dtype::i64, dtype::i8, dtype::u8, dtype::u32}) {
    const ir::expr a = ir::integer(type, 3);
    CHECK_FALSE(a.same(ir::integer(dtype::i32, 3)));
    CHECK(a.type() == type);
    CHECK(a->integer == 3);
  }
  CHECK(ir::integer(dtype::i8, 256)->integer == 0);
  CHECK(ir::integer(dtype::boolean, 2)->integer == 1);
}

TEST_CASE("threads share small integers") {
  std::vector<ir::expr> seen(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < seen.size(); ++t)
    threads.emplace_back([&seen, t] {
      for (int i = 0; i < 1000; ++i) seen[t] = ir::integer(dtype::i32, i % 300) + 0;
      seen[t] = ir::integer(dtype::i32, 7);
    });
  for (std::thread& t : threads) t.join();
  for (const ir::expr& e : seen) CHECK(e.same(ir::integer(dtype::i32, 7)));
}
