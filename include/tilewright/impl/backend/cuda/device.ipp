#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/impl/backend/cuda/current_device.hpp>
#include <tilewright/impl/backend/cuda/tensor/encoded_maps.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::cuda {

TILEWRIGHT_INLINE void device::check(int result, const char* what) const {
  if (result == driver_success) return;
  const char *name = nullptr, *text = nullptr;
  d_.GetErrorName(result, &name);
  d_.GetErrorString(result, &text);
  throw build_error(std::string("the CUDA driver refuses ") + what + " on " +
                    (name_.empty() ? "device " + std::to_string(ordinal_) : name_) + ": error " +
                    std::to_string(result) + (name ? " (" + std::string(name) + ")" : "") +
                    (text ? ", " + std::string(text) : ""));
}

TILEWRIGHT_INLINE device::device(int ordinal) : d_(driver()), ordinal_(ordinal) {
  check(d_.Init(0), "cuInit");
  int count = 0, handle = 0, major = 0, minor = 0;
  check(d_.DeviceGetCount(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count)
    throw build_error("there is no CUDA device " + std::to_string(ordinal) + "; this machine has " +
                      std::to_string(count));
  check(d_.DeviceGet(&handle, ordinal), "cuDeviceGet");
  std::array<char, 256> text{};
  check(d_.DeviceGetName(text.data(), static_cast<int>(text.size()) - 1, handle),
        "cuDeviceGetName");
  name_ = text.data();
  check(d_.DeviceGetAttribute(&major, attribute_capability_major, handle), "cuDeviceGetAttribute");
  check(d_.DeviceGetAttribute(&minor, attribute_capability_minor, handle), "cuDeviceGetAttribute");
  capability_ = 10 * major + minor;
  ordinal_ = handle;
  check(d_.DevicePrimaryCtxRetain(&context_, handle), "cuDevicePrimaryCtxRetain");
}

TILEWRIGHT_INLINE device::~device() {
  if (context_) d_.DevicePrimaryCtxRelease(ordinal_);
}

TILEWRIGHT_INLINE target::gpu device::description() const {
  target::gpu out;
  bool found = false;
  for (const std::string_view known : target::known_gpu_names()) {
    const target::gpu g = target::named_gpu(known);
    if (!g.runs_on(capability_)) continue;
    out = g;  // later lines of the table are newer
    found = true;
  }
  out.model = name_;
  if (!found)
    throw build_error(name_ + " has compute capability " + std::to_string(capability_ / 10) + "." +
                      std::to_string(capability_ % 10) +
                      ", for which no architecture is known; 8.0 and later and 9.0 are");
  return out;
}

TILEWRIGHT_INLINE std::string device::uuid() const {
  device_uuid id{};
  check(d_.DeviceGetUuid(&id, ordinal_), "cuDeviceGetUuid");
  std::string out;
  for (const char c : id.bytes)
    for (const int shift : {4, 0})
      out += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  return out;
}

TILEWRIGHT_INLINE device_pointer device::allocate(std::size_t bytes) const {
  const current here(*this);
  device_pointer out = 0;
  check(d_.MemAlloc(&out, bytes), ("an allocation of " + std::to_string(bytes) + " bytes").c_str());
  return out;
}

TILEWRIGHT_INLINE void device::release(device_pointer at) const noexcept {
  context_ref before = nullptr;
  d_.CtxGetCurrent(&before);
  d_.CtxSetCurrent(context_);
  d_.MemFree(at);
  d_.CtxSetCurrent(before);
}

TILEWRIGHT_INLINE void device::fill(device_pointer to, unsigned char value,
                                    std::size_t bytes) const {
  const current here(*this);
  if (bytes) check(d_.MemsetD8(to, value, bytes), "cuMemsetD8");
}

TILEWRIGHT_INLINE void device::copy_in(device_pointer to, const void* from,
                                       std::size_t bytes) const {
  const current here(*this);
  if (bytes) check(d_.MemcpyHtoD(to, from, bytes), "cuMemcpyHtoD");
}

TILEWRIGHT_INLINE void device::copy_out(void* to, device_pointer from, std::size_t bytes) const {
  const current here(*this);
  if (bytes) check(d_.MemcpyDtoH(to, from, bytes), "cuMemcpyDtoH");
}

TILEWRIGHT_INLINE void device::copy_in(device_pointer to, const void* from, std::size_t bytes,
                                       stream_ref stream) const {
  const current here(*this);
  if (bytes) check(d_.MemcpyHtoDAsync(to, from, bytes, stream), "cuMemcpyHtoDAsync");
}

TILEWRIGHT_INLINE void device::copy_out(void* to, device_pointer from, std::size_t bytes,
                                        stream_ref stream) const {
  const current here(*this);
  if (bytes) check(d_.MemcpyDtoHAsync(to, from, bytes, stream), "cuMemcpyDtoHAsync");
}

TILEWRIGHT_INLINE void device::synchronize() const {
  const current here(*this);
  check(d_.CtxSynchronize(), "cuCtxSynchronize");
}

TILEWRIGHT_INLINE void device::synchronize(stream_ref stream) const {
  const current here(*this);
  check(d_.StreamSynchronize(stream), "cuStreamSynchronize");
}

TILEWRIGHT_INLINE std::string device::why_unreachable(const void* at) const {
  const current here(*this);
  const auto place = reinterpret_cast<device_pointer>(at);
  const auto asked = [&](auto& out, int what) {
    return d_.PointerGetAttribute(&out, what, place) == driver_success;
  };
  unsigned type = 0;
  int managed = 0, ordinal = 0;
  if (!asked(type, pointer_memory_type)) return "lies in the host's memory";
  if (asked(managed, pointer_is_managed) && managed) return {};
  if (type != memory_type_device) return "lies in the host's memory";
  if (asked(ordinal, pointer_device_ordinal) && ordinal != ordinal_)
    return "lies on device " + std::to_string(ordinal) + ", and the kernel runs on device " +
           std::to_string(ordinal_);
  return {};
}

TILEWRIGHT_INLINE std::string device::why_foreign(stream_ref stream) const {
  constexpr std::uintptr_t last_default = 2;  // null, the legacy one and that of each thread
  if (reinterpret_cast<std::uintptr_t>(stream) <= last_default) return {};
  const current here(*this);
  context_ref of = nullptr;
  if (const int result = d_.StreamGetCtx(stream, &of); result != driver_success)
    return "is refused by the driver with error " + std::to_string(result);
  return of == context_ ? std::string()
                        : "belongs to another context than the primary one of " + name_;
}

TILEWRIGHT_INLINE bool device::captures(stream_ref stream) const {
  const current here(*this);
  int status = capture_none;
  // the default stream cannot even be asked while another one captures
  return d_.StreamIsCapturing(stream, &status) != driver_success || status != capture_none;
}

TILEWRIGHT_INLINE int device::count() {
  const driver_api& d = driver();
  int out = 0, result = d.Init(0);
  if (result == driver_success) result = d.DeviceGetCount(&out);
  if (result == driver_success || result == driver_no_device) return out;
  if (result == driver_stub_library)
    throw build_error(
        "the library that opened as the CUDA driver is the toolkit's stub for linking; install the "
        "driver of the GPU");
  throw build_error("the CUDA driver does not start: error " + std::to_string(result));
}

TILEWRIGHT_INLINE int device::ordinal_of(const void* at) {
  int out = -1;
  const int result = driver().PointerGetAttribute(&out, pointer_device_ordinal,
                                                  reinterpret_cast<device_pointer>(at));
  return result == driver_success ? out : -1;
}

TILEWRIGHT_INLINE device_event::device_event(const device& on) : on_(on) {
  const device::current here(on_);
  on_.check(on_.d_.EventCreate(&event_, event_default), "cuEventCreate");
}

TILEWRIGHT_INLINE device_event::~device_event() { on_.d_.EventDestroy(event_); }

TILEWRIGHT_INLINE void device_event::record() {
  const device::current here(on_);
  on_.check(on_.d_.EventRecord(event_, nullptr), "cuEventRecord");
}

TILEWRIGHT_INLINE bool device_event::done() const {
  const device::current here(on_);
  const int result = on_.d_.EventQuery(event_);
  if (result != driver_not_ready) on_.check(result, "kernels that were started");
  return result == driver_success;
}

TILEWRIGHT_INLINE double device_event::seconds_since(const device_event& earlier) const {
  const device::current here(on_);
  float milliseconds = 0;
  on_.check(on_.d_.EventElapsedTime(&milliseconds, earlier.event_, event_), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

TILEWRIGHT_INLINE device_code::device_code(const device& on, const artifact& a)
    : on_(on), artifact_(a), maps_(detail::encoded_maps::of(a)) {
  constexpr std::string_view mark = "nvidia:";
  if (a.isa.rfind(mark, 0) != 0)
    throw build_error("code for \"" + a.isa + "\" cannot be started on " + on.name());
  const target::gpu made_for = target::named_gpu(std::string_view(a.isa).substr(mark.size()));
  if (!made_for.runs_on(on.compute_capability()))
    throw build_error("code for " + made_for.architecture + " does not run on " + on.name() +
                      ", compute capability " + std::to_string(on.compute_capability() / 10) + "." +
                      std::to_string(on.compute_capability() % 10) + "; compile it for that");
  const device::current here(on);
  on.check(on.d_.ModuleLoadData(&module_, a.object.data()), "cuModuleLoadData");
  try {
    for (const launch& l : a.launches) {
      function_ref f = nullptr;
      on.check(on.d_.ModuleGetFunction(&f, module_, l.symbol.c_str()), "cuModuleGetFunction");
      // from 48 KB on it has to be asked for
      if (l.shared_bytes > (48 << 10))
        on.check(on.d_.FuncSetAttribute(f, function_dynamic_shared_bytes,
                                        static_cast<int>(l.shared_bytes)),
                 "cuFuncSetAttribute");
      functions_.push_back(f);
    }
  } catch (...) {
    on.d_.ModuleUnload(module_);
    throw;
  }
}

TILEWRIGHT_INLINE device_code::~device_code() {
  context_ref before = nullptr;
  on_.d_.CtxGetCurrent(&before);
  on_.d_.CtxSetCurrent(on_.context_);
  on_.d_.ModuleUnload(module_);
  on_.d_.CtxSetCurrent(before);
}

TILEWRIGHT_INLINE void device_code::start(void* const* data, const std::int64_t* strides,
                                          device_pointer workspace, stream_ref stream) const {
  constexpr std::size_t most = 64, most_maps = 8;
  const device::current here(on_);
  for (std::size_t k = 0; k < artifact_.launches.size(); ++k) {
    const launch& l = artifact_.launches[k];
    if (l.arguments.size() > most)
      throw build_error("kernel " + l.symbol + " has more than 64 arguments");
    if (l.tensor_maps.size() > most_maps)
      throw build_error("kernel " + l.symbol + " has more than 8 tensor maps");
    std::array<device_pointer, most> values;
    std::array<encoded_tensor_map, most_maps> maps;
    std::array<void*, most> places;
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      const launch_argument& a = l.arguments[i];
      const auto index = static_cast<std::size_t>(a.index);
      places[i] = &values[i];
      switch (a.from) {
        case launch_argument::kind::buffer:
          values[i] = reinterpret_cast<device_pointer>(data[index]);
          break;
        case launch_argument::kind::scalar: places[i] = data[index]; break;
        case launch_argument::kind::stride:
          std::memcpy(&values[i], &strides[index], sizeof values[i]);
          break;
        case launch_argument::kind::workspace: values[i] = workspace + index; break;
        case launch_argument::kind::tensor_map: {
          const tensor_map& m = l.tensor_maps[index];
          const auto base = static_cast<std::size_t>(m.index);
          maps[index] = maps_->get(on_.d_, k, index, l,
                                   m.from == launch_argument::kind::workspace
                                       ? workspace + base
                                       : reinterpret_cast<device_pointer>(data[base]));
          places[i] = &maps[index];
          break;
        }
      }
    }
    on_.check(on_.d_.LaunchKernel(functions_[k], l.grid[0], l.grid[1], l.grid[2], l.block[0],
                                  l.block[1], l.block[2], static_cast<unsigned>(l.shared_bytes),
                                  stream, places.data(), nullptr),
              l.symbol.c_str());
  }
}

TILEWRIGHT_INLINE double device_code::time(void* const* data, const std::int64_t* strides,
                                           device_pointer workspace, int count) const {
  const device::current here(on_);
  const driver_api& d = on_.d_;
  std::array<event_ref, 2> events{};
  for (event_ref& e : events) on_.check(d.EventCreate(&e, event_default), "cuEventCreate");
  float milliseconds = 0;
  int failed = d.EventRecord(events[0], nullptr);
  try {
    for (int i = 0; i < count; ++i) start(data, strides, workspace);
    failed = std::max(failed, d.EventRecord(events[1], nullptr));
    failed = std::max(failed, d.EventSynchronize(events[1]));
    failed = std::max(failed, d.EventElapsedTime(&milliseconds, events[0], events[1]));
  } catch (...) {
    for (event_ref e : events) d.EventDestroy(e);
    throw;
  }
  for (event_ref e : events) d.EventDestroy(e);
  on_.check(failed, "the timing of kernels");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace tilewright::backend::cuda
