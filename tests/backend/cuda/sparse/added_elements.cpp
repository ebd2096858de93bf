// Elements of sparse rows that add to results at once, and parts of a matrix in one launch.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <vector>

#include "../cases.hpp"
#include "../gpu_list.hpp"
#include "sparse/part_arrays.hpp"
#include "sparse/patterns.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

template <dim Columns>
constexpr auto product_of = kernel<"product">([](in<"A", float, "M", Columns> A,
                                                 in<"B", float, "K", "N"> B,
                                                 out<"C", float, "M", "N"> C) {
  return C(i, j) = 2.0f * sum<k>(A(i, k) * B(k, j)) + 1.0f;
});
template <dim Columns>
constexpr auto vector_of =
    kernel<"vector_product">([](in<"A", float, "M", Columns> A, in<"B", float, "K"> B,
                                out<"C", float, "M"> C) { return C(i) = sum<k>(A(i, k) * B(k)); });

/// A product, the arrays of its matrix, and what it has to be: sums in f64.
struct problem {
  ir::function function;
  std::vector<const void*> arrays;
  std::vector<float> dense, expected;
};

/// @param wide  columns; 0: a vector
problem make(const any_kernel& kernel, const patterns::csr_matrix<>& a, std::int64_t wide,
             const part_arrays::stored_parts& stored) {
  problem out;
  dim_values dims{{"M", a.rows}, {"K", a.columns}};
  if (wide > 0) dims.insert({"N", wide});
  out.function = sparse::with_iterations(sparse::with_storage(reify(kernel, dims), stored.formats));
  out.arrays = stored.arrays;
  const std::int64_t columns = std::max<std::int64_t>(wide, 1);
  out.dense = patterns::random_values(a.columns * columns, 3);
  const std::vector<double> all = a.dense();
  for (std::int64_t r = 0; r < a.rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::int64_t q = 0; q < a.columns; ++q)
        sum += all[static_cast<std::size_t>(r * a.columns + q)] *
               static_cast<double>(out.dense[static_cast<std::size_t>(q * columns + c)]);
      out.expected.push_back(static_cast<float>(wide > 0 ? 2 * sum + 1 : sum));
    }
  return out;
}

problem rows_of(const any_kernel& kernel, const patterns::csr_matrix<>& a, std::int64_t wide) {
  part_arrays::stored_parts stored;
  stored.formats.push_back({"A", a.nonzeros(), dtype::i32});
  stored.arrays = {a.offsets.data(), a.indices.data(), a.values.data()};
  return make(kernel, a, wide, stored);
}

/// What a run has to write: the result is the last parameter.
template <class Run>
void check_result(const problem& p, const Run& run) {
  std::vector<float> got(p.expected.size(), 99);
  std::vector<void*> data;
  for (const void* array : p.arrays) data.push_back(const_cast<void*>(array));
  data.push_back(const_cast<float*>(p.dense.data()));
  data.push_back(got.data());
  REQUIRE(data.size() == p.function.params.size());
  run(data);
  for (std::size_t n = 0; n < got.size(); ++n)
    CHECK(got[n] == doctest::Approx(p.expected[n]).epsilon(1e-4));
}

/// A schedule by the interpreter with its race check, and by the emulator in two orders.
/// @returns the text of its kernels
cases::cu::program check(const problem& p, const ir::function& scheduled) {
  check_result(p, [&](const std::vector<void*>& data) {
    std::vector<ir::tensor_view> views;
    for (void* one : data) views.push_back({one, {}});
    ir::interpret_options how;
    how.check_races = true;
    ir::interpret(scheduled, views, how);
  });
  cases::cu::program text =
      cases::cu::print(pass::lower(scheduled, cases::device()), cases::device());
  INFO(text.text);
  if (cases::have_emulator()) {
    const cases::cu::emulator kernels(text);
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      check_result(p, [&](const std::vector<void*>& data) {
        std::vector<cases::cu::emulated_argument> arguments;
        for (std::size_t n = 0; n < data.size(); ++n) {
          std::int64_t count = 1;
          for (const ir::expr& extent : p.function.params[n].buffer->shape)
            count *= ir::as_int(extent);
          arguments.push_back({data[n], count});
        }
        kernels.run(arguments, {}, seed);
      });
  }
  if (cases::have_nvrtc()) {
    const cases::cu::compiled c = cases::cu::compile(text, cases::device());
    for (const backend::launch& l : c.artifact.launches)
      CHECK(cases::cu::why_rejected(l, c.report, cases::device(), {0, 0, false}) == "");
  }
  return text;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Sketches of the default space that add atomically.
std::vector<schedule> adding(const problem& p) {
  std::vector<schedule> out;
  for (schedule& s : space::default_gpu().sketches(p.function, gpu_list::machine(), 7))
    if (has(s.trace().print(), "add_atomically")) out.push_back(std::move(s));
  return out;
}

void check_members(const problem& p, int count) {
  const space::design_space list = space::default_gpu();
  const std::vector<schedule> sketches = adding(p);
  REQUIRE_FALSE(sketches.empty());
  for (const schedule& sketch : sketches) {
    INFO(sketch.trace().print());
    const std::vector<schedule> members = gpu_list::members_of(p.function, sketch, count, list);
    REQUIRE_FALSE(members.empty());
    for (const schedule& s : members) {
      CHECK(trace::parse(s.trace().print()) == s.trace());
      check(p, s.function());
    }
  }
}

/// The first member of a sketch, with or without fused kernels.
ir::function first_member(const problem& p, bool fused) {
  schedule s = adding(p).at(0);
  space::default_gpu().finish(s, gpu_list::machine());
  ir::function out = s.function();
  const ir::block_realize_node& root = *ir::as_realize(out.body);
  ir::block_node block = *root.block;
  REQUIRE(block.annotations.count("tilewright.horizontal_fuse") == 1);
  block.annotations["tilewright.horizontal_fuse"] = fused ? 1 : 0;
  out.body = ir::make_realize(root.values, root.predicate, ir::make_block(std::move(block)));
  return out;
}

}  // namespace

TEST_CASE("added elements: a thread walks elements of any rows, and adds once for each row") {
  const patterns::csr_matrix<> a = patterns::random_matrix(23, 17, 0.3, 1, 4);
  const problem p = rows_of(product_of<compressed<"K">>, a, 40);
  const std::string steps = adding(p).at(0).trace().print();
  CAPTURE(steps);
  CHECK(has(steps, "sparse_fuse"));
  CHECK(has(steps, "thread_axis=\"threadIdx.y\""));
  const cases::cu::program text = check(p, first_member(p, false));
  CAPTURE(text.text);
  CHECK(has(text.text, "tw_atomic_add(C_"));
  CHECK(has(text.text, "_at0"));  // the row that is summed
  check_members(p, 2);
}

TEST_CASE("added elements: products of random patterns, with matrices and with a vector") {
  std::uint32_t seed = 20;
  for (const patterns::csr_matrix<>& a :
       {patterns::random_matrix(1, 40, 0.5, 2), patterns::random_matrix(40, 1, 0.5, 3),
        patterns::random_matrix(5, 6, 0, 6, 2), patterns::random_matrix(33, 17, 0.9, 7),
        patterns::random_matrix(12, 33, 0.1, ++seed, 4)}) {
    CAPTURE(a.name);
    if (a.nonzeros() == 0) continue;
    check_members(rows_of(product_of<compressed<"K">>, a, 3 + seed % 5), 1);
    check_members(rows_of(vector_of<compressed<"K">>, a, 0), 1);
  }
}

TEST_CASE(
    "added elements: parts of a matrix are one launch, and memory adds what each has summed") {
  constexpr dim places_and_rows = parts<ell<"K", 2>, compressed<"K">>;
  constexpr dim blocks_and_numbered = parts<bsr<"K", 4>, dcsr<"K">>;
  const patterns::csr_matrix<> a = patterns::random_matrix(24, 20, 0.4, 9, 4);
  const auto of = [&]<dim Parts>(std::int64_t wide, const any_kernel& kernel) {
    const parted_matrix<float, Parts> m(csr(a.offsets, a.indices, a.values, a.columns),
                                        {.least_fill = 0.4, .most_padding = 1e9});
    const problem p = make(kernel, a, wide, part_arrays::of(m));
    const cases::cu::program apart = check(p, first_member(p, false)),
                             fused = check(p, first_member(p, true));
    CAPTURE(fused.text);
    CHECK(fused.kernels.size() < apart.kernels.size());
    check_members(p, 2);
  };
  of.template operator()<places_and_rows>(8, product_of<places_and_rows>);
  of.template operator()<blocks_and_numbered>(8, product_of<blocks_and_numbered>);
  of.template operator()<places_and_rows>(0, vector_of<places_and_rows>);
}
