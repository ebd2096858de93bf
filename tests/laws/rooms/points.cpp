// Elements of random programs in double are what the interpreter computes, within the bound that
// comes with them.
#include <laws/running.hpp>

#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include <tilewright/impl/ir/interpret/interpret_convert.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>

using namespace tilewright;

namespace {

double read_number(dtype type, const std::byte* at) {
  namespace interp = ir::detail::interp;
  return interp::with_type(type, [&](auto d) {
    constexpr dtype D = decltype(d)::value;
    return interp::convert<dtype::f64, D>(interp::read_element<D>(at)).d;
  });
}

std::set<const ir::buffer_node*> written_by(const ir::function& f) {
  std::set<const ir::buffer_node*> out;
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) out.insert(store->buffer.get());
  });
  return out;
}

std::vector<std::int64_t> index_of(std::int64_t position, const ir::buffer& b) {
  std::vector<std::int64_t> out(b->shape.size());
  for (std::size_t d = out.size(); d-- > 0; position /= ir::as_int(b->shape[d]))
    out[d] = position % ir::as_int(b->shape[d]);
  return out;
}

struct counts {
  long programs = 0, refused = 0, elements = 0, undecided = 0, missing = 0;
};

void check_points(std::uint64_t seed, counts& tally) {
  support::random draw(seed);
  const laws::program p = laws::random_program(draw);
  const ir::function f = laws::concrete(p, p.function);
  ++tally.programs;
  if (const std::string why = ir::point_evaluator::refusal(f); !why.empty()) {
    ++tally.refused;
    return;
  }
  const laws::memory before = laws::inputs(p, f), after = laws::interpreted(p, p.function);
  std::vector<ir::tensor_view> args;
  for (const std::vector<char>& m : before) args.push_back({const_cast<char*>(m.data()), {}});
  ir::point_evaluator evaluator(f, args);
  const auto written = written_by(f);
  for (std::size_t k = 0; k < f.params.size(); ++k) {
    const ir::buffer& b = f.params[k].buffer;
    if (!written.count(b.get())) continue;
    const auto size = static_cast<std::size_t>(bytes(b->type));
    for (std::size_t i = 0; i < after[k].size() / size; ++i) {
      const auto at = index_of(static_cast<std::int64_t>(i), b);
      const auto v = evaluator.value(k, at);
      const double want =
          read_number(b->type, reinterpret_cast<const std::byte*>(after[k].data() + i * size));
      ++tally.elements;
      tally.missing += !v;
      tally.undecided += v && !v->decided;
      if (!v || (!v->decided && !is_float(b->type))) continue;
      if (std::isnan(want) && std::isnan(v->value)) continue;
      if (v->value == want || std::abs(v->value - want) <= 1.001 * v->error) continue;
      CAPTURE(seed);
      CAPTURE(ir::print(f));
      CAPTURE(b->name);
      CAPTURE(i);
      CAPTURE(v->error);
      CHECK(v->value == want);
      return;
    }
  }
}

}  // namespace

TEST_CASE("elements in double are those of the interpreter within their bound") {
  counts tally;
  for (std::uint64_t seed = 0; seed < 900; ++seed) check_points(seed, tally);
  CAPTURE(tally.refused);
  CAPTURE(tally.undecided);
  CAPTURE(tally.missing);
  CHECK(tally.elements > 5000);
  CHECK(tally.refused < tally.programs * 3 / 4);
  CHECK(tally.undecided < tally.elements / 10);
  CHECK(tally.missing < tally.elements / 10);
}
