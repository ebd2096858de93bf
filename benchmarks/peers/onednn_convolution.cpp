#include "onednn_convolution.hpp"

#if BENCH_HAVE_ONEDNN
#include <omp.h>

#include <dnnl.hpp>
#include <memory>

namespace bench {
namespace {

using dims = dnnl::memory::dims;
using dtype = dnnl::memory::data_type;

dims numbers(const std::vector<int>& list) { return {list.begin(), list.end()}; }

/// Row-major strides of `shape` when dimension `order[0]` is outermost in memory.
dims strides_of(const dims& shape, const std::vector<std::size_t>& order) {
  dims out(shape.size());
  dnnl::memory::dim stride = 1;
  for (std::size_t i = order.size(); i-- > 0; stride *= shape[order[i]]) out[order[i]] = stride;
  return out;
}

/// Dimensions in the order of memory: images are n, c, d..; filters (g), k, c, r.. .
std::vector<std::size_t> image_order(std::size_t rank, bool channels_last) {
  std::vector<std::size_t> out{0};
  if (!channels_last) out.push_back(1);
  for (std::size_t d = 2; d < rank; ++d) out.push_back(d);
  if (channels_last) out.push_back(1);
  return out;
}

class setup {
 public:
  explicit setup(const convolution& v) : v_(v) {
    const dtype type = v.type == "int8" ? dtype::s8 : dtype::f32;
    const dtype sums = v.type == "int8" ? dtype::s32 : dtype::f32;
    dims x{v.n, v.c}, y{v.n, v.k}, f;
    if (v.groups > 1) f.push_back(v.groups);
    f.push_back(v.k / v.groups);
    f.push_back(v.c / v.groups);
    for (std::size_t d = 0; d < v.input.size(); ++d) {
      x.push_back(v.input[d]);
      y.push_back(v.output[d]);
      f.push_back(v.window[d]);
    }
    x_ = {x, type, strides_of(x, image_order(x.size(), v.channels_last))};
    y_ = {y, sums, strides_of(y, image_order(y.size(), v.channels_last))};
    f_ = {f, type, filter_strides(f)};
    any_x_ = {x, type, dnnl::memory::format_tag::any};
    any_y_ = {y, sums, dnnl::memory::format_tag::any};
    any_f_ = {f, type, dnnl::memory::format_tag::any};
  }

  prepared make(const void* x, const void* f, void* y) const {
    omp_set_num_threads(v_.threads);
    return v_.transposed
               ? prepare<dnnl::deconvolution_forward>(dnnl::algorithm::deconvolution_direct, x, f,
                                                      y)
               : prepare<dnnl::convolution_forward>(dnnl::algorithm::convolution_direct, x, f, y);
  }

 private:
  dims filter_strides(const dims& f) const {
    const std::size_t g = v_.groups > 1 ? 1 : 0, k = g, c = g + 1;
    std::vector<std::size_t> order;
    if (v_.channels_last) {
      // one dimension holds the outputs of all groups
      for (std::size_t d = c + 1; d < f.size(); ++d) order.push_back(d);
      order.push_back(c);
      if (g) order.push_back(0);
      order.push_back(k);
    } else {
      if (g) order.push_back(0);
      order.push_back(v_.transposed ? c : k);
      order.push_back(v_.transposed ? k : c);
      for (std::size_t d = c + 1; d < f.size(); ++d) order.push_back(d);
    }
    return strides_of(f, order);
  }

  template <class Primitive>
  prepared prepare(dnnl::algorithm algorithm, const void* x, const void* f, void* y) const {
    dims dilation;
    for (const int d : v_.dilation) dilation.push_back(d - 1);
    const dims padding = numbers(v_.padding);
    dims after;
    for (std::size_t d = 0; d < padding.size(); ++d) after.push_back(padding_after(d));
    const typename Primitive::desc desc(dnnl::prop_kind::forward_inference, algorithm, any_x_,
                                        any_f_, any_y_, numbers(v_.stride), dilation, padding,
                                        after);
    const typename Primitive::primitive_desc chosen(desc, engine());
    const dnnl::memory x1(x_, engine(), const_cast<void*>(x)),
        f1(f_, engine(), const_cast<void*>(f)), y1(y_, engine(), y);
    const dnnl::memory x2 = in_layout(x1, chosen.src_desc()),
                       f2 = in_layout(f1, chosen.weights_desc()),
                       y2 = in_layout(y1, chosen.dst_desc());
    copy(x1, x2);
    copy(f1, f2);
    const Primitive primitive(chosen);
    return {
        [=, threads = v_.threads] {
          omp_set_num_threads(threads);
          dnnl::stream s = stream();
          primitive.execute(s, {{DNNL_ARG_SRC, x2}, {DNNL_ARG_WEIGHTS, f2}, {DNNL_ARG_DST, y2}});
          s.wait();
        },
        [=] { copy(y2, y1); }};
  }

  /// What is read beyond the image at its end.
  dnnl::memory::dim padding_after(std::size_t d) const {
    const int reach = v_.dilation[d] * (v_.window[d] - 1) + 1;
    if (v_.transposed)
      return (v_.input[d] - 1) * v_.stride[d] + reach - v_.output[d] - v_.padding[d];
    return (v_.output[d] - 1) * v_.stride[d] + reach - v_.input[d] - v_.padding[d];
  }

  static const dnnl::engine& engine() {
    static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
    return e;
  }
  static dnnl::stream stream() {
    static const dnnl::stream s(engine());
    return s;
  }
  static dnnl::memory in_layout(const dnnl::memory& user, const dnnl::memory::desc& wanted) {
    return user.get_desc() == wanted ? user : dnnl::memory(wanted, engine());
  }
  static void copy(dnnl::memory from, dnnl::memory to) {
    if (from.get() == to.get()) return;
    dnnl::stream s = stream();
    dnnl::reorder(from, to).execute(s, from, to);
    s.wait();
  }

  const convolution& v_;
  dnnl::memory::desc x_, y_, f_, any_x_, any_y_, any_f_;
};

}  // namespace

prepared onednn_convolution(const convolution& v, const void* x, const void* f, void* y) {
  try {
    return setup(v).make(x, f, y);
  } catch (const dnnl::error&) {  // no implementation for it
    return {};
  }
}

}  // namespace bench

#else

namespace bench {

prepared onednn_convolution(const convolution&, const void*, const void*, void*) { return {}; }

}  // namespace bench
#endif
