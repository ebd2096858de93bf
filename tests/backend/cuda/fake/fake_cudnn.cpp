// A cuDNN for the fake driver, whose device memory is the host's: convolutions of f32 as they are defined.
// FAKE_CUDNN: "none" knows no algorithm that is allowed, "refuse" refuses to start.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using numbers = std::vector<int>;

/// Whatever a descriptor may say.
struct object {
  numbers sizes, strides;             // tensors; of filters the strides follow from the format
  numbers padding, steps, dilations;  // windows
  int groups = 1, math = 0, activation = -1;
};

/// cudnnConvolutionFwdAlgoPerf_t.
struct found {
  int number, status;
  float milliseconds;
  std::size_t workspace;
  int determinism, math, reserved[3];
};

constexpr std::size_t workspace_of_5 = 4096;

bool is(const char* value) {
  const char* text = std::getenv("FAKE_CUDNN");
  return text && std::string(text) == value;
}

object& of(void* at) { return *static_cast<object*>(at); }
int make(void** out) {
  *out = new object;
  return 0;
}
int destroy(void* at) {
  delete static_cast<object*>(at);
  return 0;
}

/// Two that can be had, one of them with a workspace; one that cannot be; one that rounds.
int list(int wanted, int* count, found* out) {
  const found all[] = {{1, 0, 1, 0, 1, 3, {}},
                       {2, 9, -1, 0, 1, 3, {}},
                       {3, 0, 1, 0, 1, 1, {}},
                       {5, 0, 1, workspace_of_5, 1, 0, {}}};
  *count = 0;
  for (const found& f : all) {
    if (*count == wanted) break;
    if (is("none") && f.number != 2 && f.number != 3) continue;
    out[(*count)++] = f;
  }
  return 0;
}

int refusal(int number, void* workspace, std::size_t bytes) {
  if (is("refuse")) return 9;
  if (number == 1) return 0;
  return number == 5 && workspace && bytes >= workspace_of_5 ? 0 : 3;
}

std::size_t step(int stride, int count) { return static_cast<std::size_t>(stride * count); }

/// Of a pixel, a window's tap: without the first two dimensions.
std::size_t place(const object& o, const numbers& at) {
  std::size_t out = 0;
  for (std::size_t d = 0; d < at.size(); ++d) out += step(o.strides[d + 2], at[d]);
  return out;
}

/// Calls f(place in x, in w, in y) for all products of a convolution of x by w.
template <class F>
void each_tap(const object& x, const object& w, const object& y, const object& c, const F& f) {
  const std::size_t dims = y.sizes.size() - 2;
  const int below = w.sizes[1], per_group = w.sizes[0] / c.groups;
  numbers out(dims, 0);
  for (bool more = true; more;) {
    numbers tap(dims, 0);
    for (bool taps = true; taps;) {
      numbers in(dims);
      bool inside = true;
      for (std::size_t d = 0; d < dims; ++d) {
        in[d] = out[d] * c.steps[d] - c.padding[d] + tap[d] * c.dilations[d];
        inside = inside && in[d] >= 0 && in[d] < x.sizes[d + 2];
      }
      const std::size_t from = inside ? place(x, in) : 0, by = place(w, tap), to = place(y, out);
      for (int k = 0; inside && k < w.sizes[0]; ++k)
        for (int i = 0; i < below; ++i)
          f(from + step(x.strides[1], k / per_group * below + i),
            by + step(w.strides[0], k) + step(w.strides[1], i), to + step(y.strides[1], k));
      taps = false;
      for (std::size_t d = dims; d-- > 0 && !taps;) {
        taps = ++tap[d] < w.sizes[d + 2];
        if (!taps) tap[d] = 0;
      }
    }
    more = false;
    for (std::size_t d = dims; d-- > 0 && !more;) {
      more = ++out[d] < y.sizes[d + 2];
      if (!more) out[d] = 0;
    }
  }
}

/// How many elements a dense tensor has.
std::size_t elements(const object& o) {
  std::size_t out = 1;
  for (const int e : o.sizes) out *= static_cast<std::size_t>(e);
  return out;
}

bool plain(const void* alpha, const void* beta) {
  return *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0;
}

}  // namespace

extern "C" {

int cudnnCreate(void** out) { return make(out); }
int cudnnDestroy(void* at) { return destroy(at); }
int cudnnSetStream(void*, void*) { return 0; }
int cudnnCreateTensorDescriptor(void** out) { return make(out); }
int cudnnSetTensorNdDescriptor(void* at, int type, int count, const int* sizes,
                               const int* strides) {
  of(at).sizes.assign(sizes, sizes + count);
  of(at).strides.assign(strides, strides + count);
  return type == 0 && count >= 4 ? 0 : 3;
}
int cudnnDestroyTensorDescriptor(void* at) { return destroy(at); }
int cudnnCreateFilterDescriptor(void** out) { return make(out); }
int cudnnSetFilterNdDescriptor(void* at, int type, int format, int count, const int* sizes) {
  if (type != 0 || format > 1 || count < 4) return 3;
  object& o = of(at);
  o.sizes.assign(sizes, sizes + count);
  o.strides.assign(static_cast<std::size_t>(count), 1);
  int stride = format == 1 ? sizes[1] : 1;
  for (int d = count; d-- > 2; stride *= sizes[d]) o.strides[static_cast<std::size_t>(d)] = stride;
  if (format == 0) {
    o.strides[1] = stride;
    stride *= sizes[1];
  }
  o.strides[0] = stride;
  return 0;
}
int cudnnDestroyFilterDescriptor(void* at) { return destroy(at); }
int cudnnCreateConvolutionDescriptor(void** out) { return make(out); }
int cudnnSetConvolutionNdDescriptor(void* at, int count, const int* padding, const int* steps,
                                    const int* dilations, int mode, int type) {
  of(at).padding.assign(padding, padding + count);
  of(at).steps.assign(steps, steps + count);
  of(at).dilations.assign(dilations, dilations + count);
  return mode == 1 && type == 0 ? 0 : 3;
}
int cudnnSetConvolutionMathType(void* at, int math) {
  of(at).math = math;
  return 0;
}
int cudnnSetConvolutionGroupCount(void* at, int groups) {
  of(at).groups = groups;
  return 0;
}
int cudnnDestroyConvolutionDescriptor(void* at) { return destroy(at); }
int cudnnCreateActivationDescriptor(void** out) { return make(out); }
int cudnnSetActivationDescriptor(void* at, int mode, int, double) {
  of(at).activation = mode;
  return 0;
}
int cudnnDestroyActivationDescriptor(void* at) { return destroy(at); }

int cudnnGetConvolutionForwardAlgorithm_v7(void*, void* x, void* w, void* c, void* y, int wanted,
                                           int* count, found* out) {
  const bool fits = of(x).sizes[1] == of(w).sizes[1] * of(c).groups &&
                    of(y).sizes[1] == of(w).sizes[0] && of(c).math == 3;
  return fits ? list(wanted, count, out) : 3;
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, void* w, void* dy, void* c, void* dx,
                                                int wanted, int* count, found* out) {
  const bool fits = of(dx).sizes[1] == of(w).sizes[1] * of(c).groups &&
                    of(dy).sizes[1] == of(w).sizes[0] && of(c).math == 3;
  return fits ? list(wanted, count, out) : 3;
}
int cudnnConvolutionForward(void*, const void* alpha, void* x, const void* from, void* w,
                            const void* filter, void* c, int number, void* workspace,
                            std::size_t bytes, const void* beta, void* y, void* to) {
  if (const int why = refusal(number, workspace, bytes)) return why;
  if (!plain(alpha, beta)) return 3;
  std::memset(to, 0, elements(of(y)) * sizeof(float));
  each_tap(of(x), of(w), of(y), of(c), [&](std::size_t in, std::size_t tap, std::size_t out) {
    static_cast<float*>(to)[out] +=
        static_cast<const float*>(from)[in] * static_cast<const float*>(filter)[tap];
  });
  return 0;
}
int cudnnConvolutionBiasActivationForward(void* handle, const void* alpha, void* x,
                                          const void* from, void* w, const void* filter, void* c,
                                          int number, void* workspace, std::size_t bytes,
                                          const void* beta, void*, const void*, void* bias,
                                          const void* added, void* activation, void* y, void* to) {
  const int status = cudnnConvolutionForward(handle, alpha, x, from, w, filter, c, number,
                                             workspace, bytes, beta, y, to);
  if (status || of(activation).activation != 1 || of(bias).sizes[1] != of(y).sizes[1])
    return status ? status : 3;
  const object& o = of(y);
  const std::size_t pixels = elements(o) / static_cast<std::size_t>(o.sizes[1]);
  const bool last = o.strides[1] == 1;
  for (std::size_t p = 0; p < pixels; ++p)
    for (int k = 0; k < o.sizes[1]; ++k) {
      const auto channel = static_cast<std::size_t>(k),
                 count = static_cast<std::size_t>(o.sizes[1]);
      float& value = static_cast<float*>(to)[last ? p * count + channel : channel * pixels + p];
      value += static_cast<const float*>(added)[k];
      value = value > 0 ? value : 0;
    }
  return 0;
}
int cudnnConvolutionBackwardData(void*, const void* alpha, void* w, const void* filter, void* dy,
                                 const void* from, void* c, int number, void* workspace,
                                 std::size_t bytes, const void* beta, void* dx, void* to) {
  if (const int why = refusal(number, workspace, bytes)) return why;
  if (!plain(alpha, beta)) return 3;
  std::memset(to, 0, elements(of(dx)) * sizeof(float));
  each_tap(of(dx), of(w), of(dy), of(c), [&](std::size_t in, std::size_t tap, std::size_t out) {
    static_cast<float*>(to)[in] +=
        static_cast<const float*>(from)[out] * static_cast<const float*>(filter)[tap];
  });
  return 0;
}

}  // extern "C"
