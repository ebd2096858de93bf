#include "sparse_cases.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <tilewright/expr/formats/csr_matrix.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

namespace gpu_cases {
namespace {

using namespace tilewright;
using axes::i, axes::j, axes::k;

constexpr std::int64_t rows = 70, columns = 61, wide = 40, depth = 24;

constexpr dim places_and_rows = parts<ell<"K", 2>, compressed<"K">>;

template <dim Columns>
constexpr auto product_of = kernel<"product">([](in<"A", float, "M", Columns> A,
                                                 in<"B", float, "K", "N"> B,
                                                 out<"C", float, "M", "N"> C) {
  return C(i, j) = sum<k>(A(i, k) * B(k, j));
});
constexpr auto vector_product =
    kernel<"vector_product">([](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K"> B,
                                out<"C", float, "M"> C) { return C(i) = sum<k>(A(i, k) * B(k)); });
constexpr auto sampled_product = kernel<"sampled">(
    [](in<"A", float, "M", compressed<"N">> A, in<"X", float, "M", "K"> X,
       in<"Y", float, "N", "K"> Y, out<"S", float, "M", stored_like<"N", "A">> S) {
      return S(i, j) = A(i, j) * sum<k>(X(i, k) * Y(j, k));
    });

/// A row of all columns, some without elements, the others with a few.
csr_matrix<float> sample() {
  std::vector<int> row_of, column_of;
  std::vector<float> values;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      if (r != 4 && (r % 9 == 0 || (r * 5 + c * 3) % 11 > 1)) continue;
      row_of.push_back(r);
      column_of.push_back(c);
      values.push_back(static_cast<float>((r * 7 + c * 5) % 19 - 9) / 8);
    }
  return {rows, columns, row_of, column_of, values};
}

using array_list = std::vector<const void*>;

template <class Matrix>
void add_arrays(const Matrix& m, array_list& to) {
  static const double nothing = 0;  // a part without elements has an array of none
  for (const dsl::argument& a : dsl::sparse_recognized<const Matrix>::make(m, "A"))
    to.push_back(a.data ? a.data : &nothing);
}

/// @param arrays of the function's first parameters
gpu_corpus::entry make(const char* name, const ir::sparse_function& f, const array_list& arrays) {
  gpu_corpus::entry out;
  out.name = std::string("sparse_") + name;
  out.written = sparse::with_iterations(f);
  out.tolerance = 1e-4;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const ir::buffer& b = out.written.params[n].buffer;
    auto size = static_cast<std::size_t>(bytes(b->type));
    for (const ir::expr& extent : b->shape) size *= static_cast<std::size_t>(ir::as_int(extent));
    const auto* from = static_cast<const std::byte*>(arrays[n]);
    out.given[b->name].assign(from, from + size);
  }
  return out;
}

/// Kernels that do not wait for each other as one launch, or not.
ir::function launched(const ir::function& f, bool fused) {
  const ir::block_realize_node& root = *ir::as_realize(f.body);
  ir::block_node block = *root.block;
  block.annotations[ir::horizontal_note] = fused ? 1 : 0;
  ir::function out = f;
  out.body = ir::make_realize(root.values, root.predicate, ir::make_block(std::move(block)));
  return out;
}

/// The first draw of the default space's families that add atomically, or of those that do not, which can be lowered: not all
/// threads come as often to a barrier in a loop whose length is data.
ir::function scheduled(const ir::function& f, const target::gpu& device, bool adds, bool fused) {
  const space::design_space list = space::default_gpu();
  const space::context where{&device, 1};
  for (const schedule& s : list.sketches(f, where, 7)) {
    if ((s.trace().print().find("add_atomically") != std::string::npos) != adds) continue;
    for (std::uint64_t seed = 1; seed <= 32; ++seed) {
      const auto c = search::replay(s.trace().without_decisions(), f, seed, nullptr,
                                    [&](schedule& drawn) { list.finish(drawn, where); });
      if (!c) continue;
      try {
        const ir::function out = launched(c->scheduled.function(), fused);
        pass::lower(out, device);
        return out;
      } catch (const error&) {
        continue;
      }
    }
  }
  throw internal_error("the default space has no such schedule of " + f.name);
}

}  // namespace

std::vector<gpu_corpus::entry> sparse(const target::gpu* device) {
  const csr_matrix<float> a = sample();
  const std::vector<sparse::stored_parameter> by_rows{{"A", a.nonzeros(), dtype::i32}};
  array_list arrays;
  add_arrays(a, arrays);
  const auto by = [&](const any_kernel& kernel, dim_values dims,
                      const std::vector<sparse::stored_parameter>& stored) {
    dims.insert({"M", rows});
    return sparse::with_storage(reify(kernel, dims), stored);
  };
  const ir::sparse_function product =
      by(product_of<compressed<"K">>, {{"K", columns}, {"N", wide}}, by_rows);
  const ir::sparse_function vector = by(vector_product, {{"K", columns}}, by_rows);
  const ir::sparse_function sampled =
      by(sampled_product, {{"N", columns}, {"K", depth}},
         {{"A", a.nonzeros(), dtype::i32}, {"S", 0, dtype::i32, 1, 0, "A"}});

  const parted_matrix<float, places_and_rows> parted(a, {.most_padding = 1e9});
  const auto& first = parted.template part<0>();
  const auto& rest = parted.template part<1>();
  array_list of_parts;
  add_arrays(first, of_parts);
  add_arrays(rest, of_parts);
  std::vector<sparse::stored_parameter> in_parts(2);
  for (int part = 0; part < 2; ++part) {
    sparse::stored_parameter& p = in_parts[static_cast<std::size_t>(part)];
    p = {"A", static_cast<std::int64_t>(part == 0 ? first.values().size() : rest.values().size()),
         dtype::i32};
    p.part = sparse::part_name("A", part);
    p.exclusive_rows = parted.exclusive_rows();
  }
  in_parts[0].width = 2;
  const ir::sparse_function sum_of_parts =
      by(product_of<places_and_rows>, {{"K", columns}, {"N", wide}}, in_parts);

  std::vector<gpu_corpus::entry> out;
  const auto add = [&](const char* name, const ir::sparse_function& f, const array_list& of,
                       bool adds, bool fused = false) {
    out.push_back(make(name, f, of));
    if (device) out.back().scheduled = scheduled(out.back().written, *device, adds, fused);
  };
  add("rows", product, arrays, false);
  add("elements", product, arrays, true);
  add("vector", vector, arrays, false);
  add("vector_elements", vector, arrays, true);
  add("sampled", sampled, arrays, false);
  add("parts", sum_of_parts, of_parts, true);
  add("parts_in_one_launch", sum_of_parts, of_parts, true, true);
  return out;
}

}  // namespace gpu_cases
