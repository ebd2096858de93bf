#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <type_traits>
#include <utility>

#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/measurement/worker_message.hpp>
#include <tilewright/impl/search/measurement/worker_process.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/device_timer.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/timer.hpp>
#include <tilewright/search/measurement/worker.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::string find_worker() {
  if (const char* named = std::getenv("TILEWRIGHT_WORKER"); named && *named) return named;
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed && detail::is_program((self.parent_path() / "tilewright").string()))
    return (self.parent_path() / "tilewright").string();
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string there = std::string(rest.substr(0, end)) + "/tilewright";
    if (end > 0 && detail::is_program(there)) return there;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

struct worker::state {
  static constexpr double grace = 2;  // s beyond a deadline, which the worker itself keeps
  /// s that it may wait besides, for others that time on the same GPU.
  static constexpr double turns = 30;
  static constexpr std::size_t most_answer = 1 << 20;

  state(const argument_memory& arguments, int threads, worker_code code)
      : process(arguments.descriptor(), introduction(arguments, threads, code)) {}

  static detail::message introduction(const argument_memory& arguments, int threads,
                                      worker_code code) {
    detail::message m;
    m.add(static_cast<std::uint64_t>(detail::worker_request::arguments));
    m.add(static_cast<std::uint64_t>(threads));
    m.add(static_cast<std::uint64_t>(code));
    detail::write(m, arguments.places());
    return m;
  }

  /// What a kernel did wrong, or goes on doing, stays with the process that started it: after a fault
  /// the driver refuses everything there.
  /// @param as_expected where the answer says first whether outputs were as expected; null: it does not
  measurement ask(const detail::message& m, const backend::artifact& code, double deadline,
                  bool* as_expected = nullptr) {
    measurement out = ask(m, code.launches.empty() ? deadline : deadline + turns, as_expected);
    const bool harmed = out.failed == failure::fault || out.failed == failure::timeout;
    if (harmed && !code.launches.empty()) process.stop();
    return out;
  }

  measurement ask(const detail::message& m, double deadline, bool* as_expected) {
    detail::worker_answer answer = process.ask(m, most_answer, deadline + grace);
    measurement out;
    try {
      if (answer.wrong.empty()) {
        detail::message_reader reader(answer.said);
        const bool alike = as_expected && reader.word() != 0;
        out = detail::read_measurement(reader);
        if (as_expected) *as_expected = alike && out.ok();
        return out;
      }
    } catch (const build_error& e) {
      process.stop();
      answer.wrong = std::string("the worker answered nonsense: ") + e.what();
    }
    out.failed = answer.late        ? failure::timeout
                 : answer.cancelled ? failure::cancelled
                                    : failure::worker;
    out.detail = answer.wrong;
    return out;
  }

  detail::worker_process process;
};

TILEWRIGHT_INLINE worker::worker(const argument_memory& arguments, int threads, worker_code code)
    : state_(std::make_unique<state>(arguments, threads, code)) {
  state_->process.start();
}
TILEWRIGHT_INLINE worker::~worker() = default;

TILEWRIGHT_INLINE measurement worker::measure(const backend::artifact& code,
                                              const measure_options& options) {
  detail::message m;
  m.add(static_cast<std::uint64_t>(detail::worker_request::measure));
  detail::write(m, options);
  const std::vector<std::byte> bytes = backend::serialize(code);
  m.add(bytes.data(), bytes.size());
  return state_->ask(m, code, options.deadline);
}

TILEWRIGHT_INLINE measurement worker::run(const backend::artifact& code, double deadline) {
  detail::message m;
  m.add(static_cast<std::uint64_t>(detail::worker_request::run));
  m.add(deadline);
  const std::vector<std::byte> bytes = backend::serialize(code);
  m.add(bytes.data(), bytes.size());
  return state_->ask(m, code, deadline);
}

TILEWRIGHT_INLINE std::string worker::expect(const std::vector<output_comparison>& all,
                                             const std::vector<argument_piece>& shown) {
  detail::message m;
  m.add(static_cast<std::uint64_t>(detail::worker_request::expect));
  detail::write(m, all);
  detail::write(m, shown);
  detail::worker_answer answer = state_->process.ask(m, state::most_answer, state::turns);
  try {
    if (answer.wrong.empty()) answer.wrong = detail::message_reader(answer.said).text();
  } catch (const build_error& e) {
    answer.wrong = e.what();
  }
  if (!answer.wrong.empty()) state_->process.stop();  // nobody knows what became of its device
  return answer.wrong;
}

TILEWRIGHT_INLINE measurement worker::run_compared(const backend::artifact& code, double deadline,
                                                   bool& as_expected) {
  as_expected = false;
  detail::message m;
  m.add(static_cast<std::uint64_t>(detail::worker_request::run_compared));
  m.add(deadline);
  const std::vector<std::byte> bytes = backend::serialize(code);
  m.add(bytes.data(), bytes.size());
  return state_->ask(m, code, deadline, &as_expected);
}

TILEWRIGHT_INLINE void worker::watch(const std::atomic<bool>* cancelled) {
  state_->process.watch(cancelled);
}

TILEWRIGHT_INLINE pid_t worker::pid() const noexcept { return state_->process.pid(); }
TILEWRIGHT_INLINE int worker::restarts() const noexcept { return state_->process.starts() - 1; }

// ---- the worker's side ----

namespace detail {

/// What a worker knows after the first request.
class worker_service {
 public:
  explicit worker_service(int memory) : memory_(memory) {}

  /// The answer to one request. @throws build_error for what is no request
  message answer(const std::vector<std::byte>& request) {
    message_reader r(request);
    message out;
    switch (static_cast<worker_request>(r.word())) {
      case worker_request::arguments: {
        const auto threads = static_cast<int>(std::clamp<std::uint64_t>(r.word(), 1, 4096));
        awaits_gpu_ = r.word() == static_cast<std::uint64_t>(worker_code::of_gpu);
        arguments_ = std::make_unique<argument_memory>(read_places(r), memory_);
        pool_ = std::make_unique<backend::pool>(threads);
        timer_ = std::make_unique<timer>(*arguments_, pool_->view());
        return out;
      }
      case worker_request::measure: {
        const measure_options options = read_options(r);
        write(out, tried(r, [&](auto& t, const auto& c) { return t.measure(c, options); }));
        return out;
      }
      case worker_request::run: {
        const double deadline = r.real();
        write(out, tried(r, [&](auto& t, const auto& c) { return t.run(c, deadline); }));
        return out;
      }
      case worker_request::expect: {
        out.add(expected(r));
        return out;
      }
      case worker_request::run_compared: {
        const double deadline = r.real();
        bool as_expected = false;
        const measurement m = tried(r, [&](auto& t, const auto& c) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(t)>, device_timer>)
            return t.run_compared(c, deadline, as_expected);
          else
            return t.run(c, deadline);
        });
        out.add(std::uint64_t{as_expected});
        write(out, m);
        return out;
      }
      case worker_request::build: {
        const described_machine where(r);
        write(out, compiled(r.text(), where.get()));
        return out;
      }
    }
    throw build_error("no request of a worker");
  }

  /// Between an answer and the next request.
  void get_ready() {
    if (!std::exchange(awaits_gpu_, false)) return;
    try {
      need_device();
    } catch (const build_error&) {  // the code that needs it says so
    }
  }

 private:
  void need_device() {
    if (!device_) device_ = std::make_unique<device_timer>(*arguments_);
  }

  /// Why outputs are not compared on the device; empty: they are.
  std::string expected(message_reader& r) {
    if (!arguments_) throw build_error("a request before the arguments");
    const std::vector<output_comparison> all = read_comparisons(r, arguments_->places());
    std::vector<argument_piece> shown = read_pieces(r, arguments_->places());
    try {
      need_device();
      device_->expect(all, std::move(shown));
      return {};
    } catch (const build_error& e) {
      return e.what();
    }
  }

  static built compiled(const std::string& program, const target::machine& where) {
    try {
      return build(ir::parse(program), where);
    } catch (const std::exception& e) {
      built out;
      out.error = e.what();
      return out;
    }
  }

  /// @param use timer and code, of a CPU or of a GPU
  template <class Use>
  measurement tried(message_reader& r, Use use) {
    if (!timer_) throw build_error("a request before the arguments");
    const std::vector<std::byte> code = r.bytes();
    try {
      const backend::artifact a = backend::deserialize(code.data(), code.size());
      if (a.launches.empty()) return use(*timer_, *backend::load(a));
      need_device();
      return use(*device_, a);
    } catch (const build_error& e) {
      measurement out;
      out.failed = failure::build;
      out.detail = e.what();
      return out;
    }
  }

  int memory_;
  std::unique_ptr<argument_memory> arguments_;
  std::unique_ptr<backend::pool> pool_;
  std::unique_ptr<timer> timer_;
  std::unique_ptr<device_timer> device_;  // made before the first code for a GPU runs
  bool awaits_gpu_ = false;
};

}  // namespace detail

TILEWRIGHT_INLINE bool serve_worker(int connection, int memory) {
  constexpr std::size_t most_request = std::size_t{1} << 28;
  const detail::message_stream stream(connection);
  detail::worker_service service(memory);
  using result = detail::message_stream::result;
  detail::message said = detail::worker_greeting();
  for (;;) {
    if (stream.send(said, detail::worker_time_after(1e6)) != result::done) return true;
    service.get_ready();
    std::vector<std::byte> request;
    const result got = stream.receive(request, most_request, detail::worker_time_after(1e6));
    if (got == result::closed) return true;
    if (got != result::done) return false;
    try {
      said = service.answer(request);
    } catch (const error&) {
      return false;
    }
  }
}

}  // namespace tilewright::search
