#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/support/any.hpp>

// Images and other tensors of other extents: each dimension in turn is made from weighted elements
// along it. Places and weights depend on shapes alone, so they are computed when a model is loaded.
namespace tilewright::network {
namespace detail {

/// How one dimension changes.
struct resized_dimension {
  std::int64_t from, to;  // elements
  double scale;
  double first = 0, last = 1;  // region of interest, of the whole
};

/// Elements that make one output element, and their weights.
struct resize_table {
  std::int64_t taps = 1;
  std::vector<std::int64_t> places;  // [to, taps]
  std::vector<double> weights;       // [to, taps]
  std::vector<bool> is_outside;      // [to]
};

inline double source_of(const node_view& n, const std::string& mode, const resized_dimension& r,
                        std::int64_t i) {
  const double x = static_cast<double>(i), extent = static_cast<double>(r.from);
  const double length = r.scale * extent;  // of the output, not rounded
  if (mode == "half_pixel") return (x + 0.5) / r.scale - 0.5;
  if (mode == "asymmetric") return x / r.scale;
  if (mode == "align_corners") return length == 1 ? 0 : x * (extent - 1) / (length - 1);
  if (mode == "pytorch_half_pixel") return length == 1 ? -0.5 : (x + 0.5) / r.scale - 0.5;
  if (mode == "half_pixel_symmetric")
    return extent / 2 * (1 - static_cast<double>(r.to) / length) + (x + 0.5) / r.scale - 0.5;
  if (mode == "tf_crop_and_resize") {
    const double span = (r.last - r.first) * (extent - 1);
    return r.first * (extent - 1) + (length == 1 ? span / 2 : x * span / (length - 1));
  }
  n.fail("coordinate_transformation_mode is \"" + mode + "\", which is not known");
}

/// Weight of an element at a distance from the place that is wanted.
inline double resize_weight(const std::string& mode, double a, double distance) {
  const double x = std::abs(distance);
  if (mode == "linear") return std::max(0.0, 1 - x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

inline std::int64_t nearest_of(const node_view& n, double x) {
  const std::string how = n.what().op == "Upsample" || n.what().version < 11
                              ? "floor"
                              : n.what().text("nearest_mode", "round_prefer_floor");
  if (how == "floor") return static_cast<std::int64_t>(std::floor(x));
  if (how == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  if (how == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(x - 0.5));
  if (how == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(x + 0.5));
  n.fail("nearest_mode is \"" + how + "\", which is not known");
}

inline resize_table table_of(const node_view& n, const std::string& mode,
                             const std::string& coordinates, const resized_dimension& r) {
  resize_table out;
  const bool is_nearest = mode == "nearest";
  const double a = n.what().real("cubic_coeff_a", -0.75);
  const bool smooth = n.what().integer("antialias", 0) != 0 && r.scale < 1 && !is_nearest;
  const double step = smooth ? r.scale : 1;  // weights of elements `step` apart
  const std::int64_t reach = mode == "cubic" ? 2 : 1;
  const auto before = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(reach) / step));  // taps before the place
  out.taps = is_nearest ? 1 : 2 * before;
  if (out.taps > (1 << 16)) n.fail("one element is made from too many");
  const bool exclude = n.what().integer("exclude_outside", 0) != 0;
  for (std::int64_t i = 0; i < r.to; ++i) {
    const double x = source_of(n, coordinates, r, i);
    out.is_outside.push_back(coordinates == "tf_crop_and_resize" &&
                             (x < 0 || x > static_cast<double>(r.from - 1)));
    const auto clamped = [&](std::int64_t p) { return std::clamp<std::int64_t>(p, 0, r.from - 1); };
    if (is_nearest) {
      out.places.push_back(clamped(nearest_of(n, x)));
      out.weights.push_back(1);
      continue;
    }
    const auto floor_of = static_cast<std::int64_t>(std::floor(x));
    std::vector<double> weights;
    double total = 0;
    for (std::int64_t k = 1 - before; k <= before; ++k) {
      const std::int64_t p = floor_of + k;
      const bool counts = !exclude || (p >= 0 && p < r.from);
      weights.push_back(counts ? resize_weight(mode, a, (static_cast<double>(p) - x) * step) : 0.0);
      total += weights.back();
      out.places.push_back(clamped(p));
    }
    for (const double w : weights)
      out.weights.push_back((smooth || exclude) && total != 0 ? w / total : w);
  }
  return out;
}

/// Numbers of a known input of floats; empty where it is left out or has no elements.
inline std::vector<double> known_reals(const node_view& n, std::size_t k) {
  std::vector<double> out;
  if (!n.what().has_input(k)) return out;
  const constant* c = n.known(k);
  if (!c)
    n.fail("input " + std::to_string(k) +
           " depends on the arguments of a call; the extents of its output have to be known when "
           "the model is loaded");
  for (std::int64_t i = 0; i < c->type().elements(); ++i) out.push_back(c->number(i));
  return out;
}

inline std::vector<resized_dimension> resized_dimensions(const node_view& n) {
  const shape& s = n.in(0).extents;
  const bool is_old = n.what().op == "Upsample" || n.what().version < 11;
  std::vector<double> scales = known_reals(n, is_old ? 1 : 2);
  if (n.what().op == "Upsample" && scales.empty()) scales = n.what().reals("scales");
  const std::vector<std::int64_t> sizes = !is_old && n.what().has_input(3) && scales.empty()
                                              ? n.numbers(3)
                                              : std::vector<std::int64_t>();
  const std::vector<double> region =
      n.what().text("coordinate_transformation_mode", "") == "tf_crop_and_resize"
          ? known_reals(n, 1)
          : std::vector<double>();
  std::vector<std::size_t> along;
  if (n.what().has("axes"))
    for (const std::int64_t a : n.what().integers("axes"))
      along.push_back(n.dimension(a, s.size()));
  else
    for (std::size_t d = 0; d < s.size(); ++d) along.push_back(d);
  if ((scales.empty() ? sizes.size() : scales.size()) != along.size())
    n.fail("it needs a scale or a size for each of " + std::to_string(along.size()) +
           " dimensions");
  if (!region.empty() && region.size() != 2 * along.size())
    n.fail("its region needs two numbers for each dimension");
  std::vector<resized_dimension> out;
  for (const std::int64_t extent : s) out.push_back({extent, extent, 1});
  for (std::size_t k = 0; k < along.size(); ++k) {
    resized_dimension& r = out[along[k]];
    const auto extent = static_cast<double>(r.from);
    if (scales.empty()) {
      r.to = sizes[k];
      r.scale = static_cast<double>(r.to) / extent;
    } else {
      r.scale = scales[k];
      if (!(r.scale > 0) || r.scale * extent > 1e9) n.fail("a scale is not positive, or too large");
      r.to = static_cast<std::int64_t>(std::floor(r.scale * extent));
    }
    if (!region.empty()) {
      r.first = region[k];
      r.last = region[along.size() + k];
    }
  }
  const std::string policy = n.what().text("keep_aspect_ratio_policy", "stretch");
  if (scales.empty() && policy != "stretch") {
    double common = out[along.at(0)].scale;
    for (const std::size_t d : along)
      common =
          policy == "not_larger" ? std::min(common, out[d].scale) : std::max(common, out[d].scale);
    for (const std::size_t d : along) {
      out[d].scale = common;
      out[d].to = static_cast<std::int64_t>(common * static_cast<double>(out[d].from) + 0.5);
    }
  }
  for (const resized_dimension& r : out)
    if (r.from < 1 || r.to < 1 || r.to > (1 << 28))
      n.fail("an extent would be " + std::to_string(r.to));
  return out;
}

inline void expand_resize(expansion& e) {
  const std::string mode = e.what().text("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    e.fail("mode is \"" + mode + "\"; write nearest, linear or cubic");
  const bool is_old = e.what().op == "Upsample" || e.what().version < 11;
  const std::string coordinates =
      is_old ? "asymmetric" : e.what().text("coordinate_transformation_mode", "half_pixel");
  const std::vector<resized_dimension> all = resized_dimensions(e);
  const double filling = e.what().real("extrapolation_value", 0);
  value_id last = e.what().inputs[0];
  for (std::size_t d = 0; d < all.size(); ++d) {
    const resized_dimension& r = all[d];
    if (r.from == r.to && r.scale == 1 && r.first == 0 && r.last == 1) continue;
    const resize_table t = table_of(e, mode, coordinates, r);
    const shape extents{r.to, t.taps};
    const dtype number = e.in(0).type == dtype::f64 ? dtype::f64 : dtype::f32;
    auto [weights, data] = constant::make({number, extents});
    for (std::size_t k = 0; k < t.weights.size(); ++k)
      store_number(data, number, static_cast<std::int64_t>(k),
                   t.is_outside[k / static_cast<std::size_t>(t.taps)] ? 0 : t.weights[k], 0);
    std::vector<value_id> inputs{last,
                                 e.known_value(constant::of_integers(t.places).reshaped(extents))};
    const bool some = support::contains(t.is_outside, true);
    if (mode != "nearest" || some) inputs.push_back(e.known_value(weights));
    if (some) {
      auto [outside, added] = constant::make({number, {r.to}});
      for (std::size_t k = 0; k < t.is_outside.size(); ++k)
        store_number(added, number, static_cast<std::int64_t>(k), t.is_outside[k] ? filling : 0, 0);
      inputs.push_back(e.known_value(outside));
    }
    const value_id next = e.fresh();
    e.add("Resample", inputs, {next}, {{"axis", static_cast<std::int64_t>(d)}}, "tilewright");
    last = next;
  }
  e.add("Identity", {last}, {e.what().outputs.at(0)});
}

inline void infer_resample(inference& n) {
  tensor_type t = n.in(0);
  t.extents.at(n.dimension(n.what().integer("axis", 0), t.extents.size())) = n.in(1).extents.at(0);
  n.out(0, t);
}

/// Inputs: elements, places [to, taps], weights [to, taps], and what is added [to].
inline void emit_resample(emission& e) {
  const auto d = static_cast<std::size_t>(e.what().integer("axis", 0));
  const reader places = e.in(1, "places");
  const bool is_weighted = e.what().has_input(2);
  const reader x = e.in(0, "X");
  std::optional<reader> weights, added;
  if (is_weighted) weights = e.in(2, "weights");
  if (e.what().has_input(3)) added = e.in(3, "added");
  const dtype t = x.type.type;
  const std::int64_t taps = places.type.extents[1];
  std::optional<runtime_expression> tap;
  if (taps > 1) tap = e.axis("t", taps);
  e.out(0, [=](const dsl::index_list& at) -> runtime_expression {
    const runtime_expression k = tap ? *tap : runtime_expression(0);
    dsl::index_list own = at;
    own[d] = from_front(places(at[d], k), x.type.extents[d]);
    if (!weights) return x.at(own);
    const dtype wide = weights->type.type;
    runtime_expression out = (*weights)(at[d], k) * cast(x.at(own), wide);
    if (tap) out = reduce(dsl::reduction::sum, {*tap}, out);
    if (added) out = out + (*added)(at[d]);
    return cast(is_float(t) ? out : round(out), t);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_resizing(std::vector<operator_definition>& to) {
  for (const char* name : {"Resize", "Upsample"}) {
    operator_definition d{name};
    d.expand = detail::expand_resize;
    to.push_back(d);
  }
  to.push_back(
      {"Resample", op_kind::anchor, detail::infer_resample, detail::emit_resample, "tilewright"});
}

}  // namespace tilewright::network
