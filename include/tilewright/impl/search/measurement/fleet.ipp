#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <tilewright/backend/loader.hpp>
#include <tilewright/impl/search/measurement/bound_positions.hpp>
#include <tilewright/impl/search/measurement/command_connection.hpp>
#include <tilewright/impl/search/measurement/fleet/fleet_message.hpp>
#include <tilewright/impl/search/measurement/fleet/sent_arguments.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/measurement/fleet.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search {
namespace detail {

/// Code to be timed, or a program to be compiled and timed, and what came of it.
struct fleet_job {
  std::string program;          // empty: the code is there
  std::vector<std::byte> code;  // of a program: when it is done
  measure_options options;
  message own;                  // a call: all that is asked
  std::string error;            // why a program has no code
  std::vector<std::byte> said;  // answer to a call
  std::optional<measurement> done;
};

/// Name and parameters: what a program needs to run on the arguments of a workload.
inline std::string signature_of(const ir::function& f) {
  const std::string text = ir::print(f);
  return text.substr(0, text.find("):\n"));
}

/// One worker as its thread sees it.
class fleet_worker {
 public:
  fleet_worker(worker_address at, std::string token, const fleet_options& options)
      : address_(std::move(at)), token_(std::move(token)), options_(options) {}

  const worker_address& address() const { return address_; }

  /// Connects and greets. @returns what is wrong; empty: nothing
  std::string connect() {
    prepared_ = 0;
    std::string problem;
    socket_ = address_.command.empty() ? connected(address_, options_.patience, problem)
                                       : command_.start(address_.command, problem);
    if (!socket_) return problem;
    const message_stream stream(socket_.get());
    const auto until = worker_time_after(options_.patience);
    std::vector<std::byte> said;
    if (stream.send(fleet_hello(token_), until) != message_stream::result::done ||
        stream.receive(said, 1 << 16, until) != message_stream::result::done)
      return drop("it does not greet; it may be busy with another client");
    try {
      message_reader r(said);
      const std::string refused = r.text();
      if (!refused.empty()) return drop(refused);
      processor_ = read_cpu(r);
      const target::cpu& code = options_.code_for ? *options_.code_for : target::host();
      if (!target::runs_on(code, processor_))
        return drop("its processor (" + processor_.isa_key() + ") does not run code for " +
                    (options_.code_for ? code.name + " (" + code.isa_key() + ")" : "this one"));
    } catch (const build_error& e) {
      return drop(e.what());
    }
    return {};
  }

  /// As it said when it greeted.
  const target::cpu& processor() const { return processor_; }
  bool connected_now() const { return static_cast<bool>(socket_); }
  void close() {
    socket_.close();
    command_.end();
  }

  /// Does a job for a workload, number `which`, which it is told first where it does not know it.
  /// The code and the error of a program come into the job.
  measurement measure(const message& workload, std::uint64_t which, fleet_job& job) {
    measurement out;
    out.failed = failure::worker;
    std::vector<std::byte> said;
    try {
      if (!job.own.bytes().empty()) return call(job);
      if (prepared_ != which) {
        out.detail = ask(workload, options_.patience + options_.grace, said);
        if (!out.detail.empty()) return out;
        message_reader r(said);
        out.detail = r.text();
        if (!out.detail.empty()) return out;
        prepared_ = which;
      }
      const bool whole = !job.program.empty();
      message m;
      m.add(static_cast<std::uint64_t>(whole ? fleet_request::build : fleet_request::measure));
      write(m, job.options);
      if (whole)
        m.add(std::string_view(job.program));
      else
        m.add(job.code.data(), job.code.size());
      const double compiling = whole ? options_.build_deadline : 0;
      out.detail = ask(m, job.options.deadline + options_.grace + compiling, said);
      if (!out.detail.empty()) return out;
      message_reader r(said);
      if (whole) {
        job.error = r.text();
        job.code = r.bytes();
      }
      return read_measurement(r);
    } catch (const build_error& e) {
      out.detail = drop(e.what());
      return out;
    }
  }

 private:
  /// The measurement comes first in the answer; the outputs stay in the job.
  measurement call(fleet_job& job) {
    measurement out;
    out.failed = failure::worker;
    out.detail = ask(job.own, job.options.deadline + options_.patience + options_.grace, job.said);
    if (!out.detail.empty()) return out;
    message_reader r(job.said);
    const std::vector<std::byte> times = r.bytes();
    message_reader inner(times);
    return read_measurement(inner);
  }

  std::string ask(const message& m, double deadline, std::vector<std::byte>& said) {
    const message_stream stream(socket_.get());
    using result = message_stream::result;
    result got = stream.send(m, worker_time_after(options_.patience));
    if (got == result::done)
      got = stream.receive(said, most_fleet_message, worker_time_after(deadline));
    if (got == result::done) return {};
    return drop(got == result::late ? "took longer than its deadline"
                                    : "the connection to " + address_.text() + " was lost");
  }
  std::string drop(std::string why) {
    close();
    return why;
  }

  worker_address address_;
  std::string token_;
  fleet_options options_;
  target::cpu processor_;
  running_command command_;
  socket_handle socket_;
  std::uint64_t prepared_ = 0;  // number of the workload that it knows
};

}  // namespace detail

struct fleet::state {
  using job = std::shared_ptr<detail::fleet_job>;

  fleet_options options;
  std::vector<std::unique_ptr<detail::fleet_worker>> workers;
  std::vector<std::thread> threads;

  mutable std::mutex guard;
  std::condition_variable changed;
  bool ending = false;
  detail::message workload;  // what workers are told of it
  std::uint64_t number = 0;  // of the workload
  std::string signature;
  measure_options latest;  // what was asked last: for code that nobody has asked for yet
  std::deque<job> waiting;
  std::map<support::hash128, job> known;  // begun, and not asked for
  std::size_t alive = 0;
  std::vector<std::string> problems;
  std::vector<std::size_t> measured;    // [workers]
  std::vector<target::cpu> processors;  // [workers]
  int call_threads = 1;                 // of a call

  /// A thread's work: jobs for one worker until the fleet ends or the worker is given up.
  void serve(std::size_t which) {
    detail::fleet_worker& w = *workers[which];
    std::unique_lock lock(guard);
    for (;;) {
      changed.wait(lock, [&] { return ending || !waiting.empty(); });
      if (ending) return;
      const job next = waiting.front();
      waiting.pop_front();
      const detail::message about = workload;
      const std::uint64_t now = number;
      lock.unlock();
      const std::string lost = connect(w);
      std::optional<measurement> m;
      if (lost.empty()) m = w.measure(about, now, *next);
      lock.lock();
      if (!m) {
        give_up(w, next, lost);
        return;
      }
      next->done = std::move(m);
      ++measured[which];
      changed.notify_all();
    }
  }

  std::string connect(detail::fleet_worker& w) const {
    std::string problem;
    double pause = options.pause;
    for (int attempt = 0; attempt < std::max(options.attempts, 1) && !w.connected_now();
         ++attempt) {
      if (attempt > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(pause));
        pause *= 2;
      }
      problem = w.connect();
      if (problem.empty()) break;
    }
    return problem;
  }

  /// The job goes to another worker; where none is left, all jobs fail.
  void give_up(const detail::fleet_worker& w, const job& unfinished, const std::string& why) {
    problems.push_back(w.address().text() + ": given up: " + why);
    waiting.push_front(unfinished);
    if (--alive == 0) fail_all();
    changed.notify_all();
  }
  void fail_all() {
    for (const job& j : waiting) {
      j->done.emplace();
      j->done->failed = failure::worker;
      j->done->detail = "no worker of the fleet is left";
    }
    waiting.clear();
  }

  static support::hash128 key_of(const std::vector<std::byte>& code) {
    support::hasher h;
    h.add(std::string_view(reinterpret_cast<const char*>(code.data()), code.size()));
    return h.finish();
  }

  /// A job for the code; the one that is there where it has been begun.
  job begun(std::vector<std::byte> code, const measure_options& with) {
    const support::hash128 key = key_of(code);
    const auto [at, fresh] = known.try_emplace(key);
    if (fresh) {
      at->second = std::make_shared<detail::fleet_job>();
      at->second->code = std::move(code);
      at->second->options = with;
      waiting.push_back(at->second);
      if (alive == 0) fail_all();
      changed.notify_all();
    }
    return at->second;
  }

  void set_workload(const search::workload& w) {
    if (w.machine.gpu) throw argument_error("fleet: it times code of CPUs; this is for a GPU");
    if (options.code_for) return set_arguments(w);
    for (const auto& values : w.given)
      if (!values.empty())
        throw argument_error(
            "fleet: the values of arguments are not sent to workers; let them be "
            "made up (timing_data::made_up)");
    detail::message m;
    m.add(static_cast<std::uint64_t>(detail::fleet_request::workload));
    m.add(static_cast<std::uint64_t>(w.exec ? w.exec->threads : 1));
    detail::write(m, *w.machine.cpu);
    m.add(std::string_view(ir::print(w.function)));
    detail::write(m, w.layouts);
    know(w, std::move(m));
  }

  /// Workers get what the arguments hold: they need not know the program.
  void set_arguments(const search::workload& w) {
    const runner values(w.function, w.layouts, backend::serial_executor(), 1, w.given);
    const std::vector<std::size_t> weights = detail::bound_positions(w.function);
    detail::message m;
    m.add(static_cast<std::uint64_t>(detail::fleet_request::arguments));
    m.add(static_cast<std::uint64_t>(w.exec ? w.exec->threads : 1));
    detail::write(m, *w.machine.cpu);
    m.add(std::uint64_t{weights.size()});
    for (const std::size_t i : weights) m.add(std::uint64_t{i});
    detail::write_arguments(m, values.memory());
    if (m.bytes().size() > detail::most_fleet_message)
      throw argument_error(
          "fleet: the arguments take more than 256 MiB, which is too much to send");
    know(w, std::move(m));
  }

  void know(const search::workload& w, detail::message m) {
    const std::lock_guard lock(guard);
    workload = std::move(m);
    call_threads = w.exec ? w.exec->threads : 1;
    ++number;
    signature = detail::signature_of(w.function);
    latest = {};
    waiting.clear();
    known.clear();
  }

  /// A worker compiles and times it; `times_of` finds the times by the code.
  built made_there(const ir::function& f) {
    const job own = std::make_shared<detail::fleet_job>();
    own->program = ir::print(f);
    std::unique_lock lock(guard);
    own->options = latest;
    waiting.push_back(own);
    if (alive == 0) fail_all();
    changed.notify_all();
    changed.wait(lock, [&] { return own->done.has_value(); });
    built out;
    out.error = own->error;
    if (own->code.empty()) {
      if (out.error.empty()) out.error = own->done->detail;
      return out;
    }
    known[key_of(own->code)] = own;
    lock.unlock();
    try {
      out.artifact = backend::deserialize(own->code.data(), own->code.size());
      if (!options.code_for) out.code = backend::load(out.artifact);
    } catch (const error& e) {
      out = {};
      out.error = e.what();
    }
    return out;
  }

  /// Compiles, and has the code timed while the next program is compiled; or has a worker do both.
  built make(const ir::function& f, const target::machine& where) {
    if (options.build_there) {
      std::unique_lock lock(guard);
      const bool ours = detail::signature_of(f) == signature;
      lock.unlock();
      if (ours) return made_there(f);
    }
    built out = search::build(f, where);
    if (!out) return out;
    const std::string own = detail::signature_of(f);
    const std::lock_guard lock(guard);
    if (own == signature) begun(backend::serialize(out.artifact), latest);
    return out;
  }

  /// One call on a worker, whose outputs come into `arguments`.
  measurement call_there(const built& b, const argument_memory& arguments, double deadline) {
    const std::vector<std::byte> code = backend::serialize(b.artifact);
    const job own = std::make_shared<detail::fleet_job>();
    own->options.deadline = deadline;
    own->own.add(static_cast<std::uint64_t>(detail::fleet_request::call));
    own->own.add(deadline);
    own->own.add(static_cast<std::uint64_t>(call_threads));
    own->own.add(code.data(), code.size());
    detail::write_arguments(own->own, arguments);
    std::unique_lock lock(guard);
    waiting.push_front(own);
    if (alive == 0) fail_all();
    changed.notify_all();
    changed.wait(lock, [&] { return own->done.has_value(); });
    lock.unlock();
    measurement out = *own->done;
    if (!out.ok()) return out;
    try {
      detail::message_reader r(own->said);
      r.bytes();
      detail::read_outputs(r, arguments);
    } catch (const build_error& e) {
      out.failed = failure::worker;
      out.detail = e.what();
    }
    return out;
  }

  measurement times_of(const built& b, const measure_options& with) {
    std::vector<std::byte> code = backend::serialize(b.artifact);
    std::unique_lock lock(guard);
    latest = with;
    const support::hash128 key = key_of(code);
    const job asked = begun(std::move(code), with);
    changed.wait(lock, [&] { return asked->done.has_value(); });
    known.erase(key);
    return *asked->done;
  }
};

TILEWRIGHT_INLINE fleet::fleet(const std::vector<worker_address>& workers, std::string token,
                               const fleet_options& options)
    : state_(std::make_shared<state>()) {
  state& s = *state_;
  s.options = options;
  for (const worker_address& at : workers) {
    auto w = std::make_unique<detail::fleet_worker>(at, token, options);
    if (std::string problem = w->connect(); !problem.empty())
      s.problems.push_back(at.text() + ": " + problem);
    else
      s.workers.push_back(std::move(w));
  }
  if (s.workers.empty()) {
    std::string text = "no worker of the fleet can be used";
    for (const std::string& p : s.problems) text += "; " + p;
    throw build_error(text);
  }
  s.alive = s.workers.size();
  s.measured.assign(s.workers.size(), 0);
  for (const auto& w : s.workers) s.processors.push_back(w->processor());
  for (std::size_t i = 0; i < s.workers.size(); ++i)
    s.threads.emplace_back([&s, i] { s.serve(i); });
}

TILEWRIGHT_INLINE fleet::~fleet() {
  {
    const std::lock_guard lock(state_->guard);
    state_->ending = true;
  }
  state_->changed.notify_all();
  for (std::thread& t : state_->threads) t.join();
}

TILEWRIGHT_INLINE void fleet::use_in(measuring_options& options) {
  options.build = [s = state_](const ir::function& f, const target::machine& where) {
    return s->make(f, where);
  };
  options.runner = [s = state_](const workload& w) -> measurer {
    s->set_workload(w);
    return [s](const built& b, const measure_options& with) { return s->times_of(b, with); };
  };
  if (state_->options.code_for)
    options.call = [s = state_](const built& b, const argument_memory& arguments, double deadline) {
      return s->call_there(b, arguments, deadline);
    };
  if (state_->options.build_there) options.builds = static_cast<int>(size());
}

TILEWRIGHT_INLINE std::size_t fleet::size() const {
  const std::lock_guard lock(state_->guard);
  return state_->alive;
}
TILEWRIGHT_INLINE std::vector<std::string> fleet::problems() const {
  const std::lock_guard lock(state_->guard);
  return state_->problems;
}
TILEWRIGHT_INLINE const std::vector<target::cpu>& fleet::processors() const noexcept {
  return state_->processors;
}
TILEWRIGHT_INLINE std::vector<std::size_t> fleet::measured() const {
  const std::lock_guard lock(state_->guard);
  return state_->measured;
}

}  // namespace tilewright::search
