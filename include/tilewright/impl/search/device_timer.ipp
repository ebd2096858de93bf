#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/backend/cuda/device_graph.hpp>
#include <tilewright/impl/search/check/device_comparison.hpp>
#include <tilewright/impl/search/device_turn.hpp>
#include <tilewright/search/device_timer.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail {

namespace cu = backend::cuda;

/// The byte that all of `bytes` bytes are; nothing where they differ.
inline std::optional<unsigned char> only_byte(const std::byte* at, std::size_t bytes) {
  if (bytes == 0 || std::memcmp(at, at + 1, bytes - 1) != 0) return std::nullopt;
  return static_cast<unsigned char>(*at);
}

/// Copies of all arguments on a device, each between canaries.
class device_arguments {
 public:
  device_arguments(const cu::device& on, const argument_memory& host) : on_(on), host_(host) {
    for (const argument_place& p : host.places()) {
      const std::size_t number = filler_.size();
      filler_.push_back(p.written ? only_byte(host.sealed(number), p.bytes) : std::nullopt);
      offset_.push_back(canary + p.at.beyond % alignment);
      memory_.emplace_back(on, offset_.back() + p.bytes + canary);
      on_.fill(memory_.back().get(), mark, offset_.back() + p.bytes + canary);
    }
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      // a scalar is read by the driver when a kernel is started
      const bool scalar = host.places()[i].strides.empty() && !host.places()[i].written;
      data_.push_back(scalar ? host.data()[i]
                             : std::bit_cast<void*>(start(i) + host.places()[i].element0));
    }
    copy_in(true);
  }

  void* const* data() const { return data_.data(); }

  /// Arguments as they were sealed go to the device: all of them, or what calls write.
  void copy_in(bool all) const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (all || host_.places()[i].written) refresh(i);
  }
  void copy_out() const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (host_.places()[i].written)
        on_.copy_out(host_.buffer(i).data(), start(i), host_.places()[i].bytes);
  }
  void copy_out(const argument_piece& p) const {
    on_.copy_out(static_cast<std::byte*>(host_.buffer(p.argument).data()) + p.at,
                 start(p.argument) + p.at, p.bytes);
  }
  /// The first byte of an argument's buffer.
  cu::device_pointer start(std::size_t i) const { return memory_[i].get() + offset_[i]; }

  /// Which argument's canaries were written to; empty: none.
  std::string damage() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const std::size_t end = offset_[i] + host_.places()[i].bytes;
      if (!intact(i, 0, offset_[i]))
        return "memory before argument " + std::to_string(i) + " was written to";
      if (!intact(i, end, canary))
        return "memory behind argument " + std::to_string(i) + " was written to";
    }
    return {};
  }

 private:
  static constexpr std::size_t alignment = 256;  // bytes, of what the driver allocates
  static constexpr std::size_t canary = 1024;    // bytes
  static constexpr unsigned char mark = 0xc5;

  /// Outputs that nothing is read from, all of whose bytes are one, need not be copied.
  void refresh(std::size_t i) const {
    const std::size_t bytes = host_.places()[i].bytes;
    if (filler_[i])
      on_.fill(start(i), *filler_[i], bytes);
    else
      on_.copy_in(start(i), host_.sealed(i), bytes);
  }

  bool intact(std::size_t i, std::size_t from, std::size_t bytes) const {
    std::vector<unsigned char> here(bytes);
    on_.copy_out(here.data(), memory_[i].get() + from, bytes);
    return support::all(here, [](unsigned char c) { return c == mark; });
  }

  const cu::device& on_;
  const argument_memory& host_;
  std::vector<std::size_t> offset_;                   // bytes, of an argument in its allocation
  std::vector<std::optional<unsigned char>> filler_;  // of an argument: what all its bytes are
  std::vector<cu::device_memory> memory_;
  std::vector<void*> data_;
};

}  // namespace detail

struct device_timer::state {
  using clock = std::chrono::steady_clock;

  explicit state(argument_memory& a) : arguments(a), begin(device), end(device) {
    sets.push_back(std::make_unique<detail::device_arguments>(device, a));
  }

  argument_memory& arguments;
  backend::cuda::device device;
  std::string name = device.uuid();
  backend::cuda::device_event begin, end;
  std::vector<std::unique_ptr<detail::device_arguments>> sets;          // one, or a ring of them
  std::vector<std::unique_ptr<detail::device_comparison>> comparisons;  // none: nothing is expected
  std::vector<argument_piece> shown;
  bool broken = false;

  // of the code at hand
  std::unique_ptr<backend::cuda::device_code> code;
  std::unique_ptr<backend::cuda::device_memory> workspace, flush;
  std::unique_ptr<backend::cuda::device_graph> graph;  // of `recorded` calls; null: not recorded
  std::size_t rotation = 1;                            // sets that calls go round
  std::size_t next = 0;
  clock::time_point until{};

  static constexpr int recorded = 32;  // calls of a graph

  static double l2_bytes(const backend::cuda::device& d) {
    return static_cast<double>(d.description().l2_bytes);
  }

  /// Loads the code. False, with a reason in `out`, when the driver refuses it.
  bool prepare(const backend::artifact& a, caches where, double deadline, measurement& out) {
    until = clock::now() + std::chrono::duration_cast<clock::duration>(
                               std::chrono::duration<double>(std::min(deadline, 1e6)));
    try {
      graph.reset();  // which uses the code
      code = std::make_unique<backend::cuda::device_code>(device, a);
      const auto bytes = static_cast<std::size_t>(a.workspace_bytes);
      workspace = std::make_unique<backend::cuda::device_memory>(device, bytes);
      if (bytes) device.fill(workspace->get(), 0xff, bytes);
      const auto size = static_cast<double>(std::max<std::size_t>(arguments.size(), 1));
      rotation = 1;
      if (where == caches::rotating)
        rotation =
            static_cast<std::size_t>(std::clamp(2 * l2_bytes(device) / size + 1, 2.0, 256.0));
      while (sets.size() < rotation)
        sets.push_back(std::make_unique<detail::device_arguments>(device, arguments));
      const auto twice = static_cast<std::size_t>(2 * l2_bytes(device));
      if (where == caches::cold && !flush)
        flush = std::make_unique<backend::cuda::device_memory>(device, twice);
      next = 0;
      return true;
    } catch (const build_error& e) {
      out.failed = failure::build;
      out.detail = e.what();
      return false;
    }
  }

  /// Waits for what was started. The device is the kernel's until then.
  bool wait(measurement& out) {
    const auto since = clock::now();
    while (!end.done()) {
      if (clock::now() > until) {
        broken = true;
        out.failed = failure::timeout;
        out.detail = "took longer than its deadline";
        return false;
      }
      if (clock::now() - since > std::chrono::milliseconds(2))
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

  void start(backend::cuda::stream_ref stream) {
    code->start(sets[next]->data(), arguments.strides().data(), workspace->get(), stream);
    next = (next + 1) % rotation;
  }

  /// Short calls are recorded: the host, which takes about two microseconds to start one, would be what is
  /// timed. Where they cannot be, each is started.
  void record() {
    try {
      graph = std::make_unique<backend::cuda::device_graph>(
          device, [this](backend::cuda::stream_ref stream) {
            for (int i = 0; i < recorded; ++i) start(stream);
          });
    } catch (const build_error&) {
    }
  }

  /// `count` calls; the device's time for all, s. Nothing but a reason in `out` when they fail.
  double call(int count, measurement& out) {
    try {
      begin.record();
      int left = count;
      for (; graph && left >= recorded; left -= recorded) graph->start();
      for (; left > 0; --left) start(nullptr);
      end.record();
      if (!wait(out)) return 0;
      device.synchronize();
      return end.seconds_since(begin);
    } catch (const build_error& e) {  // an illegal access: the driver refuses all that follows
      broken = true;
      out.failed = failure::fault;
      out.detail = e.what();
      return 0;
    }
  }

  bool sample(const measure_options& options, int count, measurement& out) {
    if (arguments.updates())
      for (std::size_t k = 0; k < rotation; ++k) sets[k]->copy_in(false);
    if (options.where == caches::cold)
      device.fill(flush->get(), 1, static_cast<std::size_t>(2 * l2_bytes(device)));
    const double seconds = call(count, out);
    if (out.failed == failure::none) out.seconds.push_back(std::max(seconds, 1e-9) / count);
    return out.failed == failure::none;
  }

  /// Calls per sample: a millisecond of them, which the resolution of events, 0.5 us, does not hide.
  int batch(const measure_options& options, double one) const {
    if (options.where == caches::cold) return 1;
    return static_cast<int>(std::clamp(1e-3 / one, 1.0, arguments.updates() ? 64.0 : 1000.0));
  }

  void repeat(const measure_options& options, measurement& out) {
    if (out.best() > options.hopeless * options.best && out.best() >= options.evidence) return;
    int count = batch(options, out.best());
    if (rotation == 1 && count >= recorded) {
      count -= count % recorded;
      record();
      call(recorded, out);  // which brings the graph to the device
      if (out.failed != failure::none) return;
    }
    const auto since = clock::now();
    out.seconds.clear();
    while (sample(options, count, out)) {
      const int n = static_cast<int>(out.seconds.size());
      const bool late =
          std::chrono::duration<double>(clock::now() - since).count() > options.budget;
      const bool steady = n >= options.repeats && out.spread() < options.stable;
      if (n >= options.most_repeats || (late && n >= 3) || steady) return;
      if (n >= 2 && out.best() > options.hopeless * options.best) return;
    }
  }

  void check_canaries(measurement& out) {
    if (out.failed != failure::none) return;
    for (const auto& set : sets)
      if (const std::string damage = set->damage(); !damage.empty()) {
        out.failed = failure::fault;
        out.detail = damage;
        broken = true;  // nothing says where else it wrote
        return;
      }
  }

  /// One untimed call on fresh outputs; `take` brings them, or what is wanted of them, to the host.
  template <class Take>
  void call_once(const backend::artifact& a, double deadline, measurement& out, const Take& take) {
    if (!prepare(a, caches::warm, deadline, out)) return;
    sets[0]->copy_in(false);
    const double seconds = call(1, out);
    if (out.failed != failure::none) return;
    take();
    out.seconds.push_back(seconds);
  }

  bool is_as_expected() const {
    return !comparisons.empty() && support::all(comparisons, [&](const auto& c) {
      return c->with(sets[0]->start(c->argument())).count == 0;
    });
  }

  /// Whether comparisons tell what is expected from what is not there yet.
  bool tell_apart(const std::vector<std::unique_ptr<detail::device_comparison>>& all) const {
    sets[0]->copy_in(false);
    return support::all(all, [&](const auto& c) {
      return c->with(c->expected()).count == 0 && c->with(sets[0]->start(c->argument())).count > 0;
    });
  }

  template <class Work>
  measurement guarded(const Work& work) {
    measurement out;
    const detail::device_turn alone(name);
    try {
      work(out);
      check_canaries(out);
    } catch (const build_error& e) {
      broken = true;
      out.failed = failure::fault;
      out.detail = e.what();
    }
    if (out.failed != failure::none) out.seconds.clear();
    return out;
  }
};

TILEWRIGHT_INLINE device_timer::device_timer(argument_memory& arguments)
    : state_(std::make_unique<state>(arguments)) {}
TILEWRIGHT_INLINE device_timer::~device_timer() = default;

TILEWRIGHT_INLINE measurement device_timer::measure(const backend::artifact& code,
                                                    const measure_options& options) {
  state& s = *state_;
  return s.guarded([&](measurement& out) {
    if (!s.prepare(code, options.where, options.deadline, out)) return;
    if (!s.sample(options, 1, out) || options.most_repeats == 0) return;
    s.repeat(options, out);
  });
}

TILEWRIGHT_INLINE measurement device_timer::run(const backend::artifact& code, double deadline) {
  state& s = *state_;
  return s.guarded(
      [&](measurement& out) { s.call_once(code, deadline, out, [&] { s.sets[0]->copy_out(); }); });
}

TILEWRIGHT_INLINE void device_timer::expect(const std::vector<output_comparison>& all,
                                            std::vector<argument_piece> shown) {
  state& s = *state_;
  s.comparisons.clear();
  const detail::device_turn alone(s.name);
  std::vector<std::unique_ptr<detail::device_comparison>> made;
  for (const output_comparison& how : all)
    made.push_back(std::make_unique<detail::device_comparison>(
        s.device, how, s.arguments.buffer(how.argument).data(),
        s.arguments.places()[how.argument].bytes));
  if (!s.tell_apart(made))
    throw build_error(
        "outputs are not compared on the device, where a comparison "
        "does not tell expected ones from fresh ones");
  s.comparisons = std::move(made);
  s.shown = std::move(shown);
}

TILEWRIGHT_INLINE measurement device_timer::run_compared(const backend::artifact& code,
                                                         double deadline, bool& as_expected) {
  state& s = *state_;
  as_expected = false;
  const measurement out = s.guarded([&](measurement& m) {
    s.call_once(code, deadline, m, [&] {
      as_expected = s.is_as_expected();
      if (!as_expected) return s.sets[0]->copy_out();
      for (const argument_piece& p : s.shown) s.sets[0]->copy_out(p);
    });
  });
  as_expected = as_expected && out.ok();
  return out;
}

TILEWRIGHT_INLINE bool device_timer::usable() const noexcept { return !state_->broken; }

}  // namespace tilewright::search
