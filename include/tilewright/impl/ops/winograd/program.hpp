// A program with the sum of a convolution by Winograd's algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/expr/reified/footprint.hpp>
#include <tilewright/impl/ops/winograd/sums.hpp>
#include <tilewright/impl/ops/winograd/transform.hpp>
#include <tilewright/impl/ops/winograd/window_sum.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ops::detail {

/// Writes the blocks, which take the place of the one with the sum, and of the border around its image:
///
///     image[n, h, w, c]                 with borders of zeros, as far as tiles reach
///     rows[n, u, i, w, c]               = sum over h of B[i, h] image[n, m u + h, w, c]
///     tiles[i, j, n, u, v, c]           = sum over w of B[j, w] rows[n, u, i, m v + w, c]
///     products[i, j, n, u, v, k]        = sum over c of tiles[i, j, n, u, v, c] F'[i, j, c, k]
///     columns[n, u, a, v, j, k]         = sum over i of A[a, i] products[i, j, n, u, v, k]
///     result[n, m u + a, m v + b, k]    = sum over j of A[b, j] columns[n, u, a, v, j, k]
///
/// The filter is transformed in f64 and rounded once.
class winograd_program {
 public:
  /// @param padding the block that writes the image, where it is a copy with borders; may be null
  winograd_program(const ir::function& f, const window_sum& sum, const ir::block_node* padding,
                   std::int64_t tile)
      : f_(f),
        sum_(sum),
        padding_(padding),
        t_(transform_of_tile(tile)),
        type_(sum.result->type),
        index_(sum.result->shape[0].type()) {}

  /// @param at the child of the root that the blocks take the place of
  ir::function make(const std::vector<ir::stmt>& children, std::size_t at) {
    const ir::block& root = ir::root_block(f_);
    write();
    std::vector<ir::stmt> all(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(at));
    for (ir::stmt& s : blocks_) all.push_back(std::move(s));
    all.insert(all.end(), children.begin() + static_cast<std::ptrdiff_t>(at) + 1, children.end());
    ir::block_node b = *root;
    if (padding_) drop_padding(all, b.alloc_buffers);
    b.alloc_buffers.insert(b.alloc_buffers.end(), temps_.begin(), temps_.end());
    b.body = ir::make_seq(std::move(all));
    ir::function out = f_;
    out.name = f_.name + "_winograd_" + std::to_string(t_.tile);
    out.body = ir::make_realize({}, ir::boolean(true), ir::make_block(std::move(b)));
    return out;
  }

 private:
  using indices = std::vector<ir::expr>;

  ir::expr number(std::int64_t n) const { return ir::integer(index_, n); }
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  ir::buffer temp(const std::string& name, dtype type, const std::vector<std::int64_t>& extents) {
    indices shape;
    for (const std::int64_t e : extents) shape.push_back(number(e));
    temps_.push_back(ir::make_buffer(sum_.result->name + "_" + name, type, std::move(shape)));
    return temps_.back();
  }

  struct axis {
    const char* name;
    std::int64_t extent;
    ir::iter_kind kind = ir::iter_kind::spatial;
  };

  /// A nest of loops over `axes` around a block that stores `value` of their variables.
  template <class Place, class Value>
  void block(const ir::buffer& to, const std::vector<axis>& axes, const Place& place,
             const Value& value, bool sums = false, ir::annotations notes = {}) {
    ir::block_node b;
    b.name = to->name;
    indices vars, loops;
    for (const axis& a : axes) {
      vars.push_back(ir::make_var("v" + std::string(a.name), index_));
      loops.push_back(ir::make_var(a.name, index_));
      b.iters.push_back({vars.back(), {number(0), number(a.extent)}, a.kind});
    }
    const indices where = place(vars);
    const ir::expr what = value(vars);
    b.reads = dsl::footprint({what});
    b.writes = {{to, ir::point_box(where)}};
    b.body = ir::make_store(to, where, sums ? ir::load(to, where) + what : what);
    if (sums) b.init = ir::make_store(to, where, ir::real(type_, 0));
    b.annotations = std::move(notes);
    ir::stmt out = ir::make_realize(loops, ir::boolean(true), ir::make_block(std::move(b)));
    for (std::size_t k = axes.size(); k-- > 0;)
      out = ir::make_loop(loops[k], number(0), number(axes[k].extent), std::move(out));
    blocks_.push_back(std::move(out));
  }
  /// The same at the variables themselves.
  template <class Value>
  void block(const ir::buffer& to, const std::vector<axis>& axes, const Value& value) {
    block(
        to, axes, [](const indices& v) { return v; }, value);
  }

  /// The element of the image that the first window of result [n, h, w] begins with, c of its channels.
  ir::expr image_element(const ir::expr& n, const ir::expr& h, const ir::expr& w,
                         const ir::expr& c) const {
    indices at(4);
    at[sum_.image_at[0]] = n;
    at[sum_.image_at[1]] = h + number(sum_.begin[0]);
    at[sum_.image_at[2]] = w + number(sum_.begin[1]);
    at[sum_.image_at[3]] = c;
    if (!padding_) return ir::load(sum_.image, at);
    const ir::store_node& store = *ir::as_store(padding_->body);
    ir::var_map map;
    for (std::size_t d = 0; d < 4; ++d) map[store.indices[d]] = at[d];
    return ir::substitute(store.value, map);
  }

  void write() {
    const std::int64_t m = t_.tile, n = t_.points();
    const std::int64_t batch = sum_.extent(sum_.result, sum_.result_at[0]),
                       p = sum_.extent(sum_.result, sum_.result_at[1]),
                       q = sum_.extent(sum_.result, sum_.result_at[2]),
                       outputs = sum_.extent(sum_.result, sum_.result_at[3]),
                       channels = sum_.extent(sum_.filter, sum_.filter_at[2]);
    const std::int64_t down = (p + m - 1) / m, across = (q + m - 1) / m;
    const std::int64_t high = down * m + 2, wide = across * m + 2;
    const ir::buffer image = temp("image", type_, {batch, high, wide, channels});
    block(image, {{"n", batch}, {"h", high}, {"w", wide}, {"c", channels}}, [&](const indices& v) {
      ir::expr inside = ir::boolean(true);
      if (high > p + 2) inside = ir::logical_and(inside, ir::lt(v[1], number(p + 2)));
      if (wide > q + 2) inside = ir::logical_and(inside, ir::lt(v[2], number(q + 2)));
      const ir::expr x = image_element(v[0], v[1], v[2], v[3]);
      return ir::if_then_else(inside, x, ir::real(type_, 0));
    });
    const ir::buffer rows = temp("rows", type_, {batch, down, n, wide, channels});
    block(rows, {{"n", batch}, {"u", down}, {"i", n}, {"w", wide}, {"c", channels}},
          [&](const indices& v) {
            return one_of(v[2], size(n), [&](std::size_t i) {
              return sum_by_parity(&t_.b[i * size(n)], size(n), type_, [&](std::size_t k) {
                const ir::expr h = v[1] * number(m) + number(static_cast<std::int64_t>(k));
                return ir::load(image, {v[0], h, v[3], v[4]});
              });
            });
          });
    const ir::buffer tiles = temp("tiles", type_, {n, n, batch, down, across, channels});
    block(tiles, {{"i", n}, {"j", n}, {"n", batch}, {"u", down}, {"v", across}, {"c", channels}},
          [&](const indices& v) {
            return one_of(v[1], size(n), [&](std::size_t j) {
              return sum_by_parity(&t_.b[j * size(n)], size(n), type_, [&](std::size_t k) {
                const ir::expr w = v[4] * number(m) + number(static_cast<std::int64_t>(k));
                return ir::load(rows, {v[2], v[3], v[0], w, v[5]});
              });
            });
          });
    const ir::buffer filter = write_filter(n, channels, outputs);
    const ir::buffer products = temp("products", type_, {n, n, batch, down, across, outputs});
    block(
        products,
        {{"i", n},
         {"j", n},
         {"n", batch},
         {"u", down},
         {"v", across},
         {"k", outputs},
         {"c", channels, ir::iter_kind::reduce}},
        [](const indices& v) { return indices(v.begin(), v.end() - 1); },
        [&](const indices& v) {
          return ir::load(tiles, {v[0], v[1], v[2], v[3], v[4], v[6]}) *
                 ir::load(filter, {v[0], v[1], v[6], v[5]});
        },
        true, {{ir::tile_note, ir::attr(m)}});
    const ir::buffer columns = temp("columns", type_, {batch, down, m, across, n, outputs});
    block(columns, {{"n", batch}, {"u", down}, {"a", m}, {"v", across}, {"j", n}, {"k", outputs}},
          [&](const indices& v) {
            return one_of(v[2], size(m), [&](std::size_t a) {
              return sum_by_pairs(&t_.a[a * size(n)], size(n), type_, [&](std::size_t i) {
                const ir::expr row = number(static_cast<std::int64_t>(i));
                return ir::load(products, {row, v[4], v[0], v[1], v[3], v[5]});
              });
            });
          });
    write_result(columns, batch, p, q, outputs);
  }

  /// F'[i, j, c, k] of F[r, s, c, k], first along r.
  ir::buffer write_filter(std::int64_t n, std::int64_t channels, std::int64_t outputs) {
    const dtype wide = dtype::f64;
    const ir::buffer half = temp("filter_rows", wide, {n, 3, channels, outputs});
    const auto element = [&](const ir::expr& r, const ir::expr& s, const ir::expr& c,
                             const ir::expr& k) {
      indices at(4);
      at[sum_.filter_at[0]] = r;
      at[sum_.filter_at[1]] = s;
      at[sum_.filter_at[2]] = c;
      at[sum_.filter_at[3]] = k;
      return ir::cast(dtype::f64, ir::load(sum_.filter, at));
    };
    block(half, {{"i", n}, {"s", 3}, {"c", channels}, {"k", outputs}}, [&](const indices& v) {
      return one_of(v[0], size(n), [&](std::size_t i) {
        return sum_by_parity(&t_.g[i * 3], 3, wide, [&](std::size_t r) {
          return element(number(static_cast<std::int64_t>(r)), v[1], v[2], v[3]);
        });
      });
    });
    const ir::buffer filter = temp("filter", type_, {n, n, channels, outputs});
    block(filter, {{"i", n}, {"j", n}, {"c", channels}, {"k", outputs}}, [&](const indices& v) {
      return ir::cast(type_, one_of(v[1], size(n), [&](std::size_t j) {
                        return sum_by_parity(&t_.g[j * 3], 3, wide, [&](std::size_t s) {
                          const ir::expr at = number(static_cast<std::int64_t>(s));
                          return ir::load(half, {v[0], at, v[2], v[3]});
                        });
                      }));
    });
    return filter;
  }

  /// Channels last, and where the result is not, copied from there.
  void write_result(const ir::buffer& columns, std::int64_t batch, std::int64_t p, std::int64_t q,
                    std::int64_t outputs) {
    const std::int64_t m = t_.tile, n = t_.points();
    const bool in_order = sum_.result_at == std::array<std::size_t, 4>{0, 1, 2, 3};
    const ir::buffer to = in_order ? sum_.result : temp("last", type_, {batch, p, q, outputs});
    block(to, {{"n", batch}, {"p", p}, {"q", q}, {"k", outputs}}, [&](const indices& v) {
      return one_of(ir::floormod(v[2], number(m)), size(m), [&](std::size_t b) {
        return sum_by_pairs(&t_.a[b * size(n)], size(n), type_, [&](std::size_t j) {
          return ir::load(
              columns, {v[0], ir::floordiv(v[1], number(m)), ir::floormod(v[1], number(m)),
                        ir::floordiv(v[2], number(m)), number(static_cast<std::int64_t>(j)), v[3]});
        });
      });
    });
    if (in_order) return;
    // loops in the order of the result, so that it is written as it lies in memory
    const axis last[] = {{"n", batch}, {"p", p}, {"q", q}, {"k", outputs}};
    std::vector<axis> axes(4, last[0]);
    for (std::size_t d = 0; d < 4; ++d) axes[sum_.result_at[d]] = last[d];
    block(sum_.result, axes, [&](const indices& v) {
      indices at;
      for (const std::size_t d : sum_.result_at) at.push_back(v[d]);
      return ir::load(to, at);
    });
  }

  /// The border goes where nothing else reads it.
  void drop_padding(std::vector<ir::stmt>& all, std::vector<ir::buffer>& allocated) const {
    const auto reads = [&](const ir::stmt& s) {
      bool out = false;
      ir::for_each_expr(s, [&](const ir::expr& e) {
        out = out || (e->op == ir::op::load && e->buffer == sum_.image);
      });
      return out;
    };
    const auto writes = [&](const ir::stmt& s) {
      return ir::any_stmt(s, [&](const ir::stmt& x) {
        const ir::store_node* store = ir::as_store(x);
        return store && store->buffer == sum_.image;
      });
    };
    if (support::any(all, reads)) return;
    std::erase_if(all, writes);
    std::erase(allocated, sum_.image);
  }

  const ir::function& f_;
  const window_sum& sum_;
  const ir::block_node* padding_;
  winograd_transform t_;
  dtype type_, index_;
  std::vector<ir::buffer> temps_;
  std::vector<ir::stmt> blocks_;
};

}  // namespace tilewright::ops::detail
