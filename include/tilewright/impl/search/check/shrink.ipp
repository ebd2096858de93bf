#pragma once

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/region.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/check/proof.hpp>
#include <tilewright/search/check/shrink.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

class shrinker {
 public:
  shrinker(const std::function<ir::function(const extent_map&)>& make, extent_map extents)
      : make_(make), now_(std::move(extents)) {}

  /// Brings every extent that allows it to at most `size`; false when the attempts are used up.
  void reduce(std::int64_t size) {
    for (const std::string& name : largest_first()) {
      if (now_[name] <= size || alone(name, size)) continue;
      for (const std::string& other : largest_first())
        if (other != name && with(name, other, size)) break;
    }
  }

  std::optional<ir::function> function;  // of the extents reached, once something was reduced

 private:
  static constexpr int most_attempts = 800;

  std::vector<std::string> largest_first() const {
    std::vector<std::string> out;
    for (const auto& [name, extent] : now_) out.push_back(name);
    support::stable_sort(out, [&](const std::string& a, const std::string& b) {
      return now_.find(a)->second > now_.find(b)->second;
    });
    return out;
  }

  bool attempt(const extent_map& wanted) {
    if (++attempts_ > most_attempts) return false;
    try {
      function = make_(wanted);
      now_ = wanted;
      return true;
    } catch (const argument_error&) {
      return false;
    }
  }

  bool alone(const std::string& name, std::int64_t size) {
    extent_map wanted = now_;
    wanted[name] = size;
    return attempt(wanted);
  }

  /// The other extent is not larger than some multiple of this one, so the smallest that fits is near.
  bool with(const std::string& name, const std::string& other, std::int64_t size) {
    extent_map wanted = now_;
    wanted[name] = size;
    const std::int64_t most = std::min(now_[other], 4 * size + 16);
    for (wanted[other] = 1; wanted[other] <= most; ++wanted[other])
      if (attempt(wanted)) return true;
    return false;
  }

  const std::function<ir::function(const extent_map&)>& make_;
  extent_map now_;
  int attempts_ = 0;
};

/// Loops and iteration domains over at most `most` values.
class domain_shrinker : public ir::mutator {
 public:
  explicit domain_shrinker(std::int64_t most) : most_(most) {}
  using mutator::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    if (const auto* loop = ir::as_loop(s)) {
      auto* out = new ir::loop_node(*loop);
      const ir::stmt changed(out);
      out->extent = smaller(loop->extent);
      around_.emplace_back(loop->var, ir::range{loop->min, out->extent});
      out->body = mutate(loop->body);
      around_.pop_back();
      return changed;
    }
    if (const auto* realize = ir::as_realize(s)) {
      auto* out = new ir::block_realize_node(*realize);
      const ir::stmt changed(out);
      ir::block_node block = *realize->block;
      arith::loop_domains domains;
      for (std::size_t i = 0; i < block.iters.size(); ++i) {
        ir::range& dom = block.iters[i].dom;
        dom.extent = reached(dom, realize->values[i]);
        domains.emplace_back(block.iters[i].var, dom);
      }
      std::swap(around_, domains);
      out->block = mutator::mutate(ir::make_block(std::move(block)));
      std::swap(around_, domains);
      return changed;
    }
    return mutator::mutate(s);
  }

 private:
  ir::expr smaller(const ir::expr& extent) const {
    if (!ir::is_int(extent) || ir::as_int(extent) <= most_) return extent;
    return ir::integer(extent.type(), most_);
  }
  /// The extent of a domain whose variable is bound to `value` in the loops around.
  ir::expr reached(const ir::range& dom, const ir::expr& value) const {
    const ir::expr last = arith::bound_over(value, around_, {}).hi;
    if (!last || !ir::is_int(last) || !ir::is_int(dom.min) || !ir::is_int(dom.extent))
      return dom.extent;
    const std::int64_t extent = ir::as_int(last) - ir::as_int(dom.min) + 1;
    return ir::integer(dom.extent.type(),
                       std::clamp<std::int64_t>(extent, 1, ir::as_int(dom.extent)));
  }

  std::int64_t most_;
  arith::loop_domains around_;
};

/// Buffers as large as what is accessed of them in `body`.
inline ir::buffer_map reached_buffers(const ir::stmt& body) {
  std::vector<ir::buffer_region> all;
  arith::access_regions(body, all, all);
  std::unordered_map<ir::buffer, std::vector<std::int64_t>> reach;
  for (const ir::buffer_region& r : all) {
    std::vector<std::int64_t>& of = reach[r.buffer];
    of.resize(r.box.size(), 1);
    for (std::size_t d = 0; d < r.box.size(); ++d) {
      const ir::range& side = r.box[d];
      const bool known = ir::is_int(side.min) && ir::is_int(side.extent);
      of[d] = std::max(of[d], known ? ir::as_int(side.min) + ir::as_int(side.extent)
                                    : std::numeric_limits<std::int64_t>::max());
    }
  }
  ir::buffer_map out;
  for (const auto& [buffer, extents] : reach) {
    auto* node = new ir::buffer_node(*buffer);
    out[buffer] = ir::buffer(node);
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (ir::is_int(node->shape[d]) && extents[d] < ir::as_int(node->shape[d]))
        node->shape[d] = ir::integer(node->shape[d].type(), extents[d]);
  }
  return out;
}

/// Nothing where a buffer is laid out in a way that depends on its extents.
inline std::optional<ir::function> with_domains(const ir::function& f, std::int64_t most) {
  ir::function out = f;
  out.body = domain_shrinker(most).mutate(f.body);
  const auto* root = ir::as_realize(out.body);
  const ir::buffer_map buffers = reached_buffers(root ? root->block->body : out.body);
  for (const auto& [old, fresh] : buffers)
    if (!old->strides.empty() || old->elem_offset) return std::nullopt;
  out.body = ir::replace_buffers(out.body, buffers);
  for (ir::param& p : out.params)
    if (const auto at = buffers.find(p.buffer); p.buffer && at != buffers.end())
      p.buffer = at->second;
  ir::verify(out);
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::optional<ir::function> shrink(const ir::function& f, double work) {
  for (const std::int64_t most : {19, 11, 7, 5, 3, 2}) {
    try {
      const std::optional<ir::function> small = detail::with_domains(f, most);
      if (!small) return std::nullopt;
      if (work_of(*small) > work) continue;
      if (compare_exactly(*small, *small, 1).is == exact_comparison::result::equal) return small;
    } catch (const error&) {
    }
    return std::nullopt;
  }
  return std::nullopt;
}

TILEWRIGHT_INLINE std::optional<ir::function> shrink(
    const std::function<ir::function(const extent_map&)>& make, extent_map extents, double work) {
  detail::shrinker s(make, std::move(extents));
  for (const std::int64_t size : {19, 11, 7, 5, 3, 2}) {
    s.reduce(size);
    if (s.function && work_of(*s.function) <= work) return s.function;
  }
  return std::nullopt;
}

}  // namespace tilewright::search
