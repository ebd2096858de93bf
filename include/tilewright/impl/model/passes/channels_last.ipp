#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/model/passes/permuted.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/model/passes.hpp>

namespace tilewright::network {
namespace detail {

/// Rewrites the nodes in their order; a value has a form with channels first, one with channels
/// last, or both.
class channels_last_rewriter {
 public:
  explicit channels_last_rewriter(graph& g) : g_(g) {}

  void run() {
    std::vector<node> nodes = std::move(g_.nodes);
    g_.nodes.clear();
    for (node& n : nodes) {
      if (works_on_images(n))
        rewrite_image_node(n);
      else if (goes_along(n))
        rewrite_elementwise(n);
      else
        keep(n);
    }
    for (const value_id v : g_.outputs) first_form(v);
  }

 private:
  static bool works_on_images(const node& n) {
    static const char* const names[] = {"Conv",
                                        "MaxPool",
                                        "AveragePool",
                                        "GlobalAveragePool",
                                        "GlobalMaxPool",
                                        "LRN",
                                        "BatchNormalization",
                                        "InstanceNormalization",
                                        "GroupNormalization"};
    return n.domain.empty() &&
           std::find(std::begin(names), std::end(names), n.op) != std::end(names);
  }

  bool is_image(value_id v) const {
    return v != no_value && g_.type_of(v).extents.size() >= 3 && g_.type_of(v).extents.size() <= 5;
  }

  /// N, C, space... to N, space..., C.
  static std::vector<std::size_t> to_last(std::size_t rank) {
    std::vector<std::size_t> p{0};
    for (std::size_t d = 2; d < rank; ++d) p.push_back(d);
    p.push_back(1);
    return p;
  }
  static std::vector<std::size_t> to_first(std::size_t rank) {
    std::vector<std::size_t> p{0, rank - 1};
    for (std::size_t d = 1; d + 1 < rank; ++d) p.push_back(d);
    return p;
  }
  static shape permuted_shape(const shape& s, const std::vector<std::size_t>& p) {
    shape out;
    for (const std::size_t d : p) out.push_back(s[d]);
    return out;
  }

  /// Everything that an elementwise operator or a concatenation reads can have channels last, and
  /// something has.
  bool goes_along(const node& n) const {
    const operator_definition* op = find_operator(n);
    const bool concat = n.op == "Concat" && n.domain.empty();
    if (!op || (op->kind != op_kind::elementwise && !concat)) return false;
    if (n.outputs.size() != 1 || !is_image(n.outputs[0])) return false;
    const std::size_t rank = g_.type_of(n.outputs[0]).extents.size();
    bool some = false;
    for (const value_id v : n.inputs) {
      if (v == no_value) continue;
      some = some || last_.count(v) > 0;
      const bool constant_fits = g_.at(v).data && g_.type_of(v).extents.size() <= rank;
      if (g_.type_of(v).extents.size() != rank && !constant_fits) return false;
    }
    return some;
  }

  void rewrite_image_node(node n) {
    if (n.outputs.size() != 1 || !is_image(n.inputs[0])) return keep(n);
    n.inputs[0] = last_form(n.inputs[0]);
    if (n.op == "Conv") {
      const value& filter = g_.at(n.inputs[1]);
      const std::size_t rank = g_.type_of(n.inputs[1]).extents.size();
      std::vector<std::size_t> p;
      for (std::size_t d = 2; d < rank; ++d) p.push_back(d);
      p.push_back(1);
      p.push_back(0);
      n.inputs[1] = filter.data ? known_form(n.inputs[1], *filter.data, p)
                                : transposed(n.inputs[1], p, filter.name + ".last");
    }
    n.attributes["channels_last"] = std::int64_t{1};
    n.outputs[0] = make_last(n.outputs[0]);
    g_.nodes.push_back(std::move(n));
  }

  void rewrite_elementwise(node n) {
    const std::size_t rank = g_.type_of(n.outputs[0]).extents.size();
    if (n.op == "Concat") {
      const std::int64_t axis = n.integer("axis", 1);
      const auto a =
          static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
      n.attributes["axis"] = static_cast<std::int64_t>(a == 0 ? 0 : a == 1 ? rank - 1 : a - 1);
    }
    for (value_id& v : n.inputs) {
      if (v == no_value) continue;
      const std::optional<constant>& data = g_.at(v).data;
      if (data && data->type().elements() == 1) continue;
      if (data) {
        shape full(rank - data->type().extents.size(), 1);
        full.insert(full.end(), data->type().extents.begin(), data->type().extents.end());
        v = known_form(v, data->reshaped(full), to_last(rank));
      } else {
        v = last_form(v);
      }
    }
    n.outputs[0] = make_last(n.outputs[0]);
    g_.nodes.push_back(std::move(n));
  }

  void keep(node n) {
    for (const value_id v : n.inputs)
      if (v != no_value) first_form(v);
    g_.nodes.push_back(std::move(n));
  }

  /// A new value: the form of `v` with channels last.
  value_id make_last(value_id v) {
    const tensor_type& t = g_.type_of(v);
    value x;
    x.name = g_.at(v).name + ".last";
    x.type = tensor_type{t.type, permuted_shape(t.extents, to_last(t.extents.size()))};
    has_first_[v] = false;
    return last_[v] = g_.add(std::move(x));
  }

  value_id last_form(value_id v) {
    if (const auto at = last_.find(v); at != last_.end()) return at->second;
    const std::size_t rank = g_.type_of(v).extents.size();
    if (g_.at(v).data) return last_[v] = known_form(v, *g_.at(v).data, to_last(rank));
    return last_[v] = transposed(v, to_last(rank), g_.at(v).name + ".last");
  }

  /// Makes a value again as it was, where only its form with channels last exists.
  void first_form(value_id v) {
    const auto at = has_first_.find(v);
    if (at == has_first_.end() || at->second) return;
    at->second = true;
    const value_id last = last_.at(v);
    move(last, v, to_first(g_.type_of(v).extents.size()));
  }

  value_id transposed(value_id v, const std::vector<std::size_t>& p, const std::string& name) {
    const tensor_type& t = g_.type_of(v);
    value x;
    x.name = name;
    x.type = tensor_type{t.type, permuted_shape(t.extents, p)};
    const value_id out = g_.add(std::move(x));
    move(v, out, p);
    return out;
  }

  /// A node that makes `to` from `from`: a reshape where the elements stay in their order.
  void move(value_id from, value_id to, const std::vector<std::size_t>& p) {
    node n;
    n.name = g_.at(to).name;
    n.version = 13;
    n.inputs = {from};
    n.outputs = {to};
    const shape& s = g_.type_of(from).extents;
    std::size_t last = 0;
    bool is_ordered = true;
    for (const std::size_t d : p)
      if (s[d] != 1) {
        is_ordered = is_ordered && d >= last;
        last = d;
      }
    if (is_ordered) {
      n.op = "Reshape";
      value target;
      target.name = n.name + ".shape";
      target.data = constant::of_integers(g_.type_of(to).extents);
      target.type = target.data->type();
      n.inputs.push_back(g_.add(std::move(target)));
    } else {
      n.op = "Transpose";
      n.attributes["perm"] = std::vector<std::int64_t>(p.begin(), p.end());
    }
    g_.nodes.push_back(std::move(n));
  }

  value_id known_form(value_id v, const constant& c, const std::vector<std::size_t>& p) {
    const auto [at, is_new] = known_.emplace(std::pair(v, p), no_value);
    if (!is_new) return at->second;
    value x;
    x.name = g_.at(v).name + ".last";
    x.data = permuted(c, p);
    x.type = x.data->type();
    return at->second = g_.add(std::move(x));
  }

  graph& g_;
  std::map<value_id, value_id> last_;
  std::map<value_id, bool> has_first_;  // of values that nodes made with channels last
  std::map<std::pair<value_id, std::vector<std::size_t>>, value_id> known_;
};

}  // namespace detail

TILEWRIGHT_INLINE void channels_last(graph& g) { detail::channels_last_rewriter(g).run(); }

}  // namespace tilewright::network
