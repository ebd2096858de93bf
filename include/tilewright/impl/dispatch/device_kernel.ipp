#pragma once

#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <unistd.h>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/dispatch/argument_checks.hpp>
#include <tilewright/dispatch/device_kernel.hpp>
#include <tilewright/impl/dispatch/specialization/gpu_code.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::dispatch {

struct device_kernel::state {
  using device_memory = backend::cuda::device_memory;

  kernel_signature signature;  // its name, for messages
  backend::cuda::device device;
  target::gpu gpu = device.description();
  std::vector<search::operand> operands;
  std::vector<std::int64_t> strides;  // declared
  pattern_check indices;              // never where there are none
  std::string trace, origin;
  bool measured = false;
  std::optional<backend::cuda::device_code> code;
  pid_t owner = ::getpid();

  struct lease {
    backend::cuda::stream_ref stream;
    device_memory memory;
  };
  std::mutex mutex;
  std::vector<lease> workspaces;      // one per stream
  std::vector<void*> looked_at;       // arguments that were found to lie on the device
  std::vector<void*> good_indices;    // the last addresses whose elements were found in bounds
  std::vector<device_memory> copies;  // of arguments in the host's memory
  std::mutex copying;

  state(const ir::function& f, const device_options& o)
      : signature{f.name, {}},
        device(o.device),
        operands(search::operands(f)),
        indices(o.indices),
        looked_at(operands.size()) {
    for (const search::operand& p : operands)
      strides.insert(strides.end(), p.strides.begin(), p.strides.end());
    if (support::none(operands, [](const search::operand& p) { return p.index.has_value(); }))
      indices = pattern_check::never;
    search::workload w = search::contiguous_workload(f, gpu, backend::serial_executor());
    if (o.space) w.space = o.space;
    const auto db = o.own_database ? o.own_database : search::database::shared(o.database);
    detail::gpu_code found(w, *db, [&](const backend::artifact& a) { code.emplace(device, a); });
    if (!found.take_chosen()) {
      if (o.stored_only)
        throw argument_error(f.name + ": " + db->why(search::wanted_record(w)) +
                             "and TILEWRIGHT_TUNE or the options say miss_error");
      if (o.session || o.seconds > 0) {
        tune(w, o, *db);
        return;
      }
      found.take_unmeasured(o.seed, device.name());
    }
    trace = found.trace;
    origin = found.origin;
    measured = found.measured;
  }

  void tune(const search::workload& w, const device_options& o, search::database& db) {
    search::session_options session;
    session.seconds = o.seconds;
    session.seed = o.seed;
    if (o.session) session = o.session(w);
    const search::tuning_result r = search::tune(w, session, db);
    trace = r.trace;
    origin = "tuned: " + std::to_string(r.trials) + " candidates";
    code.emplace(device, r.code);
    measured = r.best > 0;
  }

  void refuse(int requirement, const std::string& text) const {
    throw argument_error(signature.name + ": " + text + " (requirement " +
                         std::to_string(requirement) + ")");
  }

  void check_count(std::span<void* const> arguments) const {
    if (arguments.size() != operands.size())
      refuse(1, "the function has " + std::to_string(operands.size()) + " parameters, and " +
                    std::to_string(arguments.size()) + " arguments were given");
    if (::getpid() != owner)
      refuse(4, "a forked child cannot use its parent's device; make the kernel after the fork");
  }

  /// Under the lock.
  void check_addresses(std::span<void* const> arguments, backend::cuda::stream_ref stream) {
    bool fresh = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool unused = !operands[i].read && !operands[i].written;
      if (operands[i].scalar || arguments[i] == looked_at[i] || (unused && !arguments[i])) continue;
      if (reinterpret_cast<std::uintptr_t>(arguments[i]) % 16 != 0)
        refuse(3, "argument " + operands[i].name +
                      " is not aligned to 16 bytes; copy it to memory of its own");
      if (const std::string text = device.why_unreachable(arguments[i]); !text.empty())
        refuse(2, "argument " + operands[i].name + " " + text +
                      "; copy it to the device (on_host, and calls without on_device, take the "
                      "host's arrays)");
      fresh = true;
    }
    if (indices == pattern_check::every_call || (indices == pattern_check::once && fresh))
      check_index_values(arguments, stream);
    if (fresh) looked_at.assign(arguments.begin(), arguments.end());
  }

  /// Copies elements that are used as indices, as they are behind what was started on the stream, and looks
  /// at them.
  void check_index_values(std::span<void* const> arguments, backend::cuda::stream_ref stream) {
    constexpr std::size_t kept = 64;
    const std::size_t n = operands.size();
    std::vector<search::operand> wanted(n);
    std::vector<std::vector<std::byte>> values(n);
    std::vector<call_argument> here(n, call_argument{});
    for (std::size_t i = 0; i < n; ++i) {
      if (!operands[i].index || operands[i].scalar ||
          (indices == pattern_check::once && support::contains(good_indices, arguments[i])))
        continue;
      if (device.captures(stream))
        refuse(7, "the indices " + operands[i].name +
                      " cannot be looked at while a graph records the stream; call it once "
                      "before, or say patterns = pattern_check::never");
      values[i].resize(bytes_of(i));
      device.copy_out(values[i].data(), address(arguments[i]), values[i].size(), stream);
      device.synchronize(stream);
      wanted[i] = operands[i];
      here[i] = {values[i].data(), operands[i].extents.data(), operands[i].strides.data()};
    }
    check_indices(signature, wanted, here.data());
    if (indices != pattern_check::once) return;
    for (std::size_t i = 0; i < n; ++i)
      if (wanted[i].index) good_indices.push_back(arguments[i]);
    if (good_indices.size() > kept)
      good_indices.erase(good_indices.begin(), good_indices.end() - kept);
  }

  static backend::cuda::device_pointer address(const void* at) {
    return reinterpret_cast<backend::cuda::device_pointer>(at);
  }

  /// Under the lock.
  backend::cuda::device_pointer workspace_for(backend::cuda::stream_ref stream) {
    if (code->workspace_bytes() == 0) return 0;
    for (const lease& l : workspaces)
      if (l.stream == stream) return l.memory.get();
    if (device.captures(stream))
      refuse(7, "a workspace of " + std::to_string(code->workspace_bytes()) +
                    " bytes cannot be allocated while a graph records the stream; call it once on "
                    "this stream before");
    workspaces.push_back(
        {stream, device_memory(device, static_cast<std::size_t>(code->workspace_bytes()))});
    return workspaces.back().memory.get();
  }

  std::size_t bytes_of(std::size_t i) const {
    return static_cast<std::size_t>(operands[i].elements() * bytes(operands[i].type));
  }
};

TILEWRIGHT_INLINE device_kernel::device_kernel(const ir::function& f, const device_options& options)
    : state_(std::make_unique<state>(f, options)) {}
TILEWRIGHT_INLINE device_kernel::~device_kernel() = default;
TILEWRIGHT_INLINE device_kernel::device_kernel(device_kernel&&) noexcept = default;
TILEWRIGHT_INLINE device_kernel& device_kernel::operator=(device_kernel&&) noexcept = default;

TILEWRIGHT_INLINE void device_kernel::operator()(std::span<void* const> arguments,
                                                 void* stream) const {
  state& s = *state_;
  const auto on = static_cast<backend::cuda::stream_ref>(stream);
  s.check_count(arguments);
  if (const std::string text = s.device.why_foreign(on); !text.empty())
    s.refuse(6, "the stream " + text +
                    "; make it there, as the runtime API and PyTorch do, or give none");
  backend::cuda::device_pointer workspace = 0;
  {
    const std::lock_guard lock(s.mutex);
    s.check_addresses(arguments, on);
    workspace = s.workspace_for(on);
  }
  s.code->start(arguments.data(), s.strides.data(), workspace, on);
}

TILEWRIGHT_INLINE void device_kernel::on_host(std::span<void* const> arguments) const {
  state& s = *state_;
  s.check_count(arguments);
  const std::lock_guard lock(s.copying);
  std::vector<void*> there(arguments.begin(), arguments.end());
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (s.copies.size() == i)
      s.copies.emplace_back(s.device, s.operands[i].scalar ? 0 : s.bytes_of(i));
    if (s.operands[i].scalar) continue;
    there[i] = s.copies[i].data();
    if (s.operands[i].read || !s.operands[i].written)
      s.device.copy_in(s.copies[i].get(), arguments[i], s.bytes_of(i));
  }
  (*this)(there);
  s.device.synchronize();
  for (std::size_t i = 0; i < there.size(); ++i)
    if (s.operands[i].written) s.device.copy_out(arguments[i], s.copies[i].get(), s.bytes_of(i));
}

TILEWRIGHT_INLINE void device_kernel::synchronize() const { state_->device.synchronize(); }

TILEWRIGHT_INLINE const std::string& device_kernel::trace() const noexcept { return state_->trace; }
TILEWRIGHT_INLINE const std::string& device_kernel::origin() const noexcept {
  return state_->origin;
}
TILEWRIGHT_INLINE bool device_kernel::measured() const noexcept { return state_->measured; }
TILEWRIGHT_INLINE const std::string& device_kernel::device_name() const noexcept {
  return state_->device.name();
}

}  // namespace tilewright::dispatch
