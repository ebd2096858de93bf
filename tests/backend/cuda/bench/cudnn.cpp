// cuDNN, a peer of the GPU program: prototypes and constants against the real header, where it is installed; and
// convolutions of the workloads by a library that is a fake one, against the interpreter.
#include "gpu/peers/cudnn.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

#include "../fake/fake.hpp"
#include "gpu/case_memory.hpp"
#include "gpu/workloads.hpp"

namespace {

using namespace tilewright;

std::vector<gpu_workloads::workload> convolutions() {
  std::vector<gpu_workloads::workload> out;
  for (gpu_workloads::workload& w : gpu_workloads::small())
    if (!w.convolution.input.empty()) out.push_back(std::move(w));
  return out;
}

std::vector<const float*> operands_of(gpu_case::case_memory& memory) {
  std::vector<const float*> out;
  for (const gpu_case::argument& a : memory.all())
    out.push_back(reinterpret_cast<const float*>(a.host.data()));
  return out;
}

}  // namespace

TEST_CASE("cuDNN as a peer: every convolution, in both layouts, by every algorithm") {
  if (!fake::here()) return;
  const gpu_cudnn::cu::device device;
  const std::vector<gpu_workloads::workload> all = convolutions();
  CHECK(all.size() == 8);  // C1D, C2D, C3D, DEP, DIL, GRP, T2D, CBR
  for (const gpu_workloads::workload& w : all)
    for (const int layout : {gpu_cudnn::channels_first, gpu_cudnn::channels_last}) {
      CAPTURE(w.name);
      CAPTURE(layout);
      gpu_case::case_memory memory(device, w.function, 5);
      const gpu_cudnn::convolution windows(device, w.convolution, layout);
      windows.put(operands_of(memory));
      memory.interpret();
      const gpu_case::byte_list& right = memory.all().back().host;
      CHECK(windows.algorithms() == 2);  // of four: one cannot be had, and one rounds factors
      for (std::size_t i = 0; i < windows.algorithms(); ++i) {
        windows.start(i);
        const std::vector<float> got = windows.result();
        REQUIRE(got.size() * sizeof(float) == right.size());
        float worst = 0;
        for (std::size_t e = 0; e < got.size(); ++e) {
          float expected;
          std::memcpy(&expected, &right[e * sizeof(float)], sizeof expected);
          worst = std::max(worst, std::abs(got[e] - expected));
        }
        CHECK(worst < 1e-4f);
      }
    }
}

TEST_CASE("cuDNN as a peer: what it does not know or refuses is an error that says so") {
  if (!fake::here()) return;
  const gpu_cudnn::cu::device device;
  const gpu_cudnn::shape s = convolutions()[0].convolution;
  {
    const fake::setting none("FAKE_CUDNN", "none");
    CHECK_THROWS_WITH_AS(gpu_cudnn::convolution(device, s, gpu_cudnn::channels_last),
                         "cuDNN knows no algorithm for this convolution", build_error);
  }
  const gpu_cudnn::convolution windows(device, s, gpu_cudnn::channels_last);
  const fake::setting refuse("FAKE_CUDNN", "refuse");
  CHECK_THROWS_WITH_AS(windows.start(0), "cuDNN: ConvolutionForward failed with status 9",
                       build_error);
}

#if __has_include(<cudnn.h>)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>

#include <set>
#include <type_traits>

#include "../fake/prototypes.hpp"

namespace prototypes {

template <class T>
requires(std::is_same_v<T, cudnnHandle_t> || std::is_same_v<T, cudnnTensorDescriptor_t> ||
         std::is_same_v<T, cudnnFilterDescriptor_t> ||
         std::is_same_v<T, cudnnConvolutionDescriptor_t> ||
         std::is_same_v<T, cudnnActivationDescriptor_t>) inline constexpr bool is_handle<T> = true;
template <class T>
requires(std::is_same_v<T, cudnnConvolutionFwdAlgoPerf_t*> ||
         std::is_same_v<T, cudnnConvolutionBwdDataAlgoPerf_t*>) struct plain<T> {
  using type = gpu_cudnn::algorithm*;
};

}  // namespace prototypes

TEST_CASE("every prototype of cuDNN's table is that of the real header") {
  std::set<std::string> checked, table;
#define DNN(name)                                                               \
  static_assert(std::is_same_v<decltype(gpu_cudnn::api::name),                  \
                               prototypes::plain<decltype(cudnn##name)>::type>, \
                #name);                                                         \
  checked.insert(#name)
  DNN(Create);
  DNN(Destroy);
  DNN(SetStream);
  DNN(CreateTensorDescriptor);
  DNN(SetTensorNdDescriptor);
  DNN(DestroyTensorDescriptor);
  DNN(CreateFilterDescriptor);
  DNN(SetFilterNdDescriptor);
  DNN(DestroyFilterDescriptor);
  DNN(CreateConvolutionDescriptor);
  DNN(SetConvolutionNdDescriptor);
  DNN(SetConvolutionMathType);
  DNN(SetConvolutionGroupCount);
  DNN(DestroyConvolutionDescriptor);
  DNN(CreateActivationDescriptor);
  DNN(SetActivationDescriptor);
  DNN(DestroyActivationDescriptor);
  DNN(GetConvolutionForwardAlgorithm_v7);
  DNN(GetConvolutionBackwardDataAlgorithm_v7);
  DNN(ConvolutionForward);
  DNN(ConvolutionBiasActivationForward);
  DNN(ConvolutionBackwardData);
#undef DNN
  gpu_cudnn::api{}.visit([&](const char* name, const auto&) { table.insert(name); });
  CHECK(checked == table);
  const auto same_layout = [](auto theirs) {
    using perf = decltype(theirs);
    CHECK(sizeof(gpu_cudnn::algorithm) == sizeof(perf));
    CHECK(offsetof(gpu_cudnn::algorithm, status) == offsetof(perf, status));
    CHECK(offsetof(gpu_cudnn::algorithm, workspace_bytes) == offsetof(perf, memory));
    CHECK(offsetof(gpu_cudnn::algorithm, math) == offsetof(perf, mathType));
  };
  same_layout(cudnnConvolutionFwdAlgoPerf_t{});
  same_layout(cudnnConvolutionBwdDataAlgoPerf_t{});
  CHECK(gpu_cudnn::data_f32 == CUDNN_DATA_FLOAT);
  CHECK(gpu_cudnn::channels_first == CUDNN_TENSOR_NCHW);
  CHECK(gpu_cudnn::channels_last == CUDNN_TENSOR_NHWC);
  CHECK(gpu_cudnn::cross_correlation == CUDNN_CROSS_CORRELATION);
  CHECK(gpu_cudnn::default_math == CUDNN_DEFAULT_MATH);
  CHECK(gpu_cudnn::multiply_add_math == CUDNN_FMA_MATH);
  CHECK(gpu_cudnn::relu == CUDNN_ACTIVATION_RELU);
  CHECK(gpu_cudnn::not_propagated == CUDNN_NOT_PROPAGATE_NAN);
}

#else
TEST_CASE("cuDNN's table is compared with the real header") {
  MESSAGE("skipped: cudnn.h is not installed");
}
#endif
