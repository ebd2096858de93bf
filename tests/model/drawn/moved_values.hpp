// Operators of a drawn graph that move elements and leave them as they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/drawn/drawn_values.hpp"

namespace network_tests {

class moved_values : protected drawn_values {
 protected:
  using drawn_values::drawn_values;

  void transposed(const drawn& x) {
    if (x.rank() < 2) return;
    number_list p;
    for (std::size_t d = 0; d < x.rank(); ++d) p.push_back(static_cast<std::int64_t>(d));
    for (std::size_t d = x.rank() - 1; d > 0; --d) std::swap(p[d], p[below(d + 1)]);
    make("Transpose", {x.id}, x.bound, x.is_exact, {{"perm", p}});
  }

  void reshaped(const drawn& x) {
    const network::shape& s = x.type.extents;
    switch (below(4)) {
      case 0:
        make("Flatten", {x.id}, x.bound, x.is_exact,
             {{"axis", between(0, static_cast<std::int64_t>(x.rank()))}});
        break;
      case 1:
        if (x.rank() < 5)
          make("Unsqueeze", {x.id, integers({between(0, static_cast<std::int64_t>(x.rank()))})},
               x.bound, x.is_exact);
        break;
      case 2: {
        if (x.rank() < 2) return;
        network::shape to = s;
        const std::size_t d = below(x.rank() - 1);
        to[d] *= to[d + 1];
        to.erase(to.begin() + static_cast<std::ptrdiff_t>(d) + 1);
        make("Reshape", {x.id, integers(to)}, x.bound, x.is_exact);
        break;
      }
      default: {
        if (x.rank() == 0 || x.rank() > 4) return;
        network::shape to = s;
        const std::size_t d = below(x.rank());
        for (const std::int64_t f : {2, 3})
          if (to[d] % f == 0) {
            to[d] /= f;
            to.insert(
                to.begin() + static_cast<std::ptrdiff_t>(d) + static_cast<std::ptrdiff_t>(below(2)),
                f);
            break;
          }
        make("Reshape", {x.id, integers(to)}, x.bound, x.is_exact);
      }
    }
  }

  void sliced(const drawn& x) {
    if (x.rank() == 0) return;
    const auto d = between(0, static_cast<std::int64_t>(x.rank()) - 1);
    const std::int64_t extent = x.type.extents[static_cast<std::size_t>(d)];
    if (extent < 2) return;
    const std::int64_t from = between(0, extent - 1), to = between(from + 1, extent);
    const bool back = below(5) == 0;
    const std::int64_t step = between(1, 2);
    make("Slice",
         {x.id, integers({back ? to - 1 : from}), integers({back ? from - extent - 1 : to}),
          integers({d}), integers({back ? -step : step})},
         x.bound, x.is_exact);
  }

  void split(const drawn& x) {
    if (x.rank() == 0) return;
    const auto d = between(0, static_cast<std::int64_t>(x.rank()) - 1);
    const std::int64_t extent = x.type.extents[static_cast<std::size_t>(d)];
    if (extent < 2) return;
    network::value second;
    second.name = "s" + std::to_string(w_.g.values.size());
    const std::int64_t front = between(1, extent - 1);
    const network::value_id a =
        w_.add("Split", {x.id, integers({front, extent - front})}, {{"axis", d}});
    const network::value_id b = w_.g.add(second);
    network::node& n = w_.g.nodes.back();
    n.version = 21;
    n.outputs.push_back(b);
    const std::vector<network::tensor_type> types = types_of(n);
    add_known(a, types[0], x.bound, x.is_exact);
    add_known(b, types[1], x.bound, x.is_exact);
  }

  void joined(const drawn& x) {
    if (x.rank() == 0 || x.type.elements() > 1500) return;
    const auto d = between(0, static_cast<std::int64_t>(x.rank()) - 1);
    std::vector<network::value_id> in{x.id};
    double bound = x.bound;
    bool is_exact = x.is_exact;
    for (std::size_t k = 1 + below(3); k-- > 0;) {
      drawn y = partner(x);
      network::shape a = y.type.extents, b = x.type.extents;
      if (a.size() != b.size()) y = {numbers(x.type.type, b), x.type, 1, true};
      a = y.type.extents;
      a[static_cast<std::size_t>(d)] = b[static_cast<std::size_t>(d)];
      if (a != b) y = {numbers(x.type.type, b), x.type, 1, true};
      if (below(2)) {
        const drawn u =
            make(x.type.type == dtype::boolean ? "Not" : "Abs", {y.id}, y.bound, y.is_exact);
        y = u;
      }
      in.push_back(y.id);
      bound = std::max(bound, y.bound);
      is_exact = is_exact && y.is_exact;
    }
    if (below(2)) std::swap(in.front(), in.back());
    make("Concat", in, bound, is_exact, {{"axis", d}});
  }

  void copied(const drawn& x) {
    if (x.rank() == 0 || x.type.elements() > 1000) return;
    switch (below(5)) {
      case 0: {
        network::shape s = x.type.extents;
        for (std::int64_t& e : s)
          if (e == 1) e = between(1, 3);
        make("Expand", {x.id, integers(s)}, x.bound, x.is_exact);
        break;
      }
      case 1: {
        number_list times(x.rank(), 1);
        times[below(x.rank())] = 2;
        make("Tile", {x.id, integers(times)}, x.bound, x.is_exact);
        break;
      }
      case 2: {
        if (!x.is_float()) return;
        number_list pads(2 * x.rank());
        for (std::int64_t& p : pads) p = between(0, 1);
        static const char* const modes[] = {"constant", "edge"};
        make("Pad", {x.id, integers(pads)}, x.bound, x.is_exact,
             {{"mode", std::string(modes[below(2)])}});
        break;
      }
      case 3:
        if (x.rank() >= 2 && x.is_float())
          make("Trilu", {x.id}, x.bound, x.is_exact, {{"upper", between(0, 1)}});
        break;
      default:
        if (x.rank() == 4 && x.type.extents[1] % 4 == 0)
          make("DepthToSpace", {x.id}, x.bound, x.is_exact, {{"blocksize", std::int64_t{2}}});
    }
  }

  void gathered(const drawn& x) {
    if (x.rank() == 0) return;
    const auto d = between(0, static_cast<std::int64_t>(x.rank()) - 1);
    const std::int64_t extent = x.type.extents[static_cast<std::size_t>(d)];
    number_list indices;
    for (std::size_t k = 1 + below(4); k-- > 0;) indices.push_back(between(-extent, extent - 1));
    const bool is_scalar = indices.size() == 1 && below(2) && x.rank() > 1;
    make("Gather", {x.id, is_scalar ? integers_scalar(indices[0]) : integers(indices)}, x.bound,
         x.is_exact, {{"axis", d}});
  }
};

}  // namespace network_tests
