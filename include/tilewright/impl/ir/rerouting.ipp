#pragma once

#include <utility>

#include <tilewright/ir/rerouting.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE expr rerouting::mutate(const expr& e) {
  if (e->op != op::load || !reroutes(e->buffer)) return mutator::mutate(e);
  buffer_element now = rerouted(e->buffer, all_mutated(e->args));
  return load(now.of, std::move(now.indices));
}

TILEWRIGHT_INLINE stmt rerouting::mutate(const stmt& s) {
  const store_node* store = as_store(s);
  if (!store || !reroutes(store->buffer)) return mutator::mutate(s);
  buffer_element now = rerouted(store->buffer, all_mutated(store->indices));
  return make_store(std::move(now.of), std::move(now.indices), mutate(store->value));
}

TILEWRIGHT_INLINE block rerouting::mutate(const block& b) {
  const block inner = mutator::mutate(b);  // the boxes of regions may load too
  block_node out = *inner;
  bool changed = false;
  const auto reroute_region = [&](const buffer_region& before, buffer_region& r) {
    if (!reroutes(before.buffer)) return;
    r = rerouted_region({before.buffer, std::move(r.box)});
    changed = true;
  };
  for (std::size_t i = 0; i < out.reads.size(); ++i) reroute_region(b->reads[i], out.reads[i]);
  for (std::size_t i = 0; i < out.writes.size(); ++i) reroute_region(b->writes[i], out.writes[i]);
  for (std::size_t i = 0; i < out.match_buffers.size(); ++i)
    reroute_region(b->match_buffers[i].source, out.match_buffers[i].source);
  return changed ? make_block(std::move(out)) : inner;
}

TILEWRIGHT_INLINE buffer_region rerouting::rerouted_region(buffer_region r) {
  std::vector<expr> first;
  first.reserve(r.box.size());
  for (const range& side : r.box) first.push_back(side.min);
  buffer_element now = rerouted(r.buffer, std::move(first));
  for (std::size_t d = 0; d < r.box.size(); ++d) r.box[d].min = std::move(now.indices[d]);
  return {std::move(now.of), std::move(r.box)};
}

TILEWRIGHT_INLINE std::vector<expr> rerouting::all_mutated(const std::vector<expr>& list) {
  std::vector<expr> out;
  out.reserve(list.size());
  for (const expr& e : list) out.push_back(mutate(e));
  return out;
}

namespace detail {

class rerouting_of_one : public rerouting {
 public:
  rerouting_of_one(const buffer& from, const buffer& to,
                   support::function_ref<std::vector<expr>(std::vector<expr>)> indices)
      : from_(from), to_(to), indices_(indices) {}

 private:
  bool reroutes(const buffer& b) const override { return b == from_; }
  buffer_element rerouted(const buffer&, std::vector<expr> indices) override {
    return {to_, indices_(std::move(indices))};
  }

  const buffer &from_, &to_;
  support::function_ref<std::vector<expr>(std::vector<expr>)> indices_;
};

}  // namespace detail

TILEWRIGHT_INLINE stmt
reroute(const stmt& s, const buffer& from, const buffer& to,
        support::function_ref<std::vector<expr>(std::vector<expr>)> indices) {
  return detail::rerouting_of_one(from, to, indices).mutate(s);
}

}  // namespace tilewright::ir
