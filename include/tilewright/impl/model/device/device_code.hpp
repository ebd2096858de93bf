// The kernels of a network for a GPU as code: made by several threads, equal kernels once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/impl/dispatch/specialization/gpu_code.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/support/thread.hpp>
#include <tilewright/support/threads/stack.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::network::detail {

struct device_code_options {
  std::uint64_t seed = 42;
  bool stored_only = false;  // throws where no schedule is stored
  std::string where;         // the code shall run, for messages
  int threads = 0;           // that make code; 0: one a core
};

/// Calls `act`; an error of it is one of the kernel `name`.
template <class Act>
void with_name(const std::string& name, const Act& act) {
  try {
    act();
  } catch (const build_error& e) {
    throw build_error(name + ": " + e.what());
  } catch (const schedule_error& e) {
    throw build_error(name + ": no schedule for a GPU: " + e.what());
  }
}

/// Calls `work(k)` for k < count on several threads, and throws what the first of those throws that did.
template <class Work>
void on_threads(std::size_t count, int threads, const Work& work) {
  std::vector<std::exception_ptr> failed(count);
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    const support::default_float_environment ours;
    for (std::size_t k; (k = next++) < count;) try {
        work(k);
      } catch (...) {
        failed[k] = std::current_exception();
      }
    return true;
  };
  std::vector<std::thread> started;
  const std::size_t more = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  for (std::size_t t = 1; t < more; ++t)
    if (std::thread fresh = support::start_thread(take); fresh.joinable())
      started.push_back(std::move(fresh));
  constexpr std::size_t enough_stack = 1 << 20;  // bytes, for lowering
  support::with_stack(enough_stack, take);
  for (std::thread& t : started) t.join();
  for (const std::exception_ptr& e : failed)
    if (e) std::rethrow_exception(e);
}

/// Code of each launch of a network, by the schedules that the database has as chosen, or else by default ones;
/// what is made is stored.
/// @param plan made for a GPU
/// @param use makes of an artifact what is returned, on several threads; throws a build_error where it cannot be
/// used, whereupon another schedule may take its place
/// @throws build_error naming the node that there is no code for
/// @throws argument_error naming the node that nothing is stored of, where nothing else is wanted
template <class Use>
auto code_of(const executable& plan, search::database& db, const device_code_options& o,
             const Use& use) {
  using code = decltype(use(std::declval<const backend::artifact&>()));
  const std::size_t n = plan.launches().size();
  std::vector<std::size_t> first;    // launches whose kernels are all different
  std::vector<std::size_t> same(n);  // [launches] place in `first`
  std::map<std::string, std::size_t> known;
  for (std::size_t k = 0; k < n; ++k) {
    const search::record_key& key = plan.task(k).key;
    const auto [at, is_new] = known.emplace(key.workload + "|" + key.arguments, first.size());
    if (is_new) first.push_back(k);
    same[k] = at->second;
  }
  std::vector<code> made(first.size());
  on_threads(first.size(), o.threads > 0 ? o.threads : target::host().cores, [&](std::size_t i) {
    const search::workload& w = plan.task(first[i]);
    with_name(text_of(plan.launches()[first[i]].what), [&] {
      dispatch::detail::gpu_code found(w, db,
                                       [&](const backend::artifact& a) { made[i] = use(a); });
      if (found.take_chosen()) return;
      if (o.stored_only)
        throw argument_error(text_of(plan.launches()[first[i]].what) + ": " +
                             db.why(search::wanted_record(w)) +
                             "and TILEWRIGHT_TUNE or the options say miss_error");
      found.take_unmeasured(o.seed, o.where);
    });
  });
  std::vector<code> out;
  for (const std::size_t i : same) out.push_back(made[i]);
  return out;
}

}  // namespace tilewright::network::detail
