#include <tilewright/space/space.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/space/compose.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/steps.hpp>
#include <tilewright/target/cpu.hpp>

#include "draws.hpp"
#include "programs.hpp"

using namespace tilewright;
using namespace tilewright::space;

namespace {

const ir::function& product() {
  static const ir::function out = programs::matmul(16, 32, 8);
  return out;
}

/// Structures of the sketches: their traces without decisions.
std::set<std::string> structures(const design_space& s) {
  std::set<std::string> out;
  for (const schedule& each : s.sketches(product(), draws::haswell(), 7))
    CHECK(out.insert(each.trace().simplified().without_decisions().print()).second);
  return out;
}

/// Control flow follows two draws: 3 * 2 structures, one of which a primitive refuses.
void six(schedule& s) {
  const auto [i, j, k] = s.loops<3>(s.get_block("C"));
  const std::int64_t kind = s.get(s.sample_categorical({0, 1, 2}, {1, 1, 1}));
  const std::int64_t rows = s.get(s.sample_categorical({2, 4}, {1, 1}));
  if (kind == 1) s.unroll(j);
  if (kind == 2) s.parallel(rows == 2 ? i : k);  // k is a reduction
  if (rows == 4) s.split(i, {infer, 4});
}

}  // namespace

TEST_CASE("space: a function whose control flow follows draws has a sketch for each structure") {
  CHECK(structures(six).size() == 5);
  CHECK(structures([](schedule& s, const context&) { six(s); }).size() == 5);
}

TEST_CASE("space: of many branches none is missed") {
  const std::set<std::string> all = structures([](schedule& s) {
    std::vector<std::int64_t> values;
    for (std::int64_t v = 1; v <= 16; ++v) values.push_back(v);
    const std::int64_t v =
        s.get(s.sample_categorical(values, std::vector<double>(values.size(), 1.0)));
    s.annotate(s.get_block("C"), "which", v);
  });
  CHECK(all.size() == 16);
}

TEST_CASE("space: a function that draws nothing runs once, one without branches has one sketch") {
  int runs = 0;
  const design_space plain = [&runs](schedule& s) {
    ++runs;
    s.parallel(s.get_loops(s.get_block("C"))[0]);
  };
  CHECK(structures(plain).size() == 1);
  CHECK(runs == 1);
  CHECK(structures([](schedule& s) {
          const auto [i, j, k] = s.loops<3>(s.get_block("C"));
          s.split(i, s.sample_perfect_tile(i, 2));
        }).size() == 1);
}

TEST_CASE("space: a function that is always refused says why") {
  const design_space none = [](schedule& s) { s.get_block("Z"); };
  CHECK_THROWS_AS(none.sketches(product(), draws::haswell(), 1), schedule_error);
}

TEST_CASE("space: a member is one schedule, of structure by lot and with nothing preferred") {
  using axes::i, axes::j;
  const design_space spaces[] = {
      six, default_cpu(), on<"C">(unroll<i> | unroll<j> | parallel<i>),
      design_space(on<"C">(unroll<i>)) | design_space(on<"C">(unroll<j>))};
  for (const design_space& s : spaces) {
    std::set<std::string> met;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      try {
        met.insert(s.member(product(), draws::haswell(), seed).trace().print());
      } catch (const schedule_error&) {  // what was drawn is illegal
      }
    }
    CHECK(met.size() > 1);
  }
  const auto one = [&](std::uint64_t seed) {
    return default_cpu().member(product(), draws::haswell(), seed).trace().print();
  };
  CHECK(one(3) == one(3));
}

TEST_CASE("a space that offers nothing for a program says so, with what there is") {
  const design_space none([](schedule, const context&) { return std::vector<schedule>(); });
  const auto said = [](auto&& call) {
    try {
      call();
    } catch (const schedule_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string why = said([&] { none.sketches(product(), draws::haswell(), 1); });
  CHECK(why.find("the space offers nothing for main, whose blocks are C") != std::string::npos);
  CHECK(said([&] { none.member(product(), draws::haswell(), 1); }) == why);
  CHECK(said([&] { (none | none).sketches(product(), draws::haswell(), 1); }) == why);
  const design_space other([](schedule& s) { s.parallel(s.get_loops(s.get_block("C"))[0]); });
  CHECK((none | other).sketches(product(), draws::haswell(), 1).size() == 1);
}
