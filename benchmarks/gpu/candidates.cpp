#include "candidates.hpp"

#include <set>
#include <utility>

#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

namespace gpu_candidates {
namespace {

using namespace tilewright;

constexpr double deadline = 5, patience = 120;  // s for a compilation, and for a default schedule

/// Programs of the space, each once: the default, then drawn ones.
std::vector<ir::function> programs(const gpu_workloads::workload& w, const target::gpu& device,
                                   std::size_t count, const space::design_space& list) {
  const space::context where{&device, 1};
  std::vector<ir::function> out{search::default_schedule(w.function, list, where, 1).function()};
  const std::vector<schedule> sketches = list.sketches(w.function, where, 1);
  std::set<support::hash128> seen;
  for (std::uint64_t seed = 1; out.size() < count && seed < 100 * count; ++seed) {
    const trace family = sketches[seed % sketches.size()].trace().without_decisions();
    const auto c = search::replay(family, w.function, seed, nullptr,
                                  [&](schedule& s) { list.finish(s, where); });
    if (c && seen.insert(c->identity).second) out.push_back(c->scheduled.function());
  }
  return out;
}

}  // namespace

std::vector<backend::artifact> of(const gpu_workloads::workload& w, const target::gpu& device,
                                  int count, const space::design_space& space) {
  const auto most = static_cast<std::size_t>(count);
  std::vector<ir::function> all = programs(w, device, 2 * most, space);
  search::built first = search::build(all[0], device, patience);
  if (!first)
    throw build_error("the default schedule of " + w.name + " for " + device.name + ": " +
                      first.error);
  std::vector<backend::artifact> out{std::move(first.artifact)};
  all.erase(all.begin());
  const std::size_t tried = all.size();
  search::build_queue queue(std::move(all), device, {target::host().cores, 0}, {}, deadline);
  for (std::size_t i = 0; i < tried && out.size() < most; ++i)
    if (search::built b = queue.take(i)) out.push_back(std::move(b.artifact));
  return out;
}

}  // namespace gpu_candidates
