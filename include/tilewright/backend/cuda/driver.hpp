// The part of the CUDA driver that the library uses: prototypes and constants, opened at run time.
//
// No header of CUDA is included. A test compares every prototype and constant below with the real
// header where it is installed. Functions whose meaning changed carry their version in the library;
// `visit` names them so.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilewright/config.hpp>

namespace tilewright::backend::cuda {

using device_pointer = unsigned long long;  // CUdeviceptr
using context_ref = struct opaque_cuda_context*;
using module_ref = struct opaque_cuda_module*;
using function_ref = struct opaque_cuda_function*;
using stream_ref = struct opaque_cuda_stream*;
using event_ref = struct opaque_cuda_event*;
using graph_ref = struct opaque_cuda_graph*;
using graph_exec_ref = struct opaque_cuda_graph_exec*;

/// CUuuid.
struct device_uuid {
  char bytes[16];
};

/// CUtensorMap.
struct alignas(128) encoded_tensor_map {
  std::uint64_t opaque[16];
};
static_assert(sizeof(encoded_tensor_map) == 128);

/// CUtensorMapDataType.
inline constexpr int tensor_u8 = 0;
inline constexpr int tensor_u16 = 1;
inline constexpr int tensor_u32 = 2;
inline constexpr int tensor_i32 = 3;
inline constexpr int tensor_u64 = 4;
inline constexpr int tensor_i64 = 5;
inline constexpr int tensor_f16 = 6;
inline constexpr int tensor_f32 = 7;
inline constexpr int tensor_f64 = 8;
inline constexpr int tensor_bf16 = 9;
/// CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapFloatOOBfill.
inline constexpr int tensor_not_interleaved = 0;
inline constexpr int tensor_lines_of_128 = 2;
inline constexpr int tensor_zeros_outside = 0;

/// CUresult, the ones that the library tells apart.
inline constexpr int driver_success = 0;
inline constexpr int driver_out_of_memory = 2;
inline constexpr int driver_stub_library = 34;
inline constexpr int driver_no_device = 100;
inline constexpr int driver_not_ready = 600;

/// CUdevice_attribute.
inline constexpr int attribute_multiprocessors = 16;
inline constexpr int attribute_l2_bytes = 38;
inline constexpr int attribute_capability_major = 75;
inline constexpr int attribute_capability_minor = 76;
inline constexpr int attribute_shared_per_block = 97;
/// CUpointer_attribute, and the CUmemorytype that the first one gives.
inline constexpr int pointer_memory_type = 2;
inline constexpr int pointer_is_managed = 8;
inline constexpr int pointer_device_ordinal = 9;
inline constexpr unsigned memory_type_device = 2;
/// CUfunction_attribute.
inline constexpr int function_local_bytes = 3;
inline constexpr int function_registers = 4;
inline constexpr int function_dynamic_shared_bytes = 8;
/// CUevent_flags, CUstream_flags.
inline constexpr unsigned event_default = 0;
inline constexpr unsigned stream_non_blocking = 1;
/// CUstreamCaptureStatus: of a stream that records no graph.
inline constexpr int capture_none = 0;
/// CUstreamCaptureMode: the calling thread may do meanwhile what could not be recorded.
inline constexpr int capture_relaxed = 2;

/// Functions of the driver without their prefix "cu".
struct driver_api {
  // NOLINTBEGIN(readability-identifier-naming): the driver's own names
  int (*Init)(unsigned) = nullptr;
  int (*DriverGetVersion)(int*) = nullptr;
  int (*GetErrorName)(int, const char**) = nullptr;
  int (*GetErrorString)(int, const char**) = nullptr;
  int (*DeviceGetCount)(int*) = nullptr;
  int (*DeviceGet)(int*, int) = nullptr;
  int (*DeviceGetName)(char*, int, int) = nullptr;
  int (*DeviceGetAttribute)(int*, int, int) = nullptr;
  int (*DeviceGetUuid)(device_uuid*, int) = nullptr;
  int (*DevicePrimaryCtxRetain)(context_ref*, int) = nullptr;
  int (*DevicePrimaryCtxRelease)(int) = nullptr;
  int (*CtxGetCurrent)(context_ref*) = nullptr;
  int (*CtxSetCurrent)(context_ref) = nullptr;
  int (*CtxSynchronize)() = nullptr;
  int (*ModuleLoadData)(module_ref*, const void*) = nullptr;
  int (*ModuleUnload)(module_ref) = nullptr;
  int (*ModuleGetFunction)(function_ref*, module_ref, const char*) = nullptr;
  int (*FuncGetAttribute)(int*, int, function_ref) = nullptr;
  int (*FuncSetAttribute)(function_ref, int, int) = nullptr;
  int (*LaunchKernel)(function_ref, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, stream_ref, void**, void**) = nullptr;
  int (*MemAlloc)(device_pointer*, std::size_t) = nullptr;
  int (*MemFree)(device_pointer) = nullptr;
  int (*MemcpyHtoD)(device_pointer, const void*, std::size_t) = nullptr;
  int (*MemcpyDtoH)(void*, device_pointer, std::size_t) = nullptr;
  int (*MemcpyHtoDAsync)(device_pointer, const void*, std::size_t, stream_ref) = nullptr;
  int (*MemcpyDtoHAsync)(void*, device_pointer, std::size_t, stream_ref) = nullptr;
  int (*MemsetD8)(device_pointer, unsigned char, std::size_t) = nullptr;
  int (*PointerGetAttribute)(void*, int, device_pointer) = nullptr;
  int (*StreamCreate)(stream_ref*, unsigned) = nullptr;
  int (*StreamDestroy)(stream_ref) = nullptr;
  int (*StreamSynchronize)(stream_ref) = nullptr;
  int (*StreamGetCtx)(stream_ref, context_ref*) = nullptr;
  int (*StreamIsCapturing)(stream_ref, int*) = nullptr;
  int (*StreamBeginCapture)(stream_ref, int) = nullptr;
  int (*StreamEndCapture)(stream_ref, graph_ref*) = nullptr;
  int (*GraphInstantiateWithFlags)(graph_exec_ref*, graph_ref, unsigned long long) = nullptr;
  int (*GraphLaunch)(graph_exec_ref, stream_ref) = nullptr;
  int (*GraphExecDestroy)(graph_exec_ref) = nullptr;
  int (*GraphDestroy)(graph_ref) = nullptr;
  int (*EventCreate)(event_ref*, unsigned) = nullptr;
  int (*EventDestroy)(event_ref) = nullptr;
  int (*EventRecord)(event_ref, stream_ref) = nullptr;
  int (*EventQuery)(event_ref) = nullptr;
  int (*EventSynchronize)(event_ref) = nullptr;
  int (*EventElapsedTime)(float*, event_ref, event_ref) = nullptr;
  /// Null where the driver is older than CUDA 12.
  int (*TensorMapEncodeTiled)(encoded_tensor_map*, int type, unsigned rank, void* address,
                              const std::uint64_t* extents, const std::uint64_t* strides,
                              const std::uint32_t* box, const std::uint32_t* steps, int interleave,
                              int swizzle, int promotion, int outside) = nullptr;
  // NOLINTEND(readability-identifier-naming)

  /// Calls f(name in the library, pointer) for every function above, with a third argument for what may be
  /// missing.
  template <class F>
  void visit(F&& f) {
    f("Init", Init);
    f("DriverGetVersion", DriverGetVersion);
    f("GetErrorName", GetErrorName);
    f("GetErrorString", GetErrorString);
    f("DeviceGetCount", DeviceGetCount);
    f("DeviceGet", DeviceGet);
    f("DeviceGetName", DeviceGetName);
    f("DeviceGetAttribute", DeviceGetAttribute);
    f("DeviceGetUuid_v2", DeviceGetUuid);
    f("DevicePrimaryCtxRetain", DevicePrimaryCtxRetain);
    f("DevicePrimaryCtxRelease_v2", DevicePrimaryCtxRelease);
    f("CtxGetCurrent", CtxGetCurrent);
    f("CtxSetCurrent", CtxSetCurrent);
    f("CtxSynchronize", CtxSynchronize);
    f("ModuleLoadData", ModuleLoadData);
    f("ModuleUnload", ModuleUnload);
    f("ModuleGetFunction", ModuleGetFunction);
    f("FuncGetAttribute", FuncGetAttribute);
    f("FuncSetAttribute", FuncSetAttribute);
    f("LaunchKernel", LaunchKernel);
    f("MemAlloc_v2", MemAlloc);
    f("MemFree_v2", MemFree);
    f("MemcpyHtoD_v2", MemcpyHtoD);
    f("MemcpyDtoH_v2", MemcpyDtoH);
    f("MemcpyHtoDAsync_v2", MemcpyHtoDAsync);
    f("MemcpyDtoHAsync_v2", MemcpyDtoHAsync);
    f("MemsetD8_v2", MemsetD8);
    f("PointerGetAttribute", PointerGetAttribute);
    f("StreamCreate", StreamCreate);
    f("StreamDestroy_v2", StreamDestroy);
    f("StreamSynchronize", StreamSynchronize);
    f("StreamGetCtx", StreamGetCtx);
    f("StreamIsCapturing", StreamIsCapturing);
    f("StreamBeginCapture_v2", StreamBeginCapture);
    f("StreamEndCapture", StreamEndCapture);
    f("GraphInstantiateWithFlags", GraphInstantiateWithFlags);
    f("GraphLaunch", GraphLaunch);
    f("GraphExecDestroy", GraphExecDestroy);
    f("GraphDestroy", GraphDestroy);
    f("EventCreate", EventCreate);
    f("EventDestroy_v2", EventDestroy);
    f("EventRecord", EventRecord);
    f("EventQuery", EventQuery);
    f("EventSynchronize", EventSynchronize);
    f("EventElapsedTime", EventElapsedTime);
    f("TensorMapEncodeTiled", TensorMapEncodeTiled, true);
  }
};

/// The table of the process, opened at first use and kept until it ends. The driver is not
/// initialized by this.
/// @throws build_error naming the libraries tried and what to install
const driver_api& driver();

}  // namespace tilewright::backend::cuda
