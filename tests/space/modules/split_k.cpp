#include <tilewright/space/modules/split_k.hpp>

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/target/gpu.hpp>

#include "../members.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// C = A B, or, with a bias and max(., 0), D.
ir::function product(int m, int n, int k, bool epilogue = false) {
  const auto t = [](int x) { return std::to_string(x); };
  const std::string c = "(" + t(m) + ", " + t(n) + "), \"float32\")";
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((" + t(m) + ", " + t(k) +
                     "), \"float32\"), B: T.Buffer((" + t(k) + ", " + t(n) + "), \"float32\"), " +
                     (epilogue ? "E: T.Buffer((" + t(n) + ",), \"float32\"), D" : "C") +
                     ": T.Buffer(" + c + "):\n";
  if (epilogue) text += "    C = T.alloc_buffer(" + c + "\n";
  text += "    for i, j, k in T.grid(" + t(m) + ", " + t(n) + ", " + t(k) +
          "):\n"
          "        with T.block(\"C\"):\n"
          "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
          "            with T.init():\n"
          "                C[vi, vj] = T.float32(0)\n"
          "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";
  if (epilogue)
    text += "    for i, j in T.grid(" + t(m) + ", " + t(n) +
            "):\n"
            "        with T.block(\"D\"):\n"
            "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
            "            D[vi, vj] = T.max(C[vi, vj] + E[vj], T.float32(0))\n";
  return ir::parse(text);
}

const space::context& device() {
  static const target::gpu gpu = target::named_gpu("sm_80");
  static const space::context where{&gpu, 1};
  return where;
}

/// What the rule makes of a product.
std::vector<schedule> split(const ir::function& f, const space::context& where = device()) {
  return space::design_space(space::design_space::function([](schedule s, const space::context& w) {
           return space::enumerate(s, w, 8, [&](schedule& x, space::chooser& choices) {
             space::split_k{}(x, "C", w, choices);
           });
         }))
      .sketches(f, where, 3);
}

bool in_parts(const schedule& s) { return space::has_block(s, "C_rf"); }

}  // namespace

TEST_CASE("split_k: products with a small grid and a long reduction are offered in parts") {
  const std::vector<schedule> all = split(product(64, 64, 16384));
  REQUIRE(all.size() == 2);
  CHECK(in_parts(all[0]));  // one block of results: a multiprocessor of 108
  CHECK_FALSE(in_parts(all[1]));
  // the partial product is one that rules for products see
  CHECK(space::shares_operands(all[0], "C_rf"));
  CHECK_FALSE(space::shares_operands(all[0], "C"));
  // half of the multiprocessors have no block: as it is first
  const std::vector<schedule> wider = split(product(384, 512, 4096));
  REQUIRE(wider.size() == 2);
  CHECK_FALSE(in_parts(wider[0]));
  CHECK(in_parts(wider[1]));
}

TEST_CASE("split_k: other products stay as they are") {
  for (const ir::function& f : {product(1024, 1024, 4096), product(64, 64, 256),
                                product(64, 64, 1002) /* in multiples of 4: no part */})
    for (const schedule& s : split(f)) CHECK_FALSE(in_parts(s));
  const target::cpu cpu = target::named("haswell");
  CHECK(split(product(64, 64, 16384), {&cpu, 1}).size() == 1);
}

TEST_CASE("split_k: the number of parts is drawn, replays, and keeps the meaning") {
  const ir::function f = product(4, 8, 512);
  const trace family = split(f)[0].trace().without_decisions();
  std::set<std::string> met;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto member = search::replay(family, f, seed);
    REQUIRE(member);
    check_meaning(member->scheduled, f);
    met.insert(member->scheduled.show());
  }
  CHECK(met.size() >= 4);  // of 2 to 32 parts, of 16 terms at least
}

namespace {

/// Finishes the sketches of the default space that are in parts, after `promised` looked at each: partial products and their
/// sums are a kernel each, and compute what `f` does.
template <class Promised>
void check_parts(const ir::function& f, Promised promised) {
  const space::design_space list = space::default_gpu();
  int finished = 0;
  for (schedule s : list.sketches(f, device(), 5)) {
    if (!in_parts(s)) continue;
    promised(s);
    try {
      list.finish(s, device());
    } catch (const schedule_error&) {  // sizes that do not go together
      continue;
    }
    ++finished;
    INFO(s.show());
    CHECK(space::gpu_usage(s.function()).size() == 2);
    members::check_equal(members::interpreted(members::in_lockstep(s.function()), true),
                         members::interpreted(f, false), 1e-5);
  }
  CHECK(finished >= 1);
}

}  // namespace

TEST_CASE("split_k: the default space splits products, epilogues read sums in registers") {
  check_parts(product(16, 24, 512, true), [](const schedule& s) {
    CHECK(space::is_tiled(s, "C_rf"));
    CHECK(traces::mentions(s, "storage_scope=\"local\""));
  });
}

TEST_CASE("split_k: many sums are added up in vectors, few by a thread each") {
  const auto adds_vectors = [](int m, int n, int k) {
    for (schedule s : space::default_gpu().sketches(product(m, n, k), device(), 5))
      if (in_parts(s))
        return s.get(s.get_loops(s.get_block("C")).back()).loop == ir::loop_kind::vectorized;
    FAIL("no sketch is in parts");
    return false;
  };
  CHECK(adds_vectors(384, 512, 4096));
  CHECK_FALSE(adds_vectors(64, 64, 4096));
}

TEST_CASE("split_k: sums that are the result stay in registers until all parts are in") {
  check_parts(product(16, 24, 512), [](schedule& s) {
    CHECK(s.get(s.get_block("C")).block->writes[0].buffer->scope == "local");
  });
}
