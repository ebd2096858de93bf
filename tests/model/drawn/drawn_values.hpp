// A graph in the making: its values, what is known of their sizes, and numbers drawn from a seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/support/random.hpp>

#include "model/written_graph.hpp"

namespace network_tests {

class drawn_values {
 protected:
  explicit drawn_values(std::uint64_t seed) : random_(seed) {}

  struct drawn {
    network::value_id id;
    network::tensor_type type;
    double bound;   // no element is larger
    bool is_exact;  // free of rounding errors
    bool is_float() const { return tilewright::is_float(type.type); }
    std::size_t rank() const { return type.extents.size(); }
  };
  using number_list = std::vector<std::int64_t>;

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.next() % n); }
  std::int64_t between(std::int64_t a, std::int64_t b) {
    return a + static_cast<std::int64_t>(below(static_cast<std::size_t>(b - a + 1)));
  }
  bool is_read(network::value_id v) const {
    for (const network::node& n : w_.g.nodes)
      for (const network::value_id i : n.inputs)
        if (i == v) return true;
    return false;
  }

  // ---- building ----

  drawn add_known(network::value_id id, network::tensor_type t, double bound, bool is_exact) {
    values_.push_back({id, std::move(t), bound, is_exact});
    return values_.back();
  }
  /// Types of a node's outputs, found out on a graph of that node alone.
  std::vector<network::tensor_type> types_of(const network::node& n) const {
    network::graph alone;
    network::node copy = n;
    for (network::value_id& v : copy.inputs)
      if (v != network::no_value) {
        network::value x = w_.g.at(v);
        if (!x.type)
          for (const drawn& d : values_)
            if (d.id == v) x.type = d.type;
        v = alone.add(x);
      }
    for (network::value_id& v : copy.outputs) v = alone.add(w_.g.at(v));
    const std::vector<network::value_id> outputs = copy.outputs;
    alone.nodes.push_back(std::move(copy));
    network::infer_types(alone);
    std::vector<network::tensor_type> out;
    for (const network::value_id v : outputs) out.push_back(alone.type_of(v));
    return out;
  }
  drawn make(const std::string& op, const std::vector<network::value_id>& inputs, double bound,
             bool is_exact, attribute_map attributes = {}) {
    const network::value_id v = w_.add(op, inputs, std::move(attributes));
    w_.g.nodes.back().version = 21;
    return limited(add_known(v, types_of(w_.g.nodes.back())[0], bound, is_exact));
  }
  /// Large values are scaled down.
  drawn limited(const drawn& d) {
    if (d.bound <= 64 || !d.is_float()) return d;
    const network::value_id v = w_.add("Mul", {d.id, scalar(d.type.type, 1 / d.bound)});
    return add_known(v, d.type, 1, false);
  }
  network::value_id scalar(dtype t, double x) {
    return w_.known(network::detail::filled({t, {}}, x, static_cast<std::int64_t>(x)));
  }
  network::value_id integers(const number_list& l) {
    return w_.known(network::constant::of_integers(l));
  }
  /// Eighths of absolute value up to 1, or integers up to 3.
  network::value_id numbers(dtype t, const network::shape& s, double least = -1) {
    auto [c, data] = network::constant::make({t, s});
    for (std::int64_t k = 0; k < c.type().elements(); ++k)
      network::detail::store_number(data, t, k,
                                    std::max(least, static_cast<double>(between(-8, 8)) / 8),
                                    t == dtype::boolean ? between(0, 1) : between(-3, 3));
    return w_.known(c);
  }
  /// Late values more often, so that chains become long.
  drawn pick() {
    return values_[values_.size() - 1 - std::min(below(values_.size()), below(values_.size()))];
  }
  drawn pick_float() {
    for (int k = 0; k < 8; ++k) {
      const drawn d = pick();
      if (d.is_float()) return d;
    }
    return values_[0];
  }

  /// A shape that is broadcast to s.
  network::shape narrower(network::shape s) {
    for (std::int64_t& e : s)
      if (below(3) == 0) e = 1;
    if (below(2) == 0 && !s.empty())
      s.erase(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(below(s.size())));
    return s;
  }
  /// Another value of the same type and extents, or a constant that is broadcast.
  drawn partner(const drawn& x, double least = -1) {
    for (int k = 0; k < 4; ++k) {
      const drawn d = pick();
      if (d.type == x.type && least < 0) return d;
    }
    const network::shape s = narrower(x.type.extents);
    return {numbers(x.type.type, s, least), {x.type.type, s}, 1, true};
  }
  network::value_id integers_scalar(std::int64_t x) {
    return w_.known(network::constant::of_integers({x}).reshaped({}));
  }

  support::random random_;
  written_graph w_;
  std::vector<drawn> values_;
};

}  // namespace network_tests
