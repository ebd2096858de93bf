// Messages between a process and its worker, and what they consist of. Both sides bound all that
// they read: the other one may be a program gone wild.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/measurement.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search::detail {

enum class worker_request : std::uint64_t {
  arguments = 1,
  measure,
  run,
  build,
  expect,
  run_compared
};

/// Words of 8 bytes in the order of the machine, which both sides share, and byte strings.
class message {
 public:
  void add(std::uint64_t word) {
    const auto* from = reinterpret_cast<const std::byte*>(&word);
    bytes_.insert(bytes_.end(), from, from + sizeof word);
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(const void* bytes, std::size_t size) {
    add(std::uint64_t{size});
    const auto* from = static_cast<const std::byte*>(bytes);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  void add(std::string_view text) { add(text.data(), text.size()); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes a message apart. @throws build_error where it ends too early
class message_reader {
 public:
  explicit message_reader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}

  std::uint64_t word() {
    std::uint64_t out = 0;
    std::memcpy(&out, take(sizeof out), sizeof out);
    return out;
  }
  double real() { return std::bit_cast<double>(word()); }
  /// A number that counts things of at least `each` bytes.
  std::size_t count(std::size_t each) {
    const std::uint64_t n = word();
    if (n > (bytes_.size() - at_) / each) throw build_error("a message of a worker is cut short");
    return static_cast<std::size_t>(n);
  }
  std::vector<std::byte> bytes() {
    const std::size_t n = count(1);
    const std::byte* from = take(n);
    return {from, from + n};
  }
  std::string text() {
    const std::vector<std::byte> b = bytes();
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  bool ended() const { return at_ == bytes_.size(); }

 private:
  const std::byte* take(std::size_t n) {
    if (n > bytes_.size() - at_) throw build_error("a message of a worker is cut short");
    at_ += n;
    return bytes_.data() + at_ - n;
  }

  const std::vector<std::byte>& bytes_;
  std::size_t at_ = 0;
};

using worker_clock = std::chrono::steady_clock;

inline worker_clock::time_point worker_time_after(double seconds) {
  return worker_clock::now() + std::chrono::duration_cast<worker_clock::duration>(
                                   std::chrono::duration<double>(std::min(seconds, 1e6)));
}

/// A stream socket that carries messages: 8 bytes that say so, 8 with the size, the message.
class message_stream {
 public:
  enum class result { done, closed, late, cancelled, nonsense };

  /// @param cancelled looked at every 10 ms while there is nothing to transfer; null: never
  explicit message_stream(int descriptor, const std::atomic<bool>* cancelled = nullptr)
      : descriptor_(descriptor), cancelled_(cancelled) {}

  result send(const message& m, worker_clock::time_point until) const {
    message whole;
    whole.add(mark);
    whole.add(m.bytes().data(), m.bytes().size());
    const std::byte* from = whole.bytes().data();
    return transfer(POLLOUT, whole.bytes().size(), until, [&](std::size_t at, std::size_t left) {
      return ::send(descriptor_, from + at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    });
  }

  /// @param most bytes of a message
  result receive(std::vector<std::byte>& out, std::size_t most,
                 worker_clock::time_point until) const {
    std::uint64_t head[2] = {};
    const result first = read(head, sizeof head, until);
    if (first != result::done) return first;
    if (head[0] != mark || head[1] > most) return result::nonsense;
    out.resize(static_cast<std::size_t>(head[1]));
    return read(out.data(), out.size(), until);
  }

 private:
  static constexpr std::uint64_t mark = 0x314b524f57574954;  // "TIWWORK1"

  result read(void* to, std::size_t size, worker_clock::time_point until) const {
    return transfer(POLLIN, size, until, [&](std::size_t at, std::size_t left) {
      return ::recv(descriptor_, static_cast<std::byte*>(to) + at, left, MSG_DONTWAIT);
    });
  }

  template <class Move>
  result transfer(short event, std::size_t size, worker_clock::time_point until, Move move) const {
    for (std::size_t at = 0; at < size;) {
      const ssize_t n = move(at, size - at);
      if (n > 0) {
        at += static_cast<std::size_t>(n);
        continue;
      }
      if (n == 0) return result::closed;
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return result::closed;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - worker_clock::now());
      if (left.count() < 0) return result::late;
      if (cancelled_ && cancelled_->load(std::memory_order_relaxed)) return result::cancelled;
      pollfd one{descriptor_, event, 0};
      const std::int64_t most = cancelled_ ? 10 : 1000;  // ms
      ::poll(&one, 1, static_cast<int>(std::min(left.count() + 1, most)));
    }
    return result::done;
  }

  int descriptor_;
  const std::atomic<bool>* cancelled_;
};

// ---- what messages hold ----

inline void write(message& m, const std::vector<argument_place>& places) {
  m.add(std::uint64_t{places.size()});
  for (const argument_place& p : places) {
    for (const std::uint64_t word :
         {std::uint64_t{p.bytes}, std::uint64_t{p.at.alignment}, std::uint64_t{p.at.beyond},
          std::uint64_t{p.element0}, std::uint64_t{p.written}, std::uint64_t{p.read},
          std::uint64_t{p.strides.size()}})
      m.add(word);
    for (const std::int64_t s : p.strides) m.add(static_cast<std::uint64_t>(s));
  }
}

inline std::vector<argument_place> read_places(message_reader& r) {
  std::vector<argument_place> out(r.count(7 * 8));
  for (argument_place& p : out) {
    p.bytes = r.word();
    p.at.alignment = r.word();
    p.at.beyond = r.word();
    p.element0 = r.word();
    p.written = r.word() != 0;
    p.read = r.word() != 0;
    p.strides.resize(r.count(8));
    for (std::int64_t& s : p.strides) s = static_cast<std::int64_t>(r.word());
  }
  return out;
}

inline void write(message& m, const std::vector<output_comparison>& all) {
  m.add(std::uint64_t{all.size()});
  for (const output_comparison& c : all) {
    m.add(std::uint64_t{c.argument});
    m.add(static_cast<std::uint64_t>(c.elements));
    m.add(c.relative);
    m.add(c.scale);
    const std::vector<std::byte> code = backend::serialize(c.code);
    m.add(code.data(), code.size());
  }
}

/// @throws build_error for a comparison of what is no output
inline std::vector<output_comparison> read_comparisons(message_reader& r,
                                                       const std::vector<argument_place>& places) {
  std::vector<output_comparison> out(r.count(5 * 8));
  for (output_comparison& c : out) {
    c.argument = r.word();
    c.elements = static_cast<std::int64_t>(r.word());
    c.relative = r.real();
    c.scale = r.real();
    const std::vector<std::byte> code = r.bytes();
    c.code = backend::deserialize(code.data(), code.size());
    const std::size_t bytes =
        c.argument < places.size() && places[c.argument].written ? places[c.argument].bytes : 0;
    if (c.elements <= 0 || static_cast<std::uint64_t>(c.elements) > bytes)
      throw build_error("a request compares what is no output");
  }
  return out;
}

inline void write(message& m, const std::vector<argument_piece>& pieces) {
  m.add(std::uint64_t{pieces.size()});
  for (const argument_piece& p : pieces)
    for (const std::size_t word : {p.argument, p.at, p.bytes}) m.add(std::uint64_t{word});
}

/// @throws build_error for a piece of what is no output
inline std::vector<argument_piece> read_pieces(message_reader& r,
                                               const std::vector<argument_place>& places) {
  std::vector<argument_piece> out(r.count(3 * 8));
  for (argument_piece& p : out) {
    for (std::size_t* word : {&p.argument, &p.at, &p.bytes}) *word = r.word();
    const std::size_t bytes =
        p.argument < places.size() && places[p.argument].written ? places[p.argument].bytes : 0;
    if (p.at > bytes || p.bytes > bytes - p.at)
      throw build_error("a request asks for what is no output");
  }
  return out;
}

inline void write(message& m, const measure_options& o) {
  for (const double v : {o.best, o.hopeless, o.evidence, o.deadline, o.budget, o.stable}) m.add(v);
  for (const int v : {o.repeats, o.most_repeats, static_cast<int>(o.where)})
    m.add(static_cast<std::uint64_t>(v));
}

inline measure_options read_options(message_reader& r) {
  measure_options o;
  for (double* v : {&o.best, &o.hopeless, &o.evidence, &o.deadline, &o.budget, &o.stable})
    *v = r.real();
  o.repeats = static_cast<int>(r.word() & 0xffff);
  o.most_repeats = static_cast<int>(r.word() & 0xffff);
  const std::uint64_t where = r.word();
  if (where > static_cast<std::uint64_t>(caches::rotating))
    throw build_error("a request names no state of the caches");
  o.where = static_cast<caches>(where);
  return o;
}

inline void write(message& m, const measurement& x) {
  m.add(static_cast<std::uint64_t>(x.failed));
  m.add(std::string_view(x.detail).substr(0, 1000));
  m.add(std::uint64_t{x.seconds.size()});
  for (const double s : x.seconds) m.add(s);
}

/// @throws build_error for what no timer gives
inline measurement read_measurement(message_reader& r) {
  measurement out;
  const std::uint64_t failed = r.word();
  if (failed > static_cast<std::uint64_t>(failure::resources))
    throw build_error("an answer names no failure");
  out.failed = static_cast<failure>(failed);
  out.detail = r.text();
  out.seconds.resize(r.count(8));
  for (double& s : out.seconds) {
    s = r.real();
    if (!(s >= 0 && s < 1e6)) throw build_error("an answer holds a time that is none");
  }
  if (!r.ended()) throw build_error("an answer has bytes after its end");
  if (out.failed == failure::none && out.seconds.empty())
    throw build_error("an answer has neither a time nor a failure");
  return out;
}

inline void write(message& m, const target::cpu& c) {
  for (const std::string& text : {c.name, c.model, c.tune, c.features}) m.add(text);
  for (const int n : {c.vector_bits, c.vector_registers, int{c.fma}, c.cores})
    m.add(static_cast<std::uint64_t>(n));
  for (const std::int64_t bytes : {c.l1_bytes, c.l2_bytes, c.l3_bytes})
    m.add(static_cast<std::uint64_t>(bytes));
}

/// @throws build_error for sizes that no processor has
inline target::cpu read_cpu(message_reader& r) {
  target::cpu c;
  for (std::string* text : {&c.name, &c.model, &c.tune, &c.features}) *text = r.text();
  const auto size = [&](std::uint64_t most) {
    const std::uint64_t n = r.word();
    if (n > most) throw build_error("a request describes no processor");
    return n;
  };
  c.vector_bits = static_cast<int>(size(1 << 16));
  c.vector_registers = static_cast<int>(size(1 << 16));
  c.fma = size(1) != 0;
  c.cores = static_cast<int>(size(1 << 16));
  for (std::int64_t* bytes : {&c.l1_bytes, &c.l2_bytes, &c.l3_bytes})
    *bytes = static_cast<std::int64_t>(size(std::uint64_t{1} << 50));
  return c;
}

/// A GPU goes by its name, a CPU whole.
inline void write(message& m, const target::machine& where) {
  m.add(where.gpu ? std::string_view(where.gpu->name) : std::string_view());
  if (where.cpu) write(m, *where.cpu);
}

/// The machine of a request. @throws build_error for one that there is not
class described_machine {
 public:
  explicit described_machine(message_reader& r) {
    const std::string name = r.text();
    if (name.empty())
      cpu_ = read_cpu(r);
    else
      gpu_ = known(name);
  }
  target::machine get() const { return gpu_ ? target::machine(*gpu_) : target::machine(cpu_); }

 private:
  static target::gpu known(const std::string& name) {
    try {
      return target::named_gpu(name);
    } catch (const argument_error& e) {
      throw build_error(std::string("a request for code: ") + e.what());
    }
  }

  target::cpu cpu_;
  std::optional<target::gpu> gpu_;
};

inline void write(message& m, const built& b) {
  m.add(b.error);
  m.add(std::uint64_t{b.rejected});
  if (!b.error.empty()) return;
  const std::vector<std::byte> code = backend::serialize(b.artifact);
  m.add(code.data(), code.size());
}

/// Without its code, which is to be loaded. @throws build_error for what no builder gives
inline built read_built(message_reader& r) {
  built out;
  out.error = r.text();
  out.rejected = r.word() != 0;
  if (out.error.empty()) {
    const std::vector<std::byte> code = r.bytes();
    out.artifact = backend::deserialize(code.data(), code.size());
  }
  if (!r.ended()) throw build_error("an answer has bytes after its end");
  return out;
}

}  // namespace tilewright::search::detail
