#include "cudnn.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/error.hpp>

#include "primary_context.hpp"

namespace gpu_cudnn {
namespace {

using namespace tilewright;

constexpr std::size_t most_workspace = std::size_t{1} << 30;
constexpr int requested = 8;

const api& library() {
  static const api table = [] {
    support::dynamic_library opened(
        {"cuDNN",
         "TILEWRIGHT_CUDNN",
         {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so", "/usr/local/cuda/lib64/libcudnn.so"},
         "install the Python package nvidia-cudnn-cu13 or "
         "nvidia-cudnn-cu12; or set TILEWRIGHT_CUDNN to the path of a "
         "libcudnn"});
    api out;
    opened.fill(out, "cudnn");
    opened.keep_open();
    return out;
  }();
  return table;
}

void check(int status, const char* what) {
  if (status != 0)
    throw build_error(std::string("cuDNN: ") + what + " failed with status " +
                      std::to_string(status));
}

/// With a first dimension of one where there is one alone.
std::vector<int> at_least_two(std::vector<int> image, int of_the_first) {
  if (image.size() == 1) image.insert(image.begin(), of_the_first);
  return image;
}

int product(const std::vector<int>& x) {
  int out = 1;
  for (const int e : x) out *= e;
  return out;
}

std::size_t floats(int a, int b) {
  return sizeof(float) * static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

void copy_in(const cu::device& on, const cu::device_memory& to, const std::vector<float>& from) {
  on.copy_in(to.get(), from.data(), from.size() * sizeof(float));
}

}  // namespace

std::vector<int> output_of(const shape& s) {
  std::vector<int> out;
  const int window = s.dilation * (s.taps - 1) + 1;
  for (const int e : s.input)
    out.push_back(s.transposed ? (e - 1) * s.stride + window - 2 * s.padding
                               : (e + 2 * s.padding - window) / s.stride + 1);
  return out;
}

convolution::convolution(const cu::device& on, const shape& s, int layout)
    : on_(on),
      shape_(s),
      layout_(layout),
      input_(at_least_two(s.input, 1)),
      output_(at_least_two(output_of(s), 1)),
      taps_(at_least_two(std::vector<int>(s.input.size(), s.taps), 1)),
      x_at_((gpu_peers::enter_primary_context("cuDNN"), on), floats(product(input_), s.channels)),
      f_at_(on, floats(product(taps_) * s.channels / s.groups, s.filters)),
      y_at_(on, floats(product(output_), s.filters)),
      bias_at_(on, floats(s.filters, 1)) {
  const api& c = library();
  check(c.Create(&handle_), "Create");
  x_ = tensor(s.channels, input_);
  y_ = tensor(s.filters, output_);
  // a transposed one is the gradient of another, whose filters are this one's channels
  extents filter{s.transposed ? s.channels : s.filters,
                 s.transposed ? s.filters : s.channels / s.groups};
  filter.insert(filter.end(), taps_.begin(), taps_.end());
  const int dimensions = static_cast<int>(filter.size());
  check(c.CreateFilterDescriptor(&f_), "CreateFilterDescriptor");
  check(c.SetFilterNdDescriptor(f_, data_f32, layout_, dimensions, filter.data()),
        "SetFilterNdDescriptor");
  const auto each = [&](int value, int of_the_first) {
    return at_least_two(extents(s.input.size(), value), of_the_first);
  };
  check(c.CreateConvolutionDescriptor(&windows_), "CreateConvolutionDescriptor");
  check(c.SetConvolutionNdDescriptor(windows_, dimensions - 2, each(s.padding, 0).data(),
                                     each(s.stride, 1).data(), each(s.dilation, 1).data(),
                                     cross_correlation, data_f32),
        "SetConvolutionNdDescriptor");
  check(c.SetConvolutionMathType(windows_, multiply_add_math), "SetConvolutionMathType");
  check(c.SetConvolutionGroupCount(windows_, s.groups), "SetConvolutionGroupCount");
  if (s.normalized) {
    bias_ = tensor(s.filters, extents(input_.size(), 1));
    check(c.CreateActivationDescriptor(&activation_), "CreateActivationDescriptor");
    check(c.SetActivationDescriptor(activation_, relu, not_propagated, 0),
          "SetActivationDescriptor");
  }
  find_algorithms();
}

convolution::~convolution() {
  const api& c = library();
  for (const handle_ref t : {x_, y_, bias_})
    if (t) c.DestroyTensorDescriptor(t);
  if (f_) c.DestroyFilterDescriptor(f_);
  if (windows_) c.DestroyConvolutionDescriptor(windows_);
  if (activation_) c.DestroyActivationDescriptor(activation_);
  if (handle_) c.Destroy(handle_);
}

handle_ref convolution::tensor(int channels, const extents& image) const {
  extents sizes{1, channels}, strides(image.size() + 2, 1);
  sizes.insert(sizes.end(), image.begin(), image.end());
  int stride = layout_ == channels_last ? channels : 1;
  for (std::size_t d = image.size(); d-- > 0; stride *= image[d]) strides[d + 2] = stride;
  if (layout_ == channels_first) {
    strides[1] = stride;
    stride *= channels;
  }
  strides[0] = stride;
  handle_ref out = nullptr;
  check(library().CreateTensorDescriptor(&out), "CreateTensorDescriptor");
  check(library().SetTensorNdDescriptor(out, data_f32, static_cast<int>(sizes.size()), sizes.data(),
                                        strides.data()),
        "SetTensorNdDescriptor");
  return out;
}

std::size_t convolution::place(const extents& image, int channels, int pixel, int channel) const {
  return static_cast<std::size_t>(layout_ == channels_last ? pixel * channels + channel
                                                           : channel * product(image) + pixel);
}

/// Of the library's filters: `first` is the one that it counts first, `second` the channel below it.
std::size_t convolution::filter_place(int first, int second, int tap) const {
  const int taps = product(taps_),
            below = shape_.transposed ? shape_.filters : shape_.channels / shape_.groups;
  return static_cast<std::size_t>(layout_ == channels_last ? (first * taps + tap) * below + second
                                                           : (first * below + second) * taps + tap);
}

void convolution::find_algorithms() {
  found_.resize(requested);
  int count = 0;
  const api& c = library();
  if (shape_.transposed)
    check(c.GetConvolutionBackwardDataAlgorithm_v7(handle_, f_, x_, windows_, y_, requested, &count,
                                                   found_.data()),
          "GetConvolutionBackwardDataAlgorithm_v7");
  else
    check(c.GetConvolutionForwardAlgorithm_v7(handle_, x_, f_, windows_, y_, requested, &count,
                                              found_.data()),
          "GetConvolutionForwardAlgorithm_v7");
  found_.resize(static_cast<std::size_t>(std::clamp(count, 0, requested)));
  const auto unfit = [](const algorithm& a) {
    return a.status != 0 || a.workspace_bytes > most_workspace ||
           (a.math != default_math && a.math != multiply_add_math);
  };
  found_.erase(std::remove_if(found_.begin(), found_.end(), unfit), found_.end());
  if (found_.empty()) throw build_error("cuDNN knows no algorithm for this convolution");
  std::size_t most = 0;
  for (const algorithm& a : found_) most = std::max(most, a.workspace_bytes);
  if (most > 0) workspace_ = std::make_unique<cu::device_memory>(on_, most);
}

void convolution::put(const std::vector<const float*>& operands) const {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const float *x = operands[0], *f = operands[1];
  const int pixels = product(input_), taps = product(taps_), filters = shape_.filters,
            channels = shape_.channels, below = channels / shape_.groups;
  std::vector<float> image(at(pixels * channels)), weights(at(taps * below * filters));
  for (int p = 0; p < pixels; ++p)
    for (int c = 0; c < channels; ++c)
      image[place(input_, channels, p, c)] = x[at(p * channels + c)];
  const auto scale = [&](int k) { return shape_.normalized ? operands[3][k] : 1.0f; };
  for (int t = 0; t < taps; ++t)
    for (int c = 0; c < below; ++c)
      for (int k = 0; k < filters; ++k)
        weights[shape_.transposed ? filter_place(c, k, t) : filter_place(k, c, t)] =
            f[at((t * below + c) * filters + k)] * scale(k);
  copy_in(on_, x_at_, image);
  copy_in(on_, f_at_, weights);
  if (!shape_.normalized) return;
  // (Y + B) * G + O = Y * G + (B * G + O)
  std::vector<float> bias;
  for (int k = 0; k < filters; ++k)
    bias.push_back(operands[2][k] * operands[3][k] + operands[4][k]);
  copy_in(on_, bias_at_, bias);
}

std::vector<float> convolution::result() const {
  const int pixels = product(output_), filters = shape_.filters;
  const std::size_t count = floats(pixels, filters) / sizeof(float);
  std::vector<float> theirs(count), out(count);
  on_.copy_out(theirs.data(), y_at_.get(), count * sizeof(float));
  for (int p = 0; p < pixels; ++p)
    for (int k = 0; k < filters; ++k)
      out[static_cast<std::size_t>(p * filters + k)] = theirs[place(output_, filters, p, k)];
  return out;
}

void convolution::start(std::size_t chosen, cu::stream_ref stream) const {
  const api& c = library();
  const float one = 1, zero = 0;
  const algorithm& a = found_[chosen];
  void* const scratch = workspace_ ? workspace_->data() : nullptr;
  check(c.SetStream(handle_, stream), "SetStream");
  if (shape_.transposed)
    check(c.ConvolutionBackwardData(handle_, &one, f_, f_at_.data(), x_, x_at_.data(), windows_,
                                    a.number, scratch, a.workspace_bytes, &zero, y_, y_at_.data()),
          "ConvolutionBackwardData");
  else if (shape_.normalized)
    check(c.ConvolutionBiasActivationForward(handle_, &one, x_, x_at_.data(), f_, f_at_.data(),
                                             windows_, a.number, scratch, a.workspace_bytes, &zero,
                                             y_, y_at_.data(), bias_, bias_at_.data(), activation_,
                                             y_, y_at_.data()),
          "ConvolutionBiasActivationForward");
  else
    check(c.ConvolutionForward(handle_, &one, x_, x_at_.data(), f_, f_at_.data(), windows_,
                               a.number, scratch, a.workspace_bytes, &zero, y_, y_at_.data()),
          "ConvolutionForward");
}

}  // namespace gpu_cudnn
