#include <tilewright/arith/iter_map.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <tilewright/arith/linear.hpp>

#include "arith/random_expr.hpp"

using namespace tilewright;
using namespace tilewright::ir;
using arith::analyzer;
using arith::iter_map_level;

namespace {

struct fixture {
  var i = make_var("i"), j = make_var("j"), k = make_var("k"), io = make_var("io"),
      v = make_var("v");
  expr always = boolean(true);

  bool is_map(const std::vector<expr>& indices, const arith::loop_domains& loops,
              const expr& predicate, iter_map_level level) const {
    return arith::detect_iter_map(indices, loops, predicate, level, analyzer()).has_value();
  }
  bool bijective(const std::vector<expr>& indices, const arith::loop_domains& loops,
                 const expr& predicate = boolean(true)) const {
    return is_map(indices, loops, predicate, iter_map_level::bijective);
  }
  bool surjective(const std::vector<expr>& indices, const arith::loop_domains& loops,
                  const expr& predicate = boolean(true)) const {
    return is_map(indices, loops, predicate, iter_map_level::surjective);
  }
  bool binding(const expr& value, const range& dom, const arith::loop_domains& loops,
               const expr& predicate = boolean(true), iter_kind kind = iter_kind::spatial) const {
    return arith::is_affine_binding({value}, {{v, dom, kind}}, loops, predicate, analyzer());
  }
};

}  // namespace

TEST_CASE_FIXTURE(fixture, "splits and fusions are bijective, overlaps and gaps are not") {
  const arith::loop_domains loops = {{i, {0, 8}}, {j, {0, 4}}};
  CHECK(bijective({i, j}, loops));
  CHECK(bijective({j, i}, loops));
  CHECK(bijective({i * 4 + j}, loops));
  CHECK(bijective({i + j * 8}, loops));
  CHECK(bijective({floordiv(i, 2), floormod(i, 2) * 4 + j}, loops));
  CHECK(bijective({floordiv(i * 4 + j, 16), floormod(i * 4 + j, 16)}, loops));
  CHECK_FALSE(bijective({i * 3 + j}, loops));
  CHECK_FALSE(bijective({i * 4 + j, j}, loops));
  CHECK_FALSE(bijective({floordiv(i, 2), j}, loops));
  CHECK(surjective({floordiv(i, 2), j}, loops));
  CHECK_FALSE(surjective({floordiv(i, 3), floormod(i, 3), j}, loops));
  CHECK_FALSE(surjective({i, i}, loops));
  CHECK_FALSE(surjective({i + j}, loops));
  CHECK_FALSE(surjective({i - j}, loops));
}

TEST_CASE_FIXTURE(fixture, "a guard makes a split that does not divide complete") {
  const arith::loop_domains two = {{i, {0, 22}}, {j, {0, 6}}};
  CHECK(bijective({i * 6 + j}, two, lt(i * 6 + j, 127)));
  CHECK_FALSE(surjective({i, j}, two, lt(i * 6 + j, 127)));
  CHECK(surjective({i}, two, lt(i * 6 + j, 127)));
  CHECK(bijective({i, j}, two, lt(i * 6 + j, 126)));
  const arith::loop_domains three = {{i, {0, 6}}, {j, {0, 4}}, {k, {0, 6}}};
  const expr all = i * 24 + j * 6 + k;
  CHECK(bijective({all}, three, lt(all, 127)));
  const arith::loop_domains wide = {{i, {0, 6}}, {j, {0, 5}}, {k, {0, 6}}};
  CHECK(bijective({all}, wide, logical_and(lt(j * 6 + k, 24), lt(all, 127))));
  CHECK_FALSE(bijective({all}, wide, lt(all, 127)));
  const arith::loop_domains uneven = {{i, {0, 6}}, {j, {0, 4}}, {k, {0, 6}}};
  const expr sum = i * 23 + j * 6 + k;
  CHECK(bijective({sum}, uneven, logical_and(lt(j * 6 + k, 23), lt(sum, 127))));
}

TEST_CASE_FIXTURE(fixture, "bindings") {
  const arith::loop_domains loops = {{i, {0, 8}}, {j, {0, 4}}};
  CHECK(binding(i * 4 + j, {0, 32}, loops));
  CHECK_FALSE(binding(i * 2, {0, 16}, loops));
  CHECK(binding(i, {0, 128}, loops));
  CHECK(binding(i, {0, 8}, loops, always, iter_kind::reduce));
  CHECK_FALSE(binding(i, {0, 128}, loops, always, iter_kind::reduce));
  CHECK_FALSE(binding(i + 1, {0, 8}, loops, always, iter_kind::reduce));
  CHECK(binding(expr(0), {0, 1}, {}));
  // partial: the outer variable is a constant
  CHECK(binding(io * 32 + i * 4 + j, {0, 1024}, loops));
  CHECK(binding(io * 8 + i, {0, 127}, {{i, {0, 8}}}, lt(io * 8 + i, 127)));
  CHECK_FALSE(binding(io * 3 + i * 5, {0, 1024}, loops));
  CHECK(binding(floordiv(io * 32 + i * 4 + j, 8), {0, 1024}, loops));
  // symbolic extents
  const var n = make_var("n");
  CHECK(binding(i, {0, n}, {{i, {0, n}}}, always, iter_kind::reduce));
  CHECK(binding(i * 8 + j, {0, n}, {{i, {0, ceildiv(n, 8)}}, {j, {0, 8}}}, lt(i * 8 + j, n)));
}

TEST_CASE_FIXTURE(fixture, "the inverse of a map") {
  const arith::loop_domains loops = {{i, {0, 8}}, {j, {0, 4}}, {k, {3, 1}}};
  const auto map = arith::detect_iter_map({floordiv(i * 4 + j, 16), floormod(i * 4 + j, 16) + 5},
                                          loops, always, iter_map_level::bijective, analyzer());
  REQUIRE(map);
  const var x = make_var("x"), y = make_var("y");
  const auto inverse = arith::inverse_affine(*map, {x, y});
  REQUIRE(inverse);
  analyzer known;
  known.bind(x, 0, 1);
  known.bind(y, 5, 20);
  CHECK(known.prove_equal(inverse->at(i), x * 4 + floordiv(y - 5, 4)));
  CHECK(known.prove_equal(inverse->at(j), floormod(y - 5, 4)));
  CHECK(known.prove_equal(inverse->at(k), 3));
  const auto surjection =
      arith::detect_iter_map({i}, loops, always, iter_map_level::surjective, analyzer());
  REQUIRE(surjection);
  CHECK_FALSE(arith::inverse_affine(*surjection, {x}));
}

namespace {

struct axis {
  expr value;
  std::int64_t extent;
};

/// A random chain of split, fuse, reorder and guards over a few loops, often spoilt a little.
struct random_map {
  testing::variables vars;
  arith::loop_domains loops;
  std::vector<axis> axes;
  std::vector<expr> guards;
  bool spoilt = false;

  explicit random_map(testing::dice& d) {
    const auto count = d.between(1, 4);
    for (int v = 0; v < count; ++v) {
      static constexpr std::int64_t usual[] = {1, 2, 3, 4, 5, 6, 7, 8, 12};
      const std::int64_t n = usual[d.below(count > 3 ? 6 : 9)],
                         lo = d.below(6) ? 0 : d.between(-3, 5);
      vars.push_back({make_var(std::string(1, static_cast<char>('a' + v))), lo, lo + n - 1});
      loops.push_back({vars.back().var, {integer(dtype::i32, lo), integer(dtype::i32, n)}});
      axes.push_back({lo == 0 ? vars.back().var : vars.back().var - integer(dtype::i32, lo), n});
    }
    const auto steps = d.between(1, 6);
    for (int s = 0; s < steps; ++s) step(d);
    if (d.below(5) == 0 && axes.size() > 1) axes.pop_back();
    if (d.below(3) == 0) spoil(d);
  }

  axis& any(testing::dice& d) {
    return axes[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(axes.size())))];
  }

  void step(testing::dice& d) {
    switch (d.below(6)) {
      case 0:
      case 1: {  // fuse
        if (axes.size() < 2) return;
        std::swap(any(d), axes.back());
        const axis inner = axes.back();
        axes.pop_back();
        axis& outer = any(d);
        outer = {outer.value * integer(dtype::i32, inner.extent) + inner.value,
                 outer.extent * inner.extent};
        return;
      }
      case 2:
      case 3: {  // split
        axis& whole = any(d);
        std::vector<std::int64_t> factors;
        for (std::int64_t f = 2; f < whole.extent; ++f)
          if (whole.extent % f == 0 || d.below(12) == 0) factors.push_back(f);
        if (factors.empty()) return;
        const std::int64_t f =
            factors[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(factors.size())))];
        const axis inner{floormod(whole.value, integer(dtype::i32, f)), f};
        whole = {floordiv(whole.value, integer(dtype::i32, f)), (whole.extent + f - 1) / f};
        axes.push_back(inner);
        return;
      }
      case 4: std::swap(any(d), any(d)); return;
      default: {  // guard
        axis& cut = any(d);
        if (cut.extent < 3) return;
        cut.extent -= d.between(1, std::min<std::int64_t>(cut.extent - 2, 7));
        guards.push_back(lt(cut.value, integer(dtype::i32, cut.extent)));
      }
    }
  }

  void spoil(testing::dice& d) {
    spoilt = true;
    axis& victim = any(d);
    const expr other =
        vars[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(vars.size())))].var;
    switch (d.below(6)) {
      case 0: victim.value = victim.value + other; return;
      case 1: victim.value = victim.value + other * integer(dtype::i32, d.between(-2, 9)); return;
      case 2: victim.value = victim.value * 2; return;
      case 3: axes.push_back({other, 1}); return;
      case 4: victim.value = floordiv(victim.value + 1, 2); return;
      default:
        guards.push_back(lt(other * 2 + victim.value, integer(dtype::i32, d.between(2, 12))));
    }
  }

  std::vector<expr> indices() const {
    std::vector<expr> out;
    for (const axis& a : axes) out.push_back(a.value);
    return out;
  }
};

struct truth {
  bool surjective = false, bijective = false, empty = true;

  /// By enumeration: all combinations of the values of the indices occur, the values of each are an
  /// arithmetic progression, and (bijective) each combination occurs once.
  explicit truth(random_map& m) {
    const std::vector<expr> indices = m.indices();
    const expr guard = conjunction(m.guards);
    std::set<std::vector<std::int64_t>> image;
    std::vector<std::set<std::int64_t>> values(indices.size());
    std::size_t points = 0;
    testing::for_each_point(m.vars, [&] {
      bool defined = true;
      if (!testing::evaluate(guard, m.vars, defined)) return;
      ++points;
      std::vector<std::int64_t> at;
      for (std::size_t i = 0; i < indices.size(); ++i) {
        at.push_back(testing::evaluate(indices[i], m.vars, defined));
        values[i].insert(at.back());
      }
      image.insert(std::move(at));
    });
    std::size_t combinations = 1;
    bool regular = true;
    for (const auto& each : values) {
      combinations *= each.size();
      if (each.size() > 1)
        regular = regular && (*each.rbegin() - *each.begin()) ==
                                 (*std::next(each.begin()) - *each.begin()) *
                                     (static_cast<std::int64_t>(each.size()) - 1);
    }
    empty = points == 0;
    surjective = !empty && regular && combinations == image.size();
    bijective = surjective && points == image.size();
  }
};

}  // namespace

TEST_CASE("random maps against enumeration") {
  testing::dice d(3);
  int surjections = 0, found_surjections = 0, bijections = 0, found_bijections = 0, wrong = 0,
      inverses = 0;
  for (int round = 0; round < 10000; ++round) {
    random_map m(d);
    const truth is(m);
    if (is.empty) continue;
    const expr guard = conjunction(m.guards);
    const auto map =
        arith::detect_iter_map(m.indices(), m.loops, guard, iter_map_level::surjective, analyzer());
    const bool bijective =
        arith::detect_iter_map(m.indices(), m.loops, guard, iter_map_level::bijective, analyzer())
            .has_value();
    std::string text;
    for (const expr& e : m.indices()) text += testing::code(e) + " ; ";
    text += "if " + testing::code(guard);
    for (const testing::variable& v : m.vars)
      text += " " + v.var->name + " in " + std::to_string(v.lo) + ".." + std::to_string(v.hi);
    CHECK_MESSAGE((is.surjective || !map), text);
    CHECK_MESSAGE((is.bijective || !bijective), text);
    wrong += (map && !is.surjective) || (bijective && !is.bijective);
    if (!m.spoilt) {
      surjections += is.surjective;
      found_surjections += is.surjective && map;
      bijections += is.bijective;
      found_bijections += is.bijective && bijective;
    }
    if (!bijective || wrong) continue;
    const auto inverse = arith::inverse_affine(*map, m.indices());
    REQUIRE(inverse);
    ++inverses;
    bool right = true;
    testing::for_each_point(m.vars, [&] {
      bool defined = true;
      if (!testing::evaluate(guard, m.vars, defined)) return;
      for (const testing::variable& v : m.vars)
        right = right && testing::evaluate(inverse->at(v.var), m.vars, defined) == v.value;
    });
    CHECK_MESSAGE(right, text);
  }
  MESSAGE("surjective: found " << found_surjections << " of " << surjections
                               << "; bijective: " << found_bijections << " of " << bijections
                               << "; inverses " << inverses);
  CHECK(found_surjections * 100 >= surjections * 95);
  CHECK(found_bijections * 100 >= bijections * 95);
}
