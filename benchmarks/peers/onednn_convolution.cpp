#include "onednn_convolution.hpp"

#if BENCH_HAVE_ONEDNN
#include <memory>
#include <utility>

#include "onednn_version.hpp"

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
  setup(const convolution& v, onednn_layout layout, const onednn_epilogue& epilogue)
      : v_(v), layout_(layout), epilogue_(epilogue) {
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
    any_x_ = layout == onednn_layout::users
                 ? x_
                 : dnnl::memory::desc{x, type, dnnl::memory::format_tag::any};
    any_y_ = layout == onednn_layout::users
                 ? y_
                 : dnnl::memory::desc{y, sums, dnnl::memory::format_tag::any};
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
    const auto chosen = choose<Primitive>(algorithm, dilation, padding, after);
    const dnnl::memory x1(x_, onednn_engine(), const_cast<void*>(x)),
        f1(f_, onednn_engine(), const_cast<void*>(f)), y1(y_, onednn_engine(), y);
    const dnnl::memory x2 = in_layout(x1, chosen.src_desc()),
                       f2 = in_layout(f1, chosen.weights_desc()),
                       y2 = in_layout(y1, chosen.dst_desc());
    const auto convert_x = conversion(x1, x2), convert_y = conversion(y2, y1);
    convert_x();
    conversion(f1, f2)();
    const Primitive primitive(chosen);
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, x2}, {DNNL_ARG_WEIGHTS, f2}, {DNNL_ARG_DST, y2}};
    if (epilogue_.bias)
      arguments[DNNL_ARG_BIAS] =
          dnnl::memory(bias(), onednn_engine(), const_cast<float*>(epilogue_.bias));
    const bool converts = layout_ == onednn_layout::converted;
    return {[=, threads = v_.threads] {
              omp_set_num_threads(threads);
              if (converts) convert_x();
              dnnl::stream s = onednn_stream();
              primitive.execute(s, arguments);
              s.wait();
              if (converts) convert_y();
            },
            convert_y};
  }

  template <class Primitive>
  typename Primitive::primitive_desc choose(dnnl::algorithm algorithm, const dims& dilation,
                                            const dims& padding, const dims& after) const {
    dnnl::primitive_attr attributes;
    if (epilogue_.relu) {
      dnnl::post_ops then;
      append_eltwise(then, dnnl::algorithm::eltwise_relu);
      attributes.set_post_ops(then);
    }
    const auto inference = dnnl::prop_kind::forward_inference;
    const dims strides = numbers(v_.stride);
    if (epilogue_.bias)
      return onednn_choice<Primitive>(attributes, inference, algorithm, any_x_, any_f_, bias(),
                                      any_y_, strides, dilation, padding, after);
    return onednn_choice<Primitive>(attributes, inference, algorithm, any_x_, any_f_, any_y_,
                                    strides, dilation, padding, after);
  }
  dnnl::memory::desc bias() const { return {{v_.k}, dtype::f32, dnnl::memory::format_tag::a}; }

  /// What is read beyond the image at its end.
  dnnl::memory::dim padding_after(std::size_t d) const {
    const int reach = v_.dilation[d] * (v_.window[d] - 1) + 1;
    if (v_.transposed)
      return (v_.input[d] - 1) * v_.stride[d] + reach - v_.output[d] - v_.padding[d];
    return (v_.output[d] - 1) * v_.stride[d] + reach - v_.input[d] - v_.padding[d];
  }

  const convolution& v_;
  onednn_layout layout_;
  onednn_epilogue epilogue_;
  dnnl::memory::desc x_, y_, f_, any_x_, any_y_, any_f_;
};

}  // namespace

prepared onednn_convolution(const convolution& v, const void* x, const void* f, void* y,
                            onednn_layout layout, const onednn_epilogue& epilogue) {
  try {
    return setup(v, layout, epilogue).make(x, f, y);
  } catch (const dnnl::error&) {  // no implementation for it
    return {};
  }
}

}  // namespace bench

#else

namespace bench {

prepared onednn_convolution(const convolution&, const void*, const void*, void*, onednn_layout,
                            const onednn_epilogue&) {
  return {};
}

}  // namespace bench
#endif
