// The plan of a network on a device: its constants there once, its values in one arena, its kernels in order.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/impl/dispatch/at_exit.hpp>
#include <tilewright/impl/model/device/constant_pool.hpp>
#include <tilewright/impl/model/device/device_code.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network::detail {

/// What model/device/device_program.hpp promises, whether the code is made here or comes from a file.
class device_network {
 public:
  using device_code = backend::cuda::device_code;
  using stream_ref = backend::cuda::stream_ref;
  using code_list = std::vector<std::shared_ptr<const device_code>>;  // [kernels]
  using code_maker = std::function<code_list(const backend::cuda::device&)>;

  /// Copies the constants to the device.
  /// @param plan constants lie at places of `constants`
  /// @param make gives the kernels' code, before the first of them starts
  device_network(saved_plan plan, const std::vector<constant_pool::part>& constants,
                 code_maker make, int ordinal)
      : plan_(std::move(plan)), device_(ordinal), make_(std::move(make)) {
    std::int64_t size = 0;
    for (const constant_pool::part& p : constants) size = std::max(size, p.at + p.bytes);
    constants_.emplace(device_, static_cast<std::size_t>(size));
    for (const constant_pool::part& p : constants)
      device_.copy_in(constants_->get() + static_cast<backend::cuda::device_pointer>(p.at), p.data,
                      static_cast<std::size_t>(p.bytes));
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k)
      for (std::size_t p = 0; p < plan_.kernels[k].arguments.size(); ++p)
        if (const saved_argument& a = plan_.kernels[k].arguments[p];
            a.where == saved_argument::input || a.where == saved_argument::output)
          of_calls_.emplace_back(k, p);
  }
  device_network(const device_network&) = delete;
  device_network& operator=(const device_network&) = delete;

  const std::string& device_name() const noexcept { return device_.name(); }

  void start(const std::vector<void*>& inputs, const std::vector<void*>& outputs,
             stream_ref stream) {
    check_owner();
    const std::lock_guard lock(mutex_);
    if (const std::string text = device_.why_foreign(stream); !text.empty())
      refuse(4, "the stream " + text +
                    "; make it there, as the runtime API and PyTorch do, or give none");
    check_addresses(inputs, outputs);
    make_code(stream);
    lease& here = lease_of(stream);
    fill(here, inputs, outputs);
    start_all(here, [](std::size_t) {});
  }

  void run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
    check_owner();
    for (const saved_kernel& k : plan_.kernels)  // before anything is read beyond an edge
      for (const launch::index_check& c : k.checks)
        if (const saved_argument& a = k.arguments[c.param]; a.where == saved_argument::input)
          check_index(
              k, c,
              static_cast<const std::byte*>(inputs[static_cast<std::size_t>(a.number)]) + a.at);
    const std::lock_guard lock(copying_);
    std::vector<void*> there_in, there_out;
    make_copies(there_in, there_out);
    const auto address = [](void* at) {
      return reinterpret_cast<backend::cuda::device_pointer>(at);
    };
    const auto size = [](const network_port& p) {
      return static_cast<std::size_t>(p.type.bytes());
    };
    for (std::size_t k = 0; k < inputs.size(); ++k)
      device_.copy_in(address(there_in[k]), inputs[k], size(plan_.inputs[k]));
    start(there_in, there_out, nullptr);
    device_.synchronize();
    for (std::size_t k = 0; k < outputs.size(); ++k)
      device_.copy_out(outputs[k], address(there_out[k]), size(plan_.outputs[k]));
  }

  /// Takes the code, which is forgotten where it comes from.
  void prepare() {
    const std::lock_guard lock(mutex_);
    make_code(nullptr);
    make_ = {};
  }

  void warm() {
    check_owner();
    const std::lock_guard lock(mutex_);
    make_code(nullptr);
    lease_of(nullptr);
  }

  /// The least time of each kernel in so many runs, on zeros. // [kernels] s
  std::vector<double> measure(int runs) {
    return on_zeros([&](lease& here) {
      const std::size_t n = plan_.kernels.size();
      std::vector<double> out(n, std::numeric_limits<double>::infinity());
      std::list<backend::cuda::device_event> points;  // before each kernel, and behind the last one
      for (std::size_t k = 0; k <= n; ++k) points.emplace_back(device_);
      for (int run = 0; run < runs; ++run) {
        auto next = points.begin();
        start_all(here, [&](std::size_t) { (next++)->record(); });
        next->record();
        device_.synchronize();
        auto point = points.begin();
        for (std::size_t k = 0; k < n; ++k) {
          const backend::cuda::device_event& from = *point++;
          out[k] = std::min(out[k], point->seconds_since(from));
        }
      }
      return out;
    });
  }

  /// Times of runs of the whole network on zeros, each the mean of ten in a row. // [runs] s
  std::vector<double> time(int runs) {
    constexpr int in_a_row = 10;
    return on_zeros([&](lease& here) {
      std::vector<double> out;
      backend::cuda::device_event begin(device_), end(device_);
      for (int run = 0; run < runs; ++run) {
        begin.record();
        for (int k = 0; k < in_a_row; ++k) start_all(here, [](std::size_t) {});
        end.record();
        device_.synchronize();
        out.push_back(end.seconds_since(begin) / in_a_row);
      }
      return out;
    });
  }

 private:
  using device_memory = backend::cuda::device_memory;
  static constexpr std::int64_t align = 256;  // bytes

  static std::int64_t aligned(std::int64_t bytes) { return (bytes + align - 1) / align * align; }

  /// What calls on one stream use: they follow each other, and so do the kernels of each.
  struct lease {
    stream_ref stream;
    device_memory memory;                        // the arena, and behind it what kernels work in
    std::vector<std::vector<void*>> data;        // [kernels][parameters]
    std::vector<const void*> good_indices = {};  // addresses that were looked at
  };

  void refuse(int requirement, const std::string& text) const {
    throw argument_error(plan_.name + ": " + text + " (requirement " + std::to_string(requirement) +
                         ")");
  }

  static void* behind(void* data, std::int64_t offset) {
    return static_cast<std::byte*>(data) + offset;
  }

  void check_owner() const {
    if (::getpid() != owner_)
      refuse(3, "a forked child cannot use its parent's device; make the model after the fork");
  }

  /// Under the lock.
  void make_code(stream_ref stream) {
    if (is_made_) return;
    if (device_.captures(stream))
      refuse(5,
             "its kernels cannot be compiled while a graph records the stream; call warm() before");
    code_ = make_(device_);
    static std::atomic<bool> known{false};
    dispatch::detail::exit_entry::come_first(known);  // compiler and driver have been opened
    for (const auto& c : code_) workspace_ = std::max(workspace_, c->workspace_bytes());
    is_made_ = true;
  }

  /// Under the lock, when there is code.
  lease& lease_of(stream_ref stream) {
    for (lease& l : leases_)
      if (l.stream == stream) return l;
    const std::int64_t size = aligned(plan_.arena_bytes) + workspace_;
    if (device_.captures(stream))
      refuse(5, "its arena of " + std::to_string(size) +
                    " bytes cannot be allocated while a graph records the stream; call it once on "
                    "this stream before");
    lease fresh{stream, device_memory(device_, static_cast<std::size_t>(size)), {}};
    for (const saved_kernel& k : plan_.kernels) {
      fresh.data.emplace_back();
      for (const saved_argument& a : k.arguments)
        fresh.data.back().push_back(
            a.where == saved_argument::arena      ? behind(fresh.memory.data(), a.at)
            : a.where == saved_argument::constant ? behind(constants_->data(), a.at)
                                                  : nullptr);
    }
    leases_.push_back(std::move(fresh));
    return leases_.back();
  }

  /// Inputs and outputs of this call in the arguments of all kernels.
  void fill(lease& to, const std::vector<void*>& inputs, const std::vector<void*>& outputs) const {
    for (const auto& [k, p] : of_calls_) {
      const saved_argument& a = plan_.kernels[k].arguments[p];
      const auto& all = a.where == saved_argument::input ? inputs : outputs;
      to.data[k][p] = behind(all[static_cast<std::size_t>(a.number)], a.at);
    }
  }

  /// Under the lock.
  void check_addresses(const std::vector<void*>& inputs, const std::vector<void*>& outputs) {
    std::vector<const void*> now;
    const auto check = [&](const char* what, const network_port& p, const void* at) {
      now.push_back(at);
      if (p.type.elements() == 0 || support::contains(looked_at_, at)) return;
      const std::string who = std::string(what) + " \"" + p.name + "\" ";
      if (reinterpret_cast<std::uintptr_t>(at) % 16 != 0)
        refuse(2, who + "is not aligned to 16 bytes; copy it to memory of its own");
      if (const std::string text = device_.why_unreachable(at); !text.empty())
        refuse(1, who + text + "; copy it to the device, or leave on_device out");
    };
    for (std::size_t k = 0; k < inputs.size(); ++k) check("input", plan_.inputs[k], inputs[k]);
    for (std::size_t k = 0; k < outputs.size(); ++k) check("output", plan_.outputs[k], outputs[k]);
    looked_at_ = std::move(now);
  }

  static void check_index(const saved_kernel& k, const launch::index_check& c, const void* at) {
    if (const auto i = c.bound.outside(at, c.type))
      throw argument_error(k.name + ": index " + std::to_string(*i) +
                           " is out of range; the indexed extents are " + text_of(c.bound.extents));
  }

  /// What other kernels made, or the caller has on the device, behind what was started on the stream.
  void check_indices(const saved_kernel& kernel, lease& here, std::size_t k) {
    for (const launch::index_check& c : kernel.checks) {
      const void* const at = here.data[k][c.param];
      if (support::contains(here.good_indices, at)) continue;
      if (device_.captures(here.stream))
        refuse(5, "the indices of " + kernel.name +
                      " cannot be looked at while a graph records the stream; call it once on this "
                      "stream and these arrays before");
      std::vector<std::byte> elements(static_cast<std::size_t>(c.type.bytes()));
      device_.copy_out(elements.data(), reinterpret_cast<backend::cuda::device_pointer>(at),
                       elements.size(), here.stream);
      device_.synchronize(here.stream);
      check_index(kernel, c, elements.data());
      constexpr std::size_t kept = 64;
      if (here.good_indices.size() == kept) here.good_indices.erase(here.good_indices.begin());
      here.good_indices.push_back(at);
    }
  }

  /// Under the lock; before each kernel `before` is called with its number.
  template <class Before>
  void start_all(lease& here, const Before& before) {
    const backend::cuda::device_pointer workspace =
        here.memory.get() + static_cast<backend::cuda::device_pointer>(aligned(plan_.arena_bytes));
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
      const saved_kernel& kernel = plan_.kernels[k];
      check_indices(kernel, here, k);
      before(k);
      with_name(kernel.name, [&] {
        code_[k]->start(here.data[k].data(), kernel.strides.data(), workspace, here.stream);
      });
    }
  }

  /// Memory for copies of the arguments, under the lock of `copying_`.
  void make_copies(std::vector<void*>& inputs, std::vector<void*>& outputs) {
    std::vector<std::int64_t> at;
    std::int64_t size = 0;
    for (const auto* list : {&plan_.inputs, &plan_.outputs})
      for (const network_port& p : *list) {
        at.push_back(size);
        size += aligned(p.type.bytes());
      }
    if (!copies_) copies_.emplace(device_, static_cast<std::size_t>(size));
    copied_bytes_ = size;
    for (std::size_t k = 0; k < at.size(); ++k)
      (k < plan_.inputs.size() ? inputs : outputs).push_back(behind(copies_->data(), at[k]));
  }

  /// Calls `use` with the lease of the default stream, whose arguments are zeros, when everything has run once.
  template <class Use>
  std::vector<double> on_zeros(const Use& use) {
    check_owner();
    const std::lock_guard hold(copying_);
    std::vector<void*> inputs, outputs;
    make_copies(inputs, outputs);
    device_.fill(copies_->get(), 0, static_cast<std::size_t>(copied_bytes_));
    const std::lock_guard lock(mutex_);
    make_code(nullptr);
    lease& here = lease_of(nullptr);
    fill(here, inputs, outputs);
    start_all(here, [](std::size_t) {});
    device_.synchronize();
    return use(here);
  }

  saved_plan plan_;
  backend::cuda::device device_;
  code_maker make_;
  pid_t owner_ = ::getpid();
  std::optional<device_memory> constants_;
  std::vector<std::pair<std::size_t, std::size_t>> of_calls_;  // kernel and parameter
  std::mutex mutex_;  // of what follows, held while a call starts
  bool is_made_ = false;
  code_list code_;
  std::int64_t workspace_ = 0;          // bytes, of the kernel that needs most
  std::list<lease> leases_;             // one a stream
  std::vector<const void*> looked_at_;  // inputs and outputs that were found to lie on the device
  std::mutex copying_;  // of what follows, held while a call with arrays of the host runs
  std::optional<device_memory> copies_;  // of all inputs, then outputs
  std::int64_t copied_bytes_ = 0;
};

}  // namespace tilewright::network::detail
