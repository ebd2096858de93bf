// The tables of NVRTC and of the driver against the real headers, where they are installed.
#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>

#include <set>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

using namespace tilewright;
namespace cuda_backend = tilewright::backend::cuda;

TEST_CASE("NVRTC opens and tells its version") {
  try {
    CHECK(cuda_backend::nvrtc_version().find('.') != std::string::npos);
  } catch (const build_error& e) {
    MESSAGE("no NVRTC: " << e.what());
  }
}

#if __has_include(<nvrtc.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <nvrtc.h>

namespace {

/// What a type of the real headers is called in the tables.
template <class T>
struct ours {
  using type =
      std::conditional_t<std::is_enum_v<T>, std::type_identity<int>, std::type_identity<T>>::type;
};
template <>
struct ours<nvrtcProgram> {
  using type = cuda_backend::nvrtc_program;
};
template <>
struct ours<CUuuid> {
  using type = cuda_backend::device_uuid;
};
template <>
struct ours<CUcontext> {
  using type = cuda_backend::context_ref;
};
template <>
struct ours<CUmodule> {
  using type = cuda_backend::module_ref;
};
template <>
struct ours<CUfunction> {
  using type = cuda_backend::function_ref;
};
template <>
struct ours<CUstream> {
  using type = cuda_backend::stream_ref;
};
template <>
struct ours<CUevent> {
  using type = cuda_backend::event_ref;
};
template <>
struct ours<CUgraph> {
  using type = cuda_backend::graph_ref;
};
template <>
struct ours<CUgraphExec> {
  using type = cuda_backend::graph_exec_ref;
};
#if CUDA_VERSION >= 12000
template <>
struct ours<CUtensorMap> {
  using type = cuda_backend::encoded_tensor_map;
};
#endif
template <class T>
struct translated {
  using type = typename ours<T>::type;
};
static_assert(sizeof(CUuuid) == sizeof(cuda_backend::device_uuid));
template <class T>
requires(std::is_same_v<typename ours<T*>::type, T*> &&
         !std::is_function_v<T>) struct translated<T*> {
  using type = typename translated<T>::type*;
};
template <class T>
struct translated<const T> {
  using type = const typename translated<T>::type;
};
template <class R, class... A>
struct translated<R(A...)> {
  using type = typename translated<R>::type (*)(typename translated<A>::type...);
};

}  // namespace

#define SAME(table, prefix, name)                                         \
  static_assert(std::is_same_v<decltype(cuda_backend::table::name),       \
                               translated<decltype(prefix##name)>::type>, \
                #name);                                                   \
  checked.insert(#name)

TEST_CASE("every prototype of NVRTC's table is that of the real header") {
  std::set<std::string> checked, table;
  SAME(nvrtc_api, nvrtc, Version);
  SAME(nvrtc_api, nvrtc, GetErrorString);
  SAME(nvrtc_api, nvrtc, CreateProgram);
  SAME(nvrtc_api, nvrtc, DestroyProgram);
  SAME(nvrtc_api, nvrtc, CompileProgram);
  SAME(nvrtc_api, nvrtc, GetProgramLogSize);
  SAME(nvrtc_api, nvrtc, GetProgramLog);
  SAME(nvrtc_api, nvrtc, GetCUBINSize);
  SAME(nvrtc_api, nvrtc, GetCUBIN);
  SAME(nvrtc_api, nvrtc, GetNumSupportedArchs);
  SAME(nvrtc_api, nvrtc, GetSupportedArchs);
#if CUDA_VERSION >= 13000
  SAME(nvrtc_api, nvrtc, SetFlowCallback);
#else
  checked.insert("SetFlowCallback");
#endif
  cuda_backend::nvrtc_api{}.visit([&](const char* name, const auto&, bool) { table.insert(name); });
  CHECK(checked == table);
  CHECK(cuda_backend::nvrtc_success == NVRTC_SUCCESS);
  CHECK(cuda_backend::nvrtc_compilation == NVRTC_ERROR_COMPILATION);
}

TEST_CASE("every prototype of the driver's table is that of the real header") {
  std::set<std::string> checked;
  // the header defines a versioned name as a macro of the plain one
#define DRIVER(name) SAME(driver_api, cu, name)
  DRIVER(Init);
  DRIVER(DriverGetVersion);
  DRIVER(GetErrorName);
  DRIVER(GetErrorString);
  DRIVER(DeviceGetCount);
  DRIVER(DeviceGet);
  DRIVER(DeviceGetName);
  DRIVER(DeviceGetAttribute);
  DRIVER(DeviceGetUuid);
  DRIVER(DevicePrimaryCtxRetain);
  DRIVER(DevicePrimaryCtxRelease);
  DRIVER(CtxGetCurrent);
  DRIVER(CtxSetCurrent);
  DRIVER(CtxSynchronize);
  DRIVER(ModuleLoadData);
  DRIVER(ModuleUnload);
  DRIVER(ModuleGetFunction);
  DRIVER(FuncGetAttribute);
  DRIVER(FuncSetAttribute);
  DRIVER(LaunchKernel);
  DRIVER(MemAlloc);
  DRIVER(MemFree);
  DRIVER(MemcpyHtoD);
  DRIVER(MemcpyDtoH);
  DRIVER(MemcpyHtoDAsync);
  DRIVER(MemcpyDtoHAsync);
  DRIVER(MemsetD8);
  DRIVER(PointerGetAttribute);
  DRIVER(StreamCreate);
  DRIVER(StreamDestroy);
  DRIVER(StreamSynchronize);
  DRIVER(StreamGetCtx);
  DRIVER(StreamIsCapturing);
  DRIVER(StreamBeginCapture);
  DRIVER(StreamEndCapture);
  DRIVER(GraphInstantiateWithFlags);
  DRIVER(GraphLaunch);
  DRIVER(GraphExecDestroy);
  DRIVER(GraphDestroy);
  DRIVER(EventCreate);
  DRIVER(EventDestroy);
  DRIVER(EventRecord);
  DRIVER(EventQuery);
  DRIVER(EventSynchronize);
  DRIVER(EventElapsedTime);
#if CUDA_VERSION >= 12000
  DRIVER(TensorMapEncodeTiled);
#else
  checked.insert("TensorMapEncodeTiled");
#endif
#undef DRIVER
  std::set<std::string> table;
  cuda_backend::driver_api{}.visit([&](std::string name, const auto&, bool = false) {
    if (name.size() > 3 && name.substr(name.size() - 3) == "_v2") name.resize(name.size() - 3);
    table.insert(name);
  });
  CHECK(checked == table);
}

TEST_CASE("every constant of the driver is that of the real header") {
  const auto same = [](auto mine, auto theirs) {
    CHECK(static_cast<int>(mine) == static_cast<int>(theirs));
  };
  same(cuda_backend::driver_success, CUDA_SUCCESS);
  same(cuda_backend::driver_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
  same(cuda_backend::driver_stub_library, CUDA_ERROR_STUB_LIBRARY);
  same(cuda_backend::driver_no_device, CUDA_ERROR_NO_DEVICE);
  same(cuda_backend::driver_not_ready, CUDA_ERROR_NOT_READY);
  same(cuda_backend::attribute_multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  same(cuda_backend::attribute_l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  same(cuda_backend::attribute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  same(cuda_backend::attribute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  same(cuda_backend::attribute_shared_per_block,
       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  same(cuda_backend::function_local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  same(cuda_backend::pointer_memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  same(cuda_backend::pointer_is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
  same(cuda_backend::pointer_device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  same(static_cast<int>(cuda_backend::memory_type_device), CU_MEMORYTYPE_DEVICE);
  same(cuda_backend::function_registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
  same(cuda_backend::function_dynamic_shared_bytes,
       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  same(cuda_backend::event_default, CU_EVENT_DEFAULT);
  same(cuda_backend::stream_non_blocking, CU_STREAM_NON_BLOCKING);
  same(cuda_backend::capture_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  same(cuda_backend::capture_none, CU_STREAM_CAPTURE_STATUS_NONE);
#if CUDA_VERSION >= 12000
  static_assert(sizeof(CUtensorMap) == sizeof(cuda_backend::encoded_tensor_map));
  same(cuda_backend::tensor_u8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  same(cuda_backend::tensor_u16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
  same(cuda_backend::tensor_u32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
  same(cuda_backend::tensor_i32, CU_TENSOR_MAP_DATA_TYPE_INT32);
  same(cuda_backend::tensor_u64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
  same(cuda_backend::tensor_i64, CU_TENSOR_MAP_DATA_TYPE_INT64);
  same(cuda_backend::tensor_f16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  same(cuda_backend::tensor_f32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  same(cuda_backend::tensor_f64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
  same(cuda_backend::tensor_bf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  same(cuda_backend::tensor_not_interleaved, CU_TENSOR_MAP_INTERLEAVE_NONE);
  same(cuda_backend::tensor_lines_of_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
  same(cuda_backend::tensor_zeros_outside, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
#endif
}
#endif
