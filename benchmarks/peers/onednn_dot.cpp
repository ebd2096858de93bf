#include "onednn_dot.hpp"

#if BENCH_HAVE_ONEDNN
#include <omp.h>

#include <dnnl.hpp>

namespace bench {
namespace {

using dims = dnnl::memory::dims;
using tag = dnnl::memory::format_tag;
using dtype = dnnl::memory::data_type;

struct types {
  dtype a, b, c;
};

types types_of(dot_type t) {
  switch (t) {
    case dot_type::u8s8: return {dtype::u8, dtype::s8, dtype::s32};
    case dot_type::s8s8: return {dtype::s8, dtype::s8, dtype::s32};
    default: return {dtype::bf16, dtype::bf16, dtype::f32};
  }
}

dnnl::engine& engine() {
  static dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}
dnnl::stream& stream() {
  static dnnl::stream s(engine());
  return s;
}

dnnl::memory wrap(const dims& shape, dtype type, tag layout, const void* data) {
  return {{shape, type, layout}, engine(), const_cast<void*>(data)};
}
dnnl::memory in_layout(const dnnl::memory& user, const dnnl::memory::desc& wanted) {
  return user.get_desc() == wanted ? user : dnnl::memory(wanted, engine());
}
void copy(dnnl::memory from, dnnl::memory to) {
  if (from.get() == to.get()) return;
  dnnl::reorder(from, to).execute(stream(), from, to);
  stream().wait();
}

template <class Primitive, class Chosen>
prepared timed(const Chosen& chosen, const dnnl::memory& a, const dnnl::memory& b,
               const dnnl::memory& c) {
  const dnnl::memory a2 = in_layout(a, chosen.src_desc()), b2 = in_layout(b, chosen.weights_desc()),
                     c2 = in_layout(c, chosen.dst_desc());
  copy(a, a2);
  copy(b, b2);
  const Primitive primitive(chosen);
  return {[=] {
            primitive.execute(stream(),
                              {{DNNL_ARG_SRC, a2}, {DNNL_ARG_WEIGHTS, b2}, {DNNL_ARG_DST, c2}});
            stream().wait();
          },
          [=] { copy(c2, c); }};
}

prepared gemm(const dot_problem& p, bool free_layout) {
  const types t = types_of(p.type);
  const dims a{p.gemm.m, p.gemm.k}, b{p.gemm.k, p.gemm.n}, c{p.gemm.m, p.gemm.n};
  const tag layout = free_layout ? tag::any : tag::ab;
  const dnnl::matmul::desc desc({a, t.a, layout}, {b, t.b, tag::any}, {c, t.c, layout});
  return timed<dnnl::matmul>(dnnl::matmul::primitive_desc(desc, engine()),
                             wrap(a, t.a, tag::ab, p.a), wrap(b, t.b, tag::ab, p.b),
                             wrap(c, t.c, tag::ab, p.c));
}

prepared conv(const dot_problem& p, bool free_layout) {
  const types t = types_of(p.type);
  const conv_problem& v = p.conv;
  const dims x{v.n, v.c, v.h, v.w}, f{v.k, v.c, v.r, v.s}, y{v.n, v.k, v.p(), v.q()};
  const tag layout = free_layout ? tag::any : tag::nhwc;
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, {x, t.a, layout},
      {f, t.b, tag::any}, {y, t.c, layout}, {v.stride, v.stride}, {v.pad, v.pad}, {v.pad, v.pad});
  return timed<dnnl::convolution_forward>(
      dnnl::convolution_forward::primitive_desc(desc, engine()), wrap(x, t.a, tag::nhwc, p.a),
      wrap(f, t.b, tag::hwio, p.b), wrap(y, t.c, tag::nhwc, p.c));
}

}  // namespace

prepared onednn_dot(const dot_problem& p, bool free_layout) {
  omp_set_num_threads(1);
  try {
    return p.convolution ? conv(p, free_layout) : gemm(p, free_layout);
  } catch (const dnnl::error&) {  // no implementation for it
    return {};
  }
}

}  // namespace bench

#else

namespace bench {

prepared onednn_dot(const dot_problem&, bool) { return {}; }

}  // namespace bench
#endif
