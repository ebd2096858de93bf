#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <tilewright/backend/compile.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/builder.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE built build(const ir::function& scheduled, const target::cpu& cpu) {
  built out;
  try {
    const pass::prepared parts = pass::lower_prepared(scheduled, cpu);
    out.artifact = backend::compile(parts.main, cpu);
    for (const ir::buffer& b : parts.packed)
      out.artifact.packed_bytes.push_back(pass::constant_size(b) * bytes(b->type));
    if (parts.preparation.body) out.artifact.preparation.push_back(backend::compile(parts.preparation, cpu));
    out.code = backend::load(out.artifact);
  } catch (const std::exception& e) {
    out.code = nullptr;
    out.error = e.what();
    if (out.error.empty()) out.error = "unknown";
  }
  return out;
}

struct build_queue::state {
  // a few finished candidates ahead of the measurement are enough; more would only hold memory
  static constexpr std::size_t ahead = 8;

  std::vector<ir::function> programs;
  const target::cpu& cpu;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<built> results;
  std::vector<bool> done;
  std::size_t next = 0, taken = 0, finished = 0;
  bool ended = false, unbounded = false;
  std::vector<std::thread> threads;

  explicit state(const target::cpu& c) : cpu(c) {}

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ended || next == programs.size() || unbounded || next < taken + ahead; });
      if (ended || next == programs.size()) return;
      const std::size_t i = next++;
      lock.unlock();
      built b = build(programs[i], cpu);
      lock.lock();
      results[i] = std::move(b);
      done[i] = true;
      ++finished;
      changed.notify_all();
    }
  }
};

TILEWRIGHT_INLINE build_queue::build_queue(std::vector<ir::function> programs, const target::cpu& cpu, int threads)
    : state_(std::make_unique<state>(cpu)) {
  state_->programs = std::move(programs);
  state_->results.resize(state_->programs.size());
  state_->done.resize(state_->programs.size());
  for (int t = 0; t < std::max(threads, 1); ++t) state_->threads.emplace_back([s = state_.get()] { s->work(); });
}

TILEWRIGHT_INLINE build_queue::~build_queue() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->changed.notify_all();
  for (std::thread& t : state_->threads) t.join();
}

TILEWRIGHT_INLINE built build_queue::take(std::size_t i) {
  std::unique_lock lock(state_->mutex);
  state_->taken = std::max(state_->taken, i + 1);
  state_->changed.notify_all();
  state_->changed.wait(lock, [&] { return state_->done[i]; });
  return std::move(state_->results[i]);
}

TILEWRIGHT_INLINE void build_queue::finish() {
  std::unique_lock lock(state_->mutex);
  state_->unbounded = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [&] { return state_->finished == state_->programs.size(); });
}

}  // namespace tilewright::search
