// A driver without a device behind it, for tests of what the library does with answers. The
// environment says what it answers: FAKE_CUDA_INIT (a result), FAKE_CUDA_DEVICES, FAKE_CUDA_VERSION.
// Device memory is host memory; a launch leaves a mark in its first argument, or is what the test makes of it.
// Kernels FAKE_CUDA_ILLEGAL and FAKE_CUDA_HANG make an illegal access and do not end; with FAKE_CUDA_COMPUTE=chain
// all others compute max(exp(x / 2) - x, 0) of their first argument into their second one. A kernel
// "fill_64_250" writes 64 bytes into the first, and takes 250 us.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace {

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::atoi(text) : otherwise;
}

bool is(const char* variable, const char* text) {
  const char* value = std::getenv(variable);
  return value && std::strcmp(value, text) == 0;
}

bool hangs = false;  // a kernel of this process does not end

// [address] bytes
std::map<unsigned long long, std::size_t> allocations;
std::mutex allocating;
constexpr unsigned long long device_bytes = 1ull << 40;

/// Bytes behind an address, without those that the library keeps behind an argument.
std::size_t bytes_behind(unsigned long long address) {
  constexpr std::size_t canary = 1024;
  const std::lock_guard lock(allocating);
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return 0;
  const auto& [first, size] = *--next;
  return first + size > address + canary ? first + size - canary - address : 0;
}

void compute_chain(void** arguments) {
  unsigned long long from, to;
  std::memcpy(&from, arguments[0], sizeof from);
  std::memcpy(&to, arguments[1], sizeof to);
  const std::size_t count = std::min(bytes_behind(from), bytes_behind(to)) / sizeof(float);
  const float* x = reinterpret_cast<const float*>(from);
  float* y = reinterpret_cast<float*>(to);
  for (std::size_t i = 0; i < count; ++i) y[i] = std::fmax(std::exp(x[i] * 0.5f) - x[i], 0.0f);
}

char place, elsewhere;  // what handles point to: of this context, and of another one

using launch_hook = int (*)(const char* symbol, void** arguments, void* stream);
launch_hook on_launch = nullptr;
float since_event = 0, between_events = 0;  // ms that kernels took

}  // namespace

extern "C" {

int cuInit(unsigned) { return number("FAKE_CUDA_INIT", 0); }
int cuDriverGetVersion(int* out) {
  *out = number("FAKE_CUDA_VERSION", 13000);
  return 0;
}
int cuGetErrorName(int, const char** out) {
  *out = "CUDA_ERROR_FAKE";
  return 0;
}
int cuGetErrorString(int, const char** out) {
  *out = "an error of the fake driver";
  return 0;
}
int cuDeviceGetCount(int* out) {
  *out = number("FAKE_CUDA_DEVICES", 1);
  return 0;
}
int cuDeviceGet(int* out, int ordinal) {
  *out = ordinal;
  return 0;
}
int cuDeviceGetName(char* out, int size, int) {
  std::strncpy(out, "fake", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* out, int attribute, int) {
  *out = attribute == 75 ? number("FAKE_CUDA_MAJOR", 9) : attribute == 76 ? 0 : 100;
  return 0;
}
/// Sixteen times FAKE_CUDA_UUID.
int cuDeviceGetUuid_v2(char* out, int) {
  std::memset(out, number("FAKE_CUDA_UUID", 0x2a), 16);
  return 0;
}
int cuDevicePrimaryCtxRetain(void** out, int) {
  *out = &place;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxGetCurrent(void** out) {
  *out = nullptr;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return number("FAKE_CUDA_SYNCHRONIZE", 0); }
int cuModuleLoadData(void** out, const void*) {
  *out = &place;
  return number("FAKE_CUDA_LOAD", 0);
}
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** out, void*, const char* name) {
  static std::set<std::string> symbols;
  *out = const_cast<char*>(symbols.insert(name).first->c_str());
  return 0;
}
int cuFuncGetAttribute(int* out, int, void*) {
  *out = 0;
  return 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
/// The map has the address, the type, how often it was asked, and extents, strides, box and swizzle from there on.
int cuTensorMapEncodeTiled(unsigned long long* out, int type, unsigned rank, void* address,
                           const unsigned long* extents, const unsigned long* strides,
                           const unsigned* box, const unsigned* steps, int interleave, int swizzle,
                           int, int) {
  static unsigned long long asked = 0;
  if (const int refused = number("FAKE_CUDA_ENCODE", 0)) return refused;
  if (rank < 1 || rank > 5 || interleave != 0 || steps[0] != 1) return 1;
  out[0] = reinterpret_cast<unsigned long long>(address);
  out[1] = static_cast<unsigned long long>(type);
  out[2] = ++asked;
  out[3] = extents[0];
  out[4] = rank > 1 ? strides[0] : 0;
  out[5] = box[rank - 1];
  out[6] = static_cast<unsigned long long>(swizzle);
  return 0;
}
/// What starts a kernel from now on; null: the mark below.
void fake_cuda_on_launch(launch_hook hook) { on_launch = hook; }

int cuLaunchKernel(void* symbol, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void* stream, void** arguments, void**) {
  const auto* const name = static_cast<const char*>(symbol);
  if (on_launch) return on_launch(name, arguments, stream);
  if (is("FAKE_CUDA_ILLEGAL", name)) return 700;
  if (is("FAKE_CUDA_HANG", name)) hangs = true;
  if (is("FAKE_CUDA_COMPUTE", "chain")) {
    compute_chain(arguments);
    return 0;
  }
  std::size_t bytes = 0;
  float microseconds = 0;
  if (std::sscanf(name, "fill_%zu_%f", &bytes, &microseconds) == 2) {
    unsigned char* first = nullptr;
    std::memcpy(&first, arguments[0], sizeof first);
    std::memset(first, 0x5a, bytes);
    since_event += microseconds * 1e-3f;
    return 0;
  }
  // one byte per launch in FAKE_CUDA_LOG, the same one for all launches of FAKE_CUDA_NAME
  if (const char* log = std::getenv("FAKE_CUDA_LOG")) {
    const char mark = static_cast<char>(number("FAKE_CUDA_NAME", 'a'));
    const int file = ::open(log, O_WRONLY | O_APPEND | O_CREAT, 0644);
    const bool written = ::write(file, &mark, 1) == 1;
    ::close(file);
    ::usleep(static_cast<unsigned>(number("FAKE_CUDA_LAUNCH_US", 0)));
    if (!written) return 999;
  }
  // writes into what the first argument points to, FAKE_CUDA_WRITE_AT bytes on, so that a test sees
  // the launch
  if (arguments && arguments[0]) {
    unsigned long long address;
    std::memcpy(&address, arguments[0], sizeof address);
    address += static_cast<unsigned long long>(number("FAKE_CUDA_WRITE_AT", 0));
    if (address) *reinterpret_cast<unsigned char*>(address) = 0x5a;
  }
  return number("FAKE_CUDA_LAUNCH", 0);
}
int cuMemAlloc_v2(unsigned long long* out, std::size_t size) {
  *out = reinterpret_cast<unsigned long long>(std::malloc(size));
  const std::lock_guard lock(allocating);
  allocations[*out] = size;
  return number("FAKE_CUDA_ALLOC", 0);
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  const std::lock_guard lock(allocating);
  *all = *free = device_bytes;
  for (const auto& [at, size] : allocations) *free -= size;
  return 0;
}
int cuMemFree_v2(unsigned long long at) {
  {
    const std::lock_guard lock(allocating);
    allocations.erase(at);
  }
  std::free(reinterpret_cast<void*>(at));
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t size) {
  std::memcpy(reinterpret_cast<void*>(to), from, size);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t size) {
  std::memcpy(to, reinterpret_cast<void*>(from), size);
  return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t size, void*) {
  return cuMemcpyHtoD_v2(to, from, size);
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t size, void*) {
  return cuMemcpyDtoH_v2(to, from, size);
}
int cuMemsetD8_v2(unsigned long long to, unsigned char value, std::size_t size) {
  std::memset(reinterpret_cast<void*>(to), value, size);
  return 0;
}
int cuPointerGetAttribute(void* out, int attribute, unsigned long long) {
  // the fake has host memory alone: the environment says what it shall pass for
  if (attribute == 2) *static_cast<unsigned*>(out) = 2;
  if (attribute == 8) *static_cast<bool*>(out) = false;
  if (attribute == 9) *static_cast<int*>(out) = number("FAKE_CUDA_POINTER_DEVICE", 0);
  return number("FAKE_CUDA_POINTER", 0);
}
int cuStreamCreate(void** out, unsigned) {
  *out = &place;
  return 0;
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return 0; }
int cuStreamGetCtx(void*, void** out) {
  *out = number("FAKE_CUDA_STREAM_ELSEWHERE", 0) ? &elsewhere : &place;
  return number("FAKE_CUDA_STREAM", 0);
}
int cuStreamIsCapturing(void*, int* out) {
  *out = number("FAKE_CUDA_CAPTURING", 0);
  return 0;
}
int cuStreamBeginCapture_v2(void*, int) { return number("FAKE_CUDA_BEGIN_CAPTURE", 0); }
int cuStreamEndCapture(void*, void** out) {
  *out = &place;
  return number("FAKE_CUDA_END_CAPTURE", 0);
}
int cuGraphInstantiateWithFlags(void** out, void*, unsigned long long) {
  *out = &place;
  return 0;
}
int cuGraphLaunch(void*, void*) { return number("FAKE_CUDA_GRAPH_LAUNCH", 0); }
int cuGraphExecDestroy(void*) { return 0; }
int cuGraphDestroy(void*) { return 0; }
int cuEventCreate(void** out, unsigned) {
  *out = &place;
  return 0;
}
int cuEventDestroy_v2(void*) { return 0; }
int cuEventRecord(void*, void*) {
  between_events = since_event;
  since_event = 0;
  return 0;
}
int cuEventQuery(void*) { return hangs ? 600 : number("FAKE_CUDA_QUERY", 0); }
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime(float* out, void*, void*) {
  *out = between_events > 0 ? between_events : 1;
  return 0;
}

}  // extern "C"
