// Products with sparse matrices of all formats on a GPU: rows in blocks, columns on threads, loops as long as rows.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/csc_matrix.hpp>
#include <tilewright/expr/formats/csr_matrix.hpp>
#include <tilewright/expr/formats/dcsr_matrix.hpp>
#include <tilewright/expr/formats/dia_matrix.hpp>
#include <tilewright/expr/formats/ell_matrix.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>
#include <vector>

#include "../cases.hpp"
#include "../gpu_list.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

template <dim Columns>
constexpr auto product_of = kernel<"product">([](in<"A", float, "M", Columns> A,
                                                 in<"B", float, "K", "N"> B,
                                                 out<"C", float, "M", "N"> C) {
  return C(i, j) = sum<k>(A(i, k) * B(k, j));
});
template <dim Columns>
constexpr auto vector_of =
    kernel<"vector_product">([](in<"A", float, "M", Columns> A, in<"B", float, "K"> B,
                                out<"C", float, "M"> C) { return C(i) = sum<k>(A(i, k) * B(k)); });
constexpr auto sampled = kernel<"sampled">(
    [](in<"A", float, "M", compressed<"N">> A, in<"X", float, "M", "K"> X,
       in<"Y", float, "N", "K"> Y, out<"S", float, "M", stored_like<"N", "A">> S) {
      return S(i, j) = A(i, j) * sum<k>(X(i, k) * Y(j, k));
    });

/// 13 x 11: a row of all columns, two without elements, the others with a few.
csr_matrix<float> sample() {
  std::vector<int> rows, columns;
  std::vector<float> values;
  for (int r = 0; r < 13; ++r)
    for (int c = 0; c < 11; ++c) {
      const bool stored = r == 4 || (r != 0 && r != 9 && (r * 5 + c * 3) % 4 == 0);
      if (!stored) continue;
      rows.push_back(r);
      columns.push_back(c);
      values.push_back(static_cast<float>((r * 7 + c * 5) % 9 - 4));
    }
  return {13, 11, rows, columns, values};
}

double number_at(const void* data, dtype type, std::size_t at) {
  if (type == dtype::i32) return static_cast<const std::int32_t*>(data)[at];
  return static_cast<double>(static_cast<const float*>(data)[at]);
}

/// A lowered program, and what its parameters hold that are arrays of a matrix.
struct stored_program {
  ir::function function;
  harness::options data;

  stored_program(ir::sparse_function f, const std::vector<dsl::argument>& arrays)
      : function(sparse::with_iterations(f)) {
    for (std::size_t n = 0; n < arrays.size(); ++n) {
      const ir::buffer& b = function.params[n].buffer;
      std::size_t count = 1;
      for (const ir::expr& extent : b->shape) count *= static_cast<std::size_t>(ir::as_int(extent));
      for (std::size_t at = 0; at < count; ++at)
        data.values[b->name].push_back(number_at(arrays[n].data, b->type, at));
    }
  }
};

template <class Matrix>
std::vector<dsl::argument> arrays_of(const Matrix& m) {
  const auto all = dsl::sparse_recognized<const Matrix>::make(m, "A");
  return {all.begin(), all.end()};
}

/// The product with a matrix in one format.
template <class Matrix>
stored_program product_with(const any_kernel& kernel, const Matrix& m,
                            sparse::stored_parameter format, dim_values dims = {{"N", 40}}) {
  format.parameter = "A";
  dims.insert({{"M", 13}, {"K", 11}});
  format.places = static_cast<std::int64_t>(m.values().size());
  return {sparse::with_storage(reify(kernel, dims), {format}), arrays_of(m)};
}

/// Members of the default space: their text goes through the emulator, and through NVRTC where it is.
/// @returns the text of the first one
std::string check(const stored_program& p) {
  const space::design_space list = space::default_gpu();
  const std::vector<schedule> sketches = list.sketches(p.function, gpu_list::machine(), 7);
  REQUIRE_FALSE(sketches.empty());
  std::string first;
  for (const schedule& sketch : sketches) {
    INFO(sketch.trace().print());
    const std::vector<schedule> members = gpu_list::members_of(p.function, sketch, 2, list);
    REQUIRE_FALSE(members.empty());
    for (const schedule& s : members) {
      CHECK(trace::parse(s.trace().print()) == s.trace());
      const cases::cu::program text =
          cases::cu::print(pass::lower(s.function(), cases::device()), cases::device());
      if (first.empty()) first = text.text;
      cases::check_emulated(s.function(), p.function, 1e-5, p.data);
      if (!cases::have_nvrtc()) continue;
      const cases::cu::compiled c = cases::cu::compile(text, cases::device());
      for (const backend::launch& l : c.artifact.launches)
        CHECK(cases::cu::why_rejected(l, c.report, cases::device(), {0, 0, false}) == "");
    }
  }
  return first;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("compressed rows: a block has rows, and threads side by side have columns") {
  const csr_matrix<float> a = sample();
  const stored_program p = product_with(product_of<compressed<"K">>, a, {});
  const std::vector<schedule> sketches =
      space::default_gpu().sketches(p.function, gpu_list::machine(), 7);
  REQUIRE(sketches.size() == 2);  // rows, and elements
  const std::string steps = sketches[0].trace().print();
  CAPTURE(steps);
  CHECK(has(steps, "thread_axis=\"blockIdx.x\""));
  CHECK(has(steps, "thread_axis=\"threadIdx.x\""));
  CHECK(has(steps, "thread_axis=\"threadIdx.y\""));
  const std::string text = check(p);
  CAPTURE(text);
  CHECK(has(text, "A_indptr"));  // the end of the walk is data
  CHECK(has(text, "A_indices"));
}

TEST_CASE("a product with a vector has a thread for each row") {
  const csr_matrix<float> a = sample();
  const stored_program p = product_with(vector_of<compressed<"K">>, a, {}, {});
  const std::string steps =
      space::default_gpu().sketches(p.function, gpu_list::machine(), 7).at(0).trace().print();
  CHECK(has(steps, "thread_axis=\"threadIdx.x\""));
  CHECK_FALSE(has(steps, "thread_axis=\"threadIdx.y\""));
  check(p);
}

TEST_CASE("other formats have kernels, too") {
  const csr_matrix<float> a = sample();
  {
    const bsr_matrix<float, 4> m(a);
    sparse::stored_parameter format{"A", 0};
    format.block = 4;
    check(product_with(product_of<bsr<"K", 4>>, m, format));
  }
  {
    const ell_matrix<float, 11> m(a);
    sparse::stored_parameter format{"A", 0};
    format.width = 11;
    check(product_with(product_of<ell<"K", 11>>, m, format));
  }
  {
    const sell_matrix<float, 4> m(a);
    sparse::stored_parameter format{"A", 0};
    format.lanes = 4;
    format.slices = static_cast<std::int64_t>(m.offsets().size()) - 1;
    check(product_with(product_of<sell<"K", 4>>, m, format));
  }
  {
    const dcsr_matrix<float> m(a);
    sparse::stored_parameter format{"A", 0};
    format.numbered_rows = static_cast<std::int64_t>(m.row_numbers().size());
    check(product_with(product_of<dcsr<"K">>, m, format));
  }
  {
    const csc_matrix<float> m(a);
    sparse::stored_parameter format{"A", 0};
    format.by_columns = true;
    check(product_with(product_of<csc<"K">>, m, format));
  }
  {
    const dia_matrix<float> m(a);
    sparse::stored_parameter format{"A", 0};
    format.diagonals = static_cast<std::int64_t>(m.offsets().size());
    check(product_with(product_of<dia<"K">>, m, format));
  }
}

TEST_CASE(
    "a result on a pattern is computed in one loop over its elements, each of which finds its "
    "row") {
  const csr_matrix<float> a = sample();
  for (const int depth : {3, 64}) {
    const ir::sparse_function f =
        sparse::with_storage(reify(sampled, {{"M", 13}, {"N", 11}, {"K", depth}}),
                             {{"A", a.nonzeros(), dtype::i32}, {"S", 0, dtype::i32, 1, 0, "A"}});
    const stored_program p(f, arrays_of(a));
    const std::string steps =
        space::default_gpu().sketches(p.function, gpu_list::machine(), 7).at(0).trace().print();
    CAPTURE(steps);
    CHECK(has(steps, "sparse_fuse"));
    CHECK(has(steps, "tilewright.searched_rows"));
    const std::string text = check(p);
    CAPTURE(text);
    CHECK(has(text, "while"));
    CHECK(has(text, "TW_THREAD(x)"));
  }
}
