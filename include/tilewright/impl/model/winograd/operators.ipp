#pragma once

#include <tilewright/model/operators.hpp>
#include <tilewright/model/winograd.hpp>

// The two transformations of Winograd's algorithm; the products between them are a MatMul.
namespace tilewright::network {
namespace detail {

/// What a node's attributes say: tiles of m x m results of an image whose first window begins `begin`
/// elements before it.
struct winograd_tiling {
  std::int64_t tile = 0;
  std::vector<std::int64_t> begin, output;  // [2]
  std::int64_t tiles(std::size_t d) const { return (output[d] + tile - 1) / tile; }
};

inline winograd_tiling tiling_of(const node_view& n) {
  winograd_tiling out{n.what().integer("tile", 0), n.what().integers("begin"),
                      n.what().integers("output")};
  if ((out.tile != 2 && out.tile != 4 && out.tile != 6) || out.begin.size() != 2 ||
      out.output.size() != 2)
    n.fail("its attributes tile, begin and output say no tiling");
  return out;
}

/// From an image N, H, W, C to n, n, N, tiles along H, tiles along W, C.
inline void infer_winograd_input(inference& n) {
  const winograd_tiling t = tiling_of(n);
  const shape& x = n.in(0).extents;
  if (x.size() != 4) n.fail("its input has to be an image");
  n.out(0, {n.in(0).type, {t.tile + 2, t.tile + 2, x[0], t.tiles(0), t.tiles(1), x[3]}});
}

/// Rows first: a row of sums serves all tiles that stand side by side.
inline void emit_winograd_input(emission& e) {
  const winograd_tiling t = tiling_of(e);
  const std::int64_t m = t.tile, n = m + 2;
  const dsl::runtime_tensor x = zero_outside(e.tensor(0, "X")), b = e.tensor(1, "B");
  const shape image = e.in(0, "X").type.extents;
  const shape extents{image[0], t.tiles(0), n, image[2], image[3]};
  const dsl::runtime_tensor rows = e.temp("rows", e.in(0, "X").type.type, extents);
  const dsl::index_list r = e.axes("r", extents);
  const auto i = e.axis("i", n), j = e.axis("j", n);
  e.define(rows(r) = reduce(dsl::reduction::sum, {i},
                            b(r[2], i) * x(r[0], r[1] * m + i - t.begin[0], r[3], r[4])));
  e.out(0, [=](const dsl::index_list& at) {
    return reduce(
        dsl::reduction::sum, {j},
        b(at[1], j) * zero_outside(rows)(at[2], at[3], at[0], at[4] * m + j - t.begin[1], at[5]));
  });
}

/// From n, n, N, tiles along H, tiles along W, K to an image N, H, W, K.
inline void infer_winograd_output(inference& n) {
  const winograd_tiling t = tiling_of(n);
  const shape& x = n.in(0).extents;
  if (x.size() != 6) n.fail("its input has to be transformed tiles");
  n.out(0, {n.in(0).type, {x[2], t.output[0], t.output[1], x[5]}});
}

inline void emit_winograd_output(emission& e) {
  const winograd_tiling t = tiling_of(e);
  const std::int64_t m = t.tile, n = m + 2;
  const dsl::runtime_tensor x = e.tensor(0, "X"), a = e.tensor(1, "A");
  std::optional<reader> bias;
  if (e.what().has_input(2)) bias = e.in(2, "bias");
  const shape from = e.in(0, "X").type.extents;
  const shape extents{from[2], from[3], m, from[4], n, from[5]};
  const dsl::runtime_tensor rows = e.temp("rows", e.in(0, "X").type.type, extents);
  const dsl::index_list r = e.axes("r", extents);
  const auto i = e.axis("i", n), j = e.axis("j", n);
  e.define(rows(r) =
               reduce(dsl::reduction::sum, {i}, a(r[2], i) * x(i, r[4], r[0], r[1], r[3], r[5])));
  e.out(0, [=](const dsl::index_list& at) {
    const auto sum =
        reduce(dsl::reduction::sum, {j},
               a(at[2] % m, j) * rows(at[0], at[1] / m, at[1] % m, at[2] / m, j, at[3]));
    return bias ? sum + (*bias)(at[3]) : sum;
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_winograd(std::vector<operator_definition>& to) {
  to.push_back({"WinogradInput", op_kind::anchor, detail::infer_winograd_input,
                detail::emit_winograd_input, "tilewright"});
  to.push_back({"WinogradOutput", op_kind::anchor, detail::infer_winograd_output,
                detail::emit_winograd_output, "tilewright"});
}

}  // namespace tilewright::network
