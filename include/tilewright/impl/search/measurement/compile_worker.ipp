#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include <tilewright/backend/loader.hpp>
#include <tilewright/impl/search/measurement/worker_message.hpp>
#include <tilewright/impl/search/measurement/worker_process.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/measurement/compile_worker.hpp>

namespace tilewright::search {

struct compile_workers::state {
  static constexpr std::size_t most_answer = std::size_t{1} << 28;
  using process = std::unique_ptr<detail::worker_process>;

  explicit state(double d) : deadline(d) {}

  process take() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<detail::worker_process>(-1);
    process out = std::move(idle.back());
    idle.pop_back();
    return out;
  }
  void give_back(process p) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(p));
  }

  /// What the answer says; an answer that is none ends the process.
  static built understood(const detail::worker_answer& answer, detail::worker_process& from) {
    built out;
    out.late = answer.late;
    if (!answer.wrong.empty()) {
      const bool ended_here = answer.late || answer.cancelled;
      out.error = (ended_here ? "its compilation " : "while it was compiled, ") + answer.wrong;
      return out;
    }
    try {
      detail::message_reader reader(answer.said);
      out = detail::read_built(reader);
      if (out.error.empty() && out.artifact.launches.empty())
        out.code = backend::load(out.artifact);
    } catch (const build_error& e) {
      from.stop();
      out = {};
      out.error = std::string("the worker answered nonsense: ") + e.what();
    }
    return out;
  }

  double deadline;
  std::mutex mutex;
  std::vector<process> idle;
};

TILEWRIGHT_INLINE compile_workers::compile_workers(double deadline)
    : state_(std::make_unique<state>(deadline)) {}
TILEWRIGHT_INLINE compile_workers::~compile_workers() = default;

TILEWRIGHT_INLINE built compile_workers::make(const ir::function& scheduled,
                                              const target::machine& where,
                                              const std::atomic<bool>* cancelled) {
  detail::message m;
  m.add(static_cast<std::uint64_t>(detail::worker_request::build));
  detail::write(m, where);
  m.add(ir::print(scheduled));
  state::process p = state_->take();
  p->watch(cancelled);
  built out = state::understood(p->ask(m, state::most_answer, state_->deadline), *p);
  state_->give_back(std::move(p));
  return out;
}

}  // namespace tilewright::search
