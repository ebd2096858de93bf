// cuDNN as a peer: convolutions by the best of its algorithms, opened at run time.
//
// No header of CUDA is included. A test compares prototypes and constants with the real header where it
// is installed. Convolutions go through the functions that came with version 7, which version 9 has, too:
// they give a list of algorithms for each problem, and take TF32 out by their kind of arithmetic.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>

namespace gpu_cudnn {

namespace cu = tilewright::backend::cuda;

using handle_ref = void*;  // cudnnHandle_t, and the descriptors below

inline constexpr int data_f32 = 0;                             // cudnnDataType_t
inline constexpr int channels_first = 0, channels_last = 1;    // cudnnTensorFormat_t
inline constexpr int cross_correlation = 1;                    // cudnnConvolutionMode_t
inline constexpr int default_math = 0, multiply_add_math = 3;  // cudnnMathType_t
inline constexpr int relu = 1;                                 // cudnnActivationMode_t
inline constexpr int not_propagated = 0;                       // cudnnNanPropagation_t

/// cudnnConvolutionFwdAlgoPerf_t, and cudnnConvolutionBwdDataAlgoPerf_t, which is laid out alike.
struct algorithm {
  int number;
  int status;
  float milliseconds;
  std::size_t workspace_bytes;
  int determinism;
  int math;
  int reserved[3];
};

/// Functions of the library without their prefix "cudnn".
struct api {
  int (*Create)(handle_ref*) = nullptr;
  int (*Destroy)(handle_ref) = nullptr;
  int (*SetStream)(handle_ref, cu::stream_ref) = nullptr;
  int (*CreateTensorDescriptor)(handle_ref*) = nullptr;
  int (*SetTensorNdDescriptor)(handle_ref, int, int, const int*, const int*) = nullptr;
  int (*DestroyTensorDescriptor)(handle_ref) = nullptr;
  int (*CreateFilterDescriptor)(handle_ref*) = nullptr;
  int (*SetFilterNdDescriptor)(handle_ref, int, int, int, const int*) = nullptr;
  int (*DestroyFilterDescriptor)(handle_ref) = nullptr;
  int (*CreateConvolutionDescriptor)(handle_ref*) = nullptr;
  int (*SetConvolutionNdDescriptor)(handle_ref, int, const int*, const int*, const int*, int,
                                    int) = nullptr;
  int (*SetConvolutionMathType)(handle_ref, int) = nullptr;
  int (*SetConvolutionGroupCount)(handle_ref, int) = nullptr;
  int (*DestroyConvolutionDescriptor)(handle_ref) = nullptr;
  int (*CreateActivationDescriptor)(handle_ref*) = nullptr;
  int (*SetActivationDescriptor)(handle_ref, int, int, double) = nullptr;
  int (*DestroyActivationDescriptor)(handle_ref) = nullptr;
  int (*GetConvolutionForwardAlgorithm_v7)(handle_ref, handle_ref, handle_ref, handle_ref,
                                           handle_ref, int, int*, algorithm*) = nullptr;
  int (*GetConvolutionBackwardDataAlgorithm_v7)(handle_ref, handle_ref, handle_ref, handle_ref,
                                                handle_ref, int, int*, algorithm*) = nullptr;
  int (*ConvolutionForward)(handle_ref, const void*, handle_ref, const void*, handle_ref,
                            const void*, handle_ref, int, void*, std::size_t, const void*,
                            handle_ref, void*) = nullptr;
  int (*ConvolutionBiasActivationForward)(handle_ref, const void*, handle_ref, const void*,
                                          handle_ref, const void*, handle_ref, int, void*,
                                          std::size_t, const void*, handle_ref, const void*,
                                          handle_ref, const void*, handle_ref, handle_ref,
                                          void*) = nullptr;
  int (*ConvolutionBackwardData)(handle_ref, const void*, handle_ref, const void*, handle_ref,
                                 const void*, handle_ref, int, void*, std::size_t, const void*,
                                 handle_ref, void*) = nullptr;

  /// Calls f(name in the library, pointer) for every function above.
  template <class F>
  void visit(F&& f) {
    f("Create", Create);
    f("Destroy", Destroy);
    f("SetStream", SetStream);
    f("CreateTensorDescriptor", CreateTensorDescriptor);
    f("SetTensorNdDescriptor", SetTensorNdDescriptor);
    f("DestroyTensorDescriptor", DestroyTensorDescriptor);
    f("CreateFilterDescriptor", CreateFilterDescriptor);
    f("SetFilterNdDescriptor", SetFilterNdDescriptor);
    f("DestroyFilterDescriptor", DestroyFilterDescriptor);
    f("CreateConvolutionDescriptor", CreateConvolutionDescriptor);
    f("SetConvolutionNdDescriptor", SetConvolutionNdDescriptor);
    f("SetConvolutionMathType", SetConvolutionMathType);
    f("SetConvolutionGroupCount", SetConvolutionGroupCount);
    f("DestroyConvolutionDescriptor", DestroyConvolutionDescriptor);
    f("CreateActivationDescriptor", CreateActivationDescriptor);
    f("SetActivationDescriptor", SetActivationDescriptor);
    f("DestroyActivationDescriptor", DestroyActivationDescriptor);
    f("GetConvolutionForwardAlgorithm_v7", GetConvolutionForwardAlgorithm_v7);
    f("GetConvolutionBackwardDataAlgorithm_v7", GetConvolutionBackwardDataAlgorithm_v7);
    f("ConvolutionForward", ConvolutionForward);
    f("ConvolutionBiasActivationForward", ConvolutionBiasActivationForward);
    f("ConvolutionBackwardData", ConvolutionBackwardData);
  }
};

/// Y = windows of X times F, in f32, for one image; channels stand last: X [input.., channels], F [taps..,
/// channels / groups, filters], Y [output.., filters].
struct shape {
  std::vector<int> input;  // one to three dimensions; none: no convolution
  int channels = 0, filters = 0, taps = 0, stride = 1, padding = 0, dilation = 1, groups = 1;
  bool transposed = false;  // Y is larger: its windows give X; F [taps.., channels, filters]
  bool normalized = false;  // max((Y + B) * G + O, 0) instead, each of them [filters]
};

/// The dimensions of an image of Y.
std::vector<int> output_of(const shape& s);

/// One convolution on the device in one layout of the library's, by up to eight algorithms, best guess first.
class convolution {
 public:
  /// @param layout  channels_first or channels_last
  /// @throws build_error when the library cannot be opened, or knows no algorithm
  convolution(const cu::device& on, const shape& s, int layout);
  ~convolution();
  convolution(const convolution&) = delete;
  convolution& operator=(const convolution&) = delete;

  /// Copies operands in: X, F and, where it is normalized, B, G and O, as `shape` has them.
  void put(const std::vector<const float*>& operands) const;
  /// Y as `shape` has it.
  std::vector<float> result() const;

  std::size_t algorithms() const noexcept { return found_.size(); }
  /// Starts it on a stream. @throws build_error when the library refuses
  void start(std::size_t algorithm, cu::stream_ref stream = nullptr) const;

 private:
  using extents = std::vector<int>;
  handle_ref tensor(int channels, const extents& image) const;
  std::size_t place(const extents& image, int channels, int pixel, int channel) const;
  std::size_t filter_place(int first, int second, int tap) const;
  void find_algorithms();

  const cu::device& on_;
  shape shape_;
  int layout_;
  extents input_, output_, taps_;  // two dimensions at least
  handle_ref handle_ = nullptr, x_ = nullptr, f_ = nullptr, y_ = nullptr, windows_ = nullptr,
             bias_ = nullptr, activation_ = nullptr;
  std::vector<algorithm> found_;
  cu::device_memory x_at_, f_at_, y_at_, bias_at_;
  std::unique_ptr<cu::device_memory> workspace_;
};

}  // namespace gpu_cudnn
