#pragma once

#include <algorithm>

#include <tilewright/model/node_view.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE const tensor_type& node_view::in(std::size_t k) const {
  if (!node_->has_input(k)) fail("input " + std::to_string(k) + " is missing");
  return graph_->type_of(node_->inputs[k]);
}

TILEWRIGHT_INLINE const constant* node_view::known(std::size_t k) const {
  if (!node_->has_input(k)) return nullptr;
  const std::optional<constant>& data = graph_->at(node_->inputs[k]).data;
  return data ? &*data : nullptr;
}

TILEWRIGHT_INLINE std::vector<std::int64_t> node_view::numbers(std::size_t k) const {
  in(k);  // it is there
  const constant* c = known(k);
  if (!c)
    fail(
        "input " + std::to_string(k) + ", value \"" + graph_->at(node_->inputs.at(k)).name +
        "\", depends on the arguments of a call; shapes have to be known when the model is loaded: "
        "bind the extents they come from");
  if (!is_integer(c->type().type)) fail("input " + std::to_string(k) + " is not of integers");
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < c->type().elements(); ++i) out.push_back(c->integer(i));
  return out;
}

TILEWRIGHT_INLINE std::vector<std::int64_t> node_view::list(
    std::size_t k, std::string_view attribute_name, std::vector<std::int64_t> otherwise) const {
  if (node_->has_input(k)) return numbers(k);
  return node_->integers(attribute_name, std::move(otherwise));
}

TILEWRIGHT_INLINE std::size_t node_view::dimension(std::int64_t axis, std::size_t rank_of) const {
  const auto r = static_cast<std::int64_t>(rank_of);
  if (axis < -r || axis >= r)
    fail("axis " + std::to_string(axis) + " is not one of " + std::to_string(r) + " dimensions");
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

TILEWRIGHT_INLINE std::vector<std::size_t> node_view::dimensions(
    const std::vector<std::int64_t>& list, std::size_t rank_of) const {
  std::vector<std::size_t> out;
  for (const std::int64_t a : list) out.push_back(dimension(a, rank_of));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) fail("an axis is listed twice");
  return out;
}

TILEWRIGHT_INLINE void inference::out(std::size_t k, tensor_type type) {
  if (!what().has_output(k)) return;
  if (type.extents.size() > 8)
    fail("its output has " + std::to_string(type.extents.size()) + " dimensions; 8 are the most");
  std::int64_t size = tilewright::bytes(type.type);
  for (const std::int64_t e : type.extents) {
    if (e < 0) fail("its output would have the shape " + text_of(type.extents));
    if (__builtin_mul_overflow(size, std::max<std::int64_t>(e, 1), &size) || size > std::int64_t{1}
                                                                                        << 46)
      fail("its output has more elements than memory: " + text_of(type.extents));
  }
  graph_->at(what().outputs[k]).type = std::move(type);
}

TILEWRIGHT_INLINE void inference::out(std::size_t k, constant elements) {
  if (!what().has_output(k)) return;
  out(k, elements.type());
  graph_->at(what().outputs[k]).data = std::move(elements);
}

TILEWRIGHT_INLINE shape broadcast(const node_view& n, const shape& a, const shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  shape out(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const std::int64_t y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1)
      n.fail("shapes " + text_of(a) + " and " + text_of(b) + " do not go together");
    out[d] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace tilewright::network
