// oneDNN 2.x: once in the user's layout, once in the layout that it prefers. Conversions to and
// from the preferred layout stay outside of the timed part.
#include "peer.hpp"

#if BENCH_HAVE_ONEDNN
#include <omp.h>

#include <dnnl.hpp>
#include <memory>

namespace bench {
namespace {

using dims = dnnl::memory::dims;
using tag = dnnl::memory::format_tag;
using dtype = dnnl::memory::data_type;

struct context {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

context& shared_context() {
  static context c;
  return c;
}

dnnl::memory wrap(const dims& shape, tag layout, const void* data) {
  return {{shape, dtype::f32, layout}, shared_context().engine, const_cast<void*>(data)};
}

/// `user` itself when it has the wanted layout, else new memory.
dnnl::memory in_layout(const dnnl::memory& user, const dnnl::memory::desc& wanted) {
  return user.get_desc() == wanted ? user : dnnl::memory(wanted, shared_context().engine);
}

void copy(dnnl::memory from, dnnl::memory to) {
  if (from.get() == to.get()) return;
  dnnl::reorder(from, to).execute(shared_context().stream, from, to);
  shared_context().stream.wait();
}

prepared timed(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> args, int threads,
               dnnl::memory result, dnnl::memory user_result) {
  return {[=] {
            omp_set_num_threads(threads);
            primitive.execute(shared_context().stream, args);
            shared_context().stream.wait();
          },
          [=] { copy(result, user_result); }};
}

prepared gemm(const gemm_problem& g, int threads, bool free_layout) {
  omp_set_num_threads(threads);
  const dims a_shape{g.m, g.k}, b_shape{g.k, g.n}, c_shape{g.m, g.n};
  const dnnl::memory a = wrap(a_shape, tag::ab, g.a), b = wrap(b_shape, tag::ab, g.b),
                     c = wrap(c_shape, tag::ab, g.c);
  const tag layout = free_layout ? tag::any : tag::ab;
  const dnnl::matmul::desc desc({a_shape, dtype::f32, layout}, {b_shape, dtype::f32, layout},
                                {c_shape, dtype::f32, layout});
  const dnnl::matmul::primitive_desc chosen(desc, shared_context().engine);
  const dnnl::memory a2 = in_layout(a, chosen.src_desc()), b2 = in_layout(b, chosen.weights_desc()),
                     c2 = in_layout(c, chosen.dst_desc());
  copy(a, a2);
  copy(b, b2);
  return timed(dnnl::matmul(chosen),
               {{DNNL_ARG_SRC, a2}, {DNNL_ARG_WEIGHTS, b2}, {DNNL_ARG_DST, c2}}, threads, c2, c);
}

prepared conv(const conv_problem& v, int threads, bool free_layout) {
  omp_set_num_threads(threads);
  const dims x_shape{v.n, v.c, v.h, v.w}, f_shape{v.k, v.c, v.r, v.s},
      y_shape{v.n, v.k, v.p(), v.q()};
  const dnnl::memory x = wrap(x_shape, tag::nhwc, v.x), f = wrap(f_shape, tag::hwio, v.f),
                     y = wrap(y_shape, tag::nhwc, v.y);
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      {x_shape, dtype::f32, free_layout ? tag::any : tag::nhwc},
      {f_shape, dtype::f32, tag::any},  // weights may always be packed beforehand
      {y_shape, dtype::f32, free_layout ? tag::any : tag::nhwc}, {v.stride, v.stride},
      {v.pad, v.pad}, {v.pad, v.pad});
  const dnnl::convolution_forward::primitive_desc chosen(desc, shared_context().engine);
  const dnnl::memory x2 = in_layout(x, chosen.src_desc()), f2 = in_layout(f, chosen.weights_desc()),
                     y2 = in_layout(y, chosen.dst_desc());
  copy(x, x2);
  copy(f, f2);
  return timed(dnnl::convolution_forward(chosen),
               {{DNNL_ARG_SRC, x2}, {DNNL_ARG_WEIGHTS, f2}, {DNNL_ARG_DST, y2}}, threads, y2, y);
}

prepared softmax(const softmax_problem& s, int threads) {
  omp_set_num_threads(threads);
  const dims shape{s.rows, s.columns};
  const dnnl::memory x = wrap(shape, tag::ab, s.x), y = wrap(shape, tag::ab, s.y);
  const dnnl::softmax_forward::desc desc(dnnl::prop_kind::forward_inference, x.get_desc(), 1);
  const dnnl::softmax_forward::primitive_desc chosen(desc, shared_context().engine);
  return timed(dnnl::softmax_forward(chosen), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}, threads, y,
               y);
}

}  // namespace

std::vector<peer> onednn_peers() {
  peer user, best;
  user.name = "onednn";
  user.gemm = [](const gemm_problem& g, int t) { return gemm(g, t, false); };
  user.conv = [](const conv_problem& v, int t) { return conv(v, t, false); };
  user.softmax = softmax;
  best.name = "onednn_best_layout";
  best.gemm = [](const gemm_problem& g, int t) { return gemm(g, t, true); };
  best.conv = [](const conv_problem& v, int t) { return conv(v, t, true); };
  return {user, best};
}

}  // namespace bench

#else

namespace bench {

std::vector<peer> onednn_peers() {
  peer missing;
  missing.name = "onednn";
  missing.missing =
      "oneDNN (libdnnl-dev, ocl-icd-opencl-dev) was not installed when the benchmarks were built";
  return {missing};
}

}  // namespace bench
#endif
