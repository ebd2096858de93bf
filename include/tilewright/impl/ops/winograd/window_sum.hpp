// The convolution in a program: a sum of products of windows of an image with a filter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ops::detail {

/// result[n, p, q, k] += image[n, p + r + begin, q + s + begin, c] * filter[r, s, c, k], the dimensions of
/// each in an order of its own.
struct window_sum {
  ir::buffer image, filter, result;
  std::array<std::size_t, 4> image_at{};   // dimensions of n, h, w and c
  std::array<std::size_t, 4> filter_at{};  // of r, s, c and k
  std::array<std::size_t, 4> result_at{};  // of n, p, q and k
  std::array<std::int64_t, 2> begin{};     // elements
  std::int64_t extent(const ir::buffer& b, std::size_t dimension) const {
    return ir::as_int(b->shape[dimension]);
  }
};

/// A block that was looked at, and the first thing that keeps it from being a window sum.
struct window_finding {
  std::optional<window_sum> sum;
  std::string why, remedy;  // of one that is none
  int requirement = 1;      // of ops::with_winograd
};

class window_finder {
 public:
  explicit window_finder(const ir::block_node& block) : block_(block) {}

  window_finding find() {
    const ir::store_node* store = ir::as_store(block_.body);
    const ir::store_node* first = ir::as_store(block_.init);
    if (!store || !first || store->value->op != ir::op::add) return no_sum();
    if (first->value->op != ir::op::real || first->value->real != 0) return no_sum();
    const ir::expr &sum = store->value->args[0], &term = store->value->args[1];
    if (sum->op != ir::op::load || sum->buffer != store->buffer || term->op != ir::op::mul)
      return no_sum();
    const ir::expr *x = &term->args[0], *f = &term->args[1];
    if ((*x)->op != ir::op::load || (*f)->op != ir::op::load) {
      const bool converts = (*x)->op == ir::op::cast || (*f)->op == ir::op::cast;
      return converts ? refused(1, "converts its elements before it multiplies them",
                                "hand over an image and a filter of the type of the result")
                      : no_sum();
    }
    if (!has_windows(*x)) std::swap(x, f);
    if (!has_windows(*x)) return no_sum();
    out_.image = (*x)->buffer;
    out_.filter = (*f)->buffer;
    out_.result = store->buffer;
    if (store->buffer->type != dtype::f32 && store->buffer->type != dtype::f64)
      return refused(1, "computes in " + std::string(name(store->buffer->type)), "use f32 or f64");
    if ((*x)->args.size() != 4)
      return refused(1,
                     "has images of " + std::to_string((*x)->args.size() - 2) +
                         " dimensions beside batch and channels",
                     "give a one-dimensional convolution a height of 3 or call it without");
    if (window_finding bad = read_image(**x); !bad.why.empty()) return bad;
    if (!read_filter(**f) || !read_result(*store)) return no_sum();
    if (extent_of(window_[0]) != 3 || extent_of(window_[1]) != 3)
      return refused(2,
                     "has windows of " + std::to_string(extent_of(window_[0])) + " x " +
                         std::to_string(extent_of(window_[1])) +
                         ", and the algorithm is one for 3 x 3",
                     "call it without ops::winograd");
    return {out_, {}, {}};
  }

 private:
  static window_finding refused(int requirement, std::string why, std::string remedy) {
    return {std::nullopt, std::move(why), std::move(remedy), requirement};
  }
  static window_finding no_sum() {
    return refused(1, "has no sum of products of an image's windows with a filter",
                   "use ops::conv2d, ops::conv2d_bias or ops::conv2d_scale_shift");
  }

  const ir::iter_var* iter(const ir::expr& v) const {
    for (const ir::iter_var& i : block_.iters)
      if (i.var.same(v)) return &i;
    return nullptr;
  }
  std::int64_t extent_of(const ir::var& v) const {
    const ir::iter_var* i = iter(v);
    return i && ir::is_int(i->dom.extent) ? ir::as_int(i->dom.extent) : 0;
  }
  bool has_windows(const ir::expr& load) const {
    return support::any(load->args, [&](const ir::expr& e) {
      bool spatial = false, reduced = false;
      for (const ir::var& v : ir::free_vars(e)) {
        const ir::iter_var* i = iter(v);
        spatial = spatial || (i && i->kind == ir::iter_kind::spatial);
        reduced = reduced || (i && i->kind == ir::iter_kind::reduce);
      }
      return spatial && reduced;
    });
  }

  window_finding read_image(const ir::expr_node& load) {
    std::size_t windows = 0;
    for (std::size_t d = 0; d < load.args.size(); ++d) {
      const ir::detail::affine at = ir::detail::to_affine(load.args[d]);
      std::vector<const ir::iter_var*> of;
      for (const auto& term : at.terms) of.push_back(iter(term.first));
      if (support::any(of, [](const ir::iter_var* i) { return i == nullptr; }))
        return refused(5, "takes a channel of the image from a group",
                       "call it with groups without ops::winograd, or once for each group");
      if (of.size() == 1 && at.terms[0].second == 1 && at.constant == 0) {
        const bool reduced = of[0]->kind == ir::iter_kind::reduce;
        (reduced ? channel_ : batch_) = of[0]->var;
        out_.image_at[reduced ? 3 : 0] = d;
        continue;
      }
      if (of.size() != 2 || windows == 2 || of[0]->kind == of[1]->kind) return no_sum();
      const std::size_t p = of[0]->kind == ir::iter_kind::spatial ? 0 : 1;
      const std::int64_t stride = at.terms[p].second, dilation = at.terms[1 - p].second;
      if (stride != 1)
        return refused(3, "moves its windows in steps of " + std::to_string(stride),
                       "call it without ops::winograd, or with a stride of 1");
      if (dilation != 1)
        return refused(4, "has a dilation of " + std::to_string(dilation),
                       "call it without ops::winograd, or with a dilation of 1");
      place_[windows] = of[p]->var;
      window_[windows] = of[1 - p]->var;
      out_.begin[windows] = at.constant;
      out_.image_at[1 + windows++] = d;
    }
    if (windows != 2 || !channel_ || !batch_) return no_sum();
    return {};
  }

  bool read_filter(const ir::expr_node& load) {
    const ir::var known[] = {window_[0], window_[1], channel_};
    if (load.args.size() != 4) return false;
    std::array<bool, 4> found{};
    for (std::size_t d = 0; d < 4; ++d) {
      std::size_t which = 0;
      while (which < 3 && !load.args[d].same(known[which])) ++which;
      const ir::iter_var* i = iter(load.args[d]);
      if (!i || found[which] || (which == 3 && i->kind != ir::iter_kind::spatial)) return false;
      if (which == 3) output_ = i->var;
      out_.filter_at[which] = d;
      found[which] = true;
    }
    return true;
  }

  bool read_result(const ir::store_node& store) {
    const ir::var known[] = {batch_, place_[0], place_[1], output_};
    if (store.indices.size() != 4 || block_.iters.size() != 7) return false;
    for (std::size_t which = 0; which < 4; ++which) {
      std::size_t d = 0;
      while (d < 4 && !store.indices[d].same(known[which])) ++d;
      if (d == 4 || extent_of(known[which]) != out_.extent(store.buffer, d)) return false;
      out_.result_at[which] = d;
    }
    return true;
  }

  const ir::block_node& block_;
  window_sum out_;
  ir::var batch_, channel_, output_;
  std::array<ir::var, 2> place_, window_;
};

}  // namespace tilewright::ops::detail
