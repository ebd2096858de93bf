#include "onednn_dense.hpp"

#include <dlfcn.h>

#if BENCH_HAVE_ONEDNN
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>

#include "onednn_version.hpp"

namespace bench {
namespace {

using dims = dnnl::memory::dims;
using tag = dnnl::memory::format_tag;
using dtype = dnnl::memory::data_type;
using algorithm = dnnl::algorithm;
using desc = dnnl::memory::desc;

constexpr auto inference = dnnl::prop_kind::forward_inference;

desc dense(const dims& shape) {
  dims strides(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * shape[d];
  return {shape, dtype::f32, strides};
}
desc free_of(const desc& d) {
#if DNNL_VERSION_MAJOR >= 3
  return {d.get_dims(), d.get_data_type(), tag::any};
#else
  return {d.dims(), d.data_type(), tag::any};
#endif
}

/// A primitive with its arguments; what it does not own lies in the user's memory.
struct step {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
};

prepared in_turn(std::vector<step> steps, int threads, std::function<void()> fetch = {}) {
  return {[=] {
            omp_set_num_threads(threads);
            dnnl::stream s = onednn_stream();
            for (const step& one : steps) one.primitive.execute(s, one.arguments);
            s.wait();
          },
          std::move(fetch)};
}

dnnl::memory at_user(const desc& d, void* at) { return {d, onednn_engine(), at}; }

/// C = A B, and what follows.
struct product {
  desc a, b, c;
  desc bias = {};
  dnnl::primitive_attr attributes = {};

  dnnl::matmul::primitive_desc choose(onednn_layout layout) const {
    const bool users = layout == onednn_layout::users;
    const desc a2 = users ? a : free_of(a), b2 = users ? b : free_of(b),
               c2 = users ? c : free_of(c);
    if (bias.get_size() > 0) return onednn_choice<dnnl::matmul>(attributes, a2, b2, bias, c2);
    return onednn_choice<dnnl::matmul>(attributes, a2, b2, c2);
  }

  /// `from` are the addresses of A, B and C, and of the bias.
  prepared prepare(onednn_layout layout, int threads, std::vector<void*> from) const {
    const auto chosen = choose(layout);
    const dnnl::memory a1 = at_user(a, from[0]), b1 = at_user(b, from[1]), c1 = at_user(c, from[2]),
                       a2 = in_layout(a1, chosen.src_desc()),
                       b2 = in_layout(b1, chosen.weights_desc()),
                       c2 = in_layout(c1, chosen.dst_desc());
    conversion(a1, a2)();
    conversion(b1, b2)();
    step one{dnnl::matmul(chosen),
             {{DNNL_ARG_SRC, a2}, {DNNL_ARG_WEIGHTS, b2}, {DNNL_ARG_DST, c2}}};
    if (from.size() > 3) one.arguments[DNNL_ARG_BIAS] = at_user(bias, from[3]);
    return in_turn({one}, threads, conversion(c2, c1));
  }
};

product product_of(const dense_shape& s) {
  if (s.kind == dense_kind::heads) {
    const dnnl::memory::dim row = static_cast<dnnl::memory::dim>(s.batch) * s.k;
    return {{{s.batch, s.m, s.k}, dtype::f32, dims{s.k, row, 1}},
            {{s.batch, s.k, s.n}, dtype::f32, dims{s.k, 1, row}},
            dense({s.batch, s.m, s.n})};
  }
  if (s.batch == 1) return {dense({s.m, s.k}), dense({s.k, s.n}), dense({s.m, s.n})};
  return {dense({s.batch, s.m, s.k}), dense({s.batch, s.k, s.n}), dense({s.batch, s.m, s.n})};
}

prepared dense_gelu(const dense_shape& s, addresses at, int threads, onednn_layout layout) {
  product p = product_of(s);
  p.bias = dense({1, s.n});
  dnnl::post_ops then;
  append_eltwise(then, algorithm::eltwise_gelu_erf);
  p.attributes.set_post_ops(then);
  return p.prepare(layout, threads, {at[0], at[1], at[3], at[2]});
}

dnnl::softmax_forward::primitive_desc softmax_of(const desc& rows, int axis) {
#if DNNL_VERSION_MAJOR >= 3
  return onednn_choice<dnnl::softmax_forward>({}, inference, algorithm::softmax_accurate, rows,
                                              rows, axis);
#else
  return onednn_choice<dnnl::softmax_forward>({}, inference, rows, axis);
#endif
}

prepared softmax(const dense_shape& s, addresses at, int threads) {
  const desc rows = dense({s.m, s.n});
  return in_turn({{dnnl::softmax_forward(softmax_of(rows, 1)),
                   {{DNNL_ARG_SRC, at_user(rows, at[0])}, {DNNL_ARG_DST, at_user(rows, at[1])}}}},
                 threads);
}

/// Scores, their softmax and the weighted values, one primitive after the other.
prepared attention(const dense_shape& s, addresses at, int threads) {
  const dnnl::memory::dim b = s.batch, m = s.m, n = s.n, k = s.k;
  const desc query = dense({b, m, k}), keys{{b, k, n}, dtype::f32, dims{n * k, 1, k}},
             scores = dense({b, m, n}), values = dense({b, n, k});
  dnnl::post_ops then;
  append_eltwise(then, algorithm::eltwise_linear, *static_cast<const float*>(at[3]), 0);
  dnnl::primitive_attr scaled;
  scaled.set_post_ops(then);
  const dnnl::memory between(scores, onednn_engine()), shares(scores, onednn_engine());
  return in_turn({{dnnl::matmul(onednn_choice<dnnl::matmul>(scaled, query, keys, scores)),
                   {{DNNL_ARG_SRC, at_user(query, at[0])},
                    {DNNL_ARG_WEIGHTS, at_user(keys, at[1])},
                    {DNNL_ARG_DST, between}}},
                  {dnnl::softmax_forward(softmax_of(scores, 2)),
                   {{DNNL_ARG_SRC, between}, {DNNL_ARG_DST, shares}}},
                  {dnnl::matmul(onednn_choice<dnnl::matmul>({}, scores, values, query)),
                   {{DNNL_ARG_SRC, shares},
                    {DNNL_ARG_WEIGHTS, at_user(values, at[2])},
                    {DNNL_ARG_DST, at_user(query, at[4])}}}},
                 threads);
}

prepared layer_norm(const dense_shape& s, addresses at, int threads) {
  const desc rows = dense({s.m, s.n}), one = dense({s.n});
  const float epsilon = *static_cast<const float*>(at[3]);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
#if DNNL_VERSION_MAJOR >= 3
  const auto chosen =
      onednn_choice<dnnl::layer_normalization_forward>({}, inference, rows, rows, epsilon, flags);
#else
  const auto chosen =
      onednn_choice<dnnl::layer_normalization_forward>({}, inference, rows, epsilon, flags);
#endif
  return in_turn({{dnnl::layer_normalization_forward(chosen),
                   {{DNNL_ARG_SRC, at_user(rows, at[0])},
                    {DNNL_ARG_SCALE, at_user(one, at[1])},
                    {DNNL_ARG_SHIFT, at_user(one, at[2])},
                    {DNNL_ARG_DST, at_user(rows, at[4])}}}},
                 threads);
}

prepared reduction(algorithm a, const dims& shape, const dims& result, addresses at, int threads) {
  const desc from = dense(shape), to = dense(result);
  const auto chosen = onednn_choice<dnnl::reduction>({}, a, from, to, 2.0f, 0.0f);
  return in_turn({{dnnl::reduction(chosen),
                   {{DNNL_ARG_SRC, at_user(from, at[0])}, {DNNL_ARG_DST, at_user(to, at[1])}}}},
                 threads);
}

prepared chain(const dense_shape& s, addresses at, int threads) {
  const desc d = dense({s.n});
  dnnl::post_ops then;
  append_eltwise(then, algorithm::eltwise_relu);
  append_eltwise(then, algorithm::eltwise_square);
  append_eltwise(then, algorithm::eltwise_linear, 1, -1);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(then);
#if DNNL_VERSION_MAJOR >= 3
  const auto chosen = onednn_choice<dnnl::eltwise_forward>(
      attributes, inference, algorithm::eltwise_linear, d, d, 1.5f, 0.5f);
#else
  const auto chosen = onednn_choice<dnnl::eltwise_forward>(
      attributes, inference, algorithm::eltwise_linear, d, 1.5f, 0.5f);
#endif
  return in_turn({{dnnl::eltwise_forward(chosen),
                   {{DNNL_ARG_SRC, at_user(d, at[0])}, {DNNL_ARG_DST, at_user(d, at[1])}}}},
                 threads);
}

prepared add_relu(const dense_shape& s, addresses at, int threads) {
  const desc d = dense({s.n});
  dnnl::post_ops then;
  append_eltwise(then, algorithm::eltwise_relu);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(then);
  const auto chosen = onednn_choice<dnnl::binary>(attributes, algorithm::binary_add, d, d, d);
  return in_turn({{dnnl::binary(chosen),
                   {{DNNL_ARG_SRC_0, at_user(d, at[0])},
                    {DNNL_ARG_SRC_1, at_user(d, at[1])},
                    {DNNL_ARG_DST, at_user(d, at[2])}}}},
                 threads);
}

/// The scale goes into the filter, as a program that knows its weights does beforehand.
prepared scaled_convolution(const dense_shape& s, addresses at, int threads, onednn_layout layout) {
  convolution v = s.conv;
  v.threads = threads;
  const auto* f = static_cast<const float*>(at[1]);
  const auto* scale = static_cast<const float*>(at[2]);
  std::size_t count = static_cast<std::size_t>(v.k) * static_cast<std::size_t>(v.c / v.groups);
  for (const int w : v.window) count *= static_cast<std::size_t>(w);
  const std::size_t outputs = static_cast<std::size_t>(v.k);
  const auto scaled = std::make_shared<std::vector<float>>(f, f + count);
  for (std::size_t i = 0; i < count; ++i)
    (*scaled)[i] *= scale[v.channels_last ? i % outputs : i / (count / outputs)];
  prepared out = onednn_convolution(v, at[0], scaled->data(), at[4], layout,
                                    {static_cast<const float*>(at[3]), true});
  if (!out.run) return {};
  return {[scaled, run = out.run] { run(); }, out.fetch};
}

prepared offered(const dense_shape& s, addresses at, int threads, onednn_layout layout) {
  switch (s.kind) {
    case dense_kind::convolution: {
      convolution v = s.conv;
      v.threads = threads;
      return onednn_convolution(v, at[0], at[1], at[2], layout);
    }
    case dense_kind::scaled_convolution: return scaled_convolution(s, at, threads, layout);
    case dense_kind::product:
    case dense_kind::heads: return product_of(s).prepare(layout, threads, {at[0], at[1], at[2]});
    case dense_kind::dense_gelu: return dense_gelu(s, at, threads, layout);
    case dense_kind::softmax: return softmax(s, at, threads);
    case dense_kind::attention: return attention(s, at, threads);
    case dense_kind::layer_norm: return layer_norm(s, at, threads);
    case dense_kind::chain: return chain(s, at, threads);
    case dense_kind::add_relu: return add_relu(s, at, threads);
    case dense_kind::norm:
      return reduction(algorithm::reduction_norm_lp_max, {1, s.m * s.n}, {1, 1}, at, threads);
    case dense_kind::row_sums:
      return reduction(algorithm::reduction_sum, {s.m, s.n}, {s.m, 1}, at, threads);
    case dense_kind::column_sums:
      return reduction(algorithm::reduction_sum, {s.m, s.n}, {1, s.n}, at, threads);
    default: return {};
  }
}

}  // namespace

prepared onednn_dense(const dense_shape& shape, addresses at, int threads, onednn_layout layout) {
  try {
    omp_set_num_threads(threads);
    return offered(shape, at, threads, layout);
  } catch (const dnnl::error&) {  // no implementation for it
    return {};
  }
}

}  // namespace bench
#endif

#if BENCH_ONEDNN_MODULE

extern "C" __attribute__((visibility("default"))) void bench_onednn_dense(
    const bench::dense_shape& shape, bench::addresses at, int threads, bench::onednn_layout layout,
    bench::prepared& out) {
  out = bench::onednn_dense(shape, at, threads, layout);
}

#else

namespace bench {
namespace {

using onednn_function = std::function<prepared(const dense_shape&, addresses, int, onednn_layout)>;

void add_layouts(std::vector<dense_peer>& to, const std::string& name,
                 const onednn_function& function) {
  using kinds = std::vector<dense_kind>;
  const kinds images{dense_kind::convolution, dense_kind::scaled_convolution};
  kinds laid_out = images, all;
  for (const dense_kind k : {dense_kind::product, dense_kind::heads, dense_kind::dense_gelu})
    laid_out.push_back(k);
  all = laid_out;
  for (const dense_kind k :
       {dense_kind::softmax, dense_kind::norm, dense_kind::layer_norm, dense_kind::attention,
        dense_kind::chain, dense_kind::add_relu, dense_kind::row_sums, dense_kind::column_sums})
    all.push_back(k);
  const auto add = [&](const char* suffix, onednn_layout layout, const kinds& offered) {
    to.push_back({name + suffix, "", offered,
                  [function, layout](const dense_shape& s, addresses at, int threads) {
                    return function(s, at, threads, layout);
                  }});
  };
  add("", onednn_layout::users, all);
  add("_best_layout", onednn_layout::free, laid_out);
  add("_converted", onednn_layout::converted, images);
}

#ifdef BENCH_ONEDNN_MODULE_FILE
/// The same peer for the version of PyPI, in a scope of its own: both export the same names.
onednn_function of_module(std::string& missing) {
  void* library = dlopen(BENCH_ONEDNN_MODULE_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  void* found = library ? dlsym(library, "bench_onednn_dense") : nullptr;
  if (!found) {
    missing = dlerror();
    return {};
  }
  return
      [f = reinterpret_cast<void (*)(const dense_shape&, addresses, int, onednn_layout, prepared&)>(
           found)](const dense_shape& s, addresses at, int threads, onednn_layout l) {
        prepared out;
        f(s, at, threads, l, out);
        return out;
      };
}
#else
onednn_function of_module(std::string& missing) {
  missing =
      "the benchmarks were built without onednn-devel-cpu-gomp of PyPI (tools/bench_peers.sh)";
  return {};
}
#endif

}  // namespace

std::vector<dense_peer> onednn_peers() {
  std::vector<dense_peer> out;
#if BENCH_HAVE_ONEDNN
  add_layouts(out, "onednn", onednn_dense);
#else
  out.push_back({"onednn",
                 "oneDNN (libdnnl-dev, ocl-icd-opencl-dev) was not installed when the "
                 "benchmarks were built"});
#endif
  std::string missing;
  if (const onednn_function f = of_module(missing))
    add_layouts(out, "onednn_pypi", f);
  else
    out.push_back({"onednn_pypi", missing});
  return out;
}

}  // namespace bench
#endif
