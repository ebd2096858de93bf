// A small sparse program for tests of what schedules its iterations: its script, and its results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/sparse/iterations.hpp>

#include "../../check_schedule.hpp"

namespace sparse_program {

using namespace tilewright;

/// A is 3 x 4 and has the elements (0, 1), (0, 3), (2, 0), (2, 2), (2, 3).
inline const std::string head =
    "# from tvm.script import tir as T\n\n@T.prim_func\n"
    "def f(p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), "
    "\"float32\"), x: T.Buffer((3, 2), \"float32\"), y: T.Buffer((4, 2), \"float32\"), "
    "s: T.Buffer((5,), \"float32\"), c: T.Buffer((3, 2), \"float32\")):\n"
    "    I = T.dense_fixed(3)\n"
    "    J = T.sparse_variable(I, (4, 5), (p, q))\n"
    "    K = T.dense_fixed(2)\n"
    "    a_1 = T.match_sparse_buffer(a, (I, J))\n"
    "    s_1 = T.match_sparse_buffer(s, (I, J))\n";
/// s(i, j) = sum over k of x(i, k) * y(j, k), where A stores something
inline const std::string sampled =
    "    with T.sp_iter([I, J, K], \"SSR\", \"s\") as [i, j, k]:\n"
    "        with T.init():\n"
    "            s_1[i, j] = T.float32(0.0)\n"
    "        s_1[i, j] = s_1[i, j] + x[i, k] * y[j, k]\n";
/// c = A y
inline const std::string product =
    "    with T.sp_iter([I, J, K], \"SRS\", \"c\") as [i, j, k]:\n"
    "        with T.init():\n"
    "            c[i, k] = T.float32(0.0)\n"
    "        c[i, k] = c[i, k] + a_1[i, j] * y[j, k]\n";

inline ir::function function(const std::string& iterations) {
  return sparse::with_iterations(ir::parse_sparse(head + iterations));
}

/// What s and c hold after a run; both begin with 99.
struct results {
  std::vector<float> s = std::vector<float>(5, 99), c = std::vector<float>(6, 99);
  bool operator==(const results&) const = default;
};

/// @param run takes the arguments
template <class Run>
results results_of(const Run& run) {
  std::vector<std::int32_t> p{0, 2, 2, 5}, q{1, 3, 0, 2, 3};
  std::vector<float> a{1, 2, 3, 4, 5}, x{1, -1, 2, 3, 0.5f, 4}, y{1, 2, 3, 4, -5, 6, 7, 8};
  results out;
  std::vector<ir::tensor_view> views{{p.data(), {}},    {q.data(), {}}, {a.data(), {}},
                                     {x.data(), {}},    {y.data(), {}}, {out.s.data(), {}},
                                     {out.c.data(), {}}};
  run(views);
  return out;
}

/// The schedule gives what the iterations say, and its trace replays.
inline void check(const schedule& s, const std::string& iterations) {
  const ir::sparse_function said = ir::parse_sparse(head + iterations);
  const results expected =
      results_of([&](const std::vector<ir::tensor_view>& v) { ir::interpret(said, v); });
  const results got =
      results_of([&](const std::vector<ir::tensor_view>& v) { ir::interpret(s.function(), v); });
  CHECK_MESSAGE(got == expected, s.show());
  check_schedule(s, function(iterations));
}

inline block_rv apply(schedule& s, std::string_view kind, block_rv block,
                      std::vector<std::int64_t> numbers) {
  return {s.apply(*find_instruction_kind(kind), {rv(block), std::move(numbers)})[0].number};
}

/// The lines of the iterations that the function of the schedule carries.
inline std::string iterations_of(const schedule& s) {
  const auto program = sparse::iterations_of(s.function());
  REQUIRE(program);
  const std::string text = ir::print(*program);
  return text.substr(text.find("    with T.sp_iter("));
}

}  // namespace sparse_program
