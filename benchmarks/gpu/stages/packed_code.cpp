#include "packed_code.hpp"

#include <algorithm>
#include <utility>

#include <tilewright/support/numbers/number_text.hpp>

#include "pack.hpp"

namespace gpu_candidates {

packed_code::packed_code(const cu::device& on, std::filesystem::path pack, std::string workload,
                         std::string architecture)
    : on_(on),
      pack_(std::move(pack)),
      workload_(std::move(workload)),
      architecture_(std::move(architecture)) {
  for (int i = 0; i < gpu_pack::most_candidates; ++i)
    if (std::filesystem::exists(
            gpu_pack::code_file(pack_, gpu_pack::candidate_name(workload_, i), architecture_)))
      numbers_.push_back(i);
}

std::unique_ptr<loaded_code> packed_code::load(const std::string& name) const {
  return std::make_unique<loaded_code>(
      on_, gpu_pack::read_code(pack_, workload_ + "." + name, architecture_));
}

bool packed_code::has(const std::string& name) const {
  return std::filesystem::exists(gpu_pack::code_file(pack_, workload_ + "." + name, architecture_));
}

std::vector<glance> packed_code::look_at_all(const gpu_time::device_clock& clock,
                                             const std::vector<void*>& data,
                                             const std::function<bool()>& late) const {
  constexpr double slow = 20;     // times the fastest one: more is not worth a second look
  constexpr double least = 1e-3;  // s, which the first start of a process may take
  std::vector<glance> out;
  double best = 0;
  for (const int i : numbers_) {
    if (!out.empty() && late()) break;
    const auto code = load(i);
    out.push_back({i, clock.glance_at(code->starter(data), best > 0 ? slow * best + least : 0)});
    best = best > 0 ? std::min(best, out.back().seconds) : out.back().seconds;
  }
  std::sort(out.begin(), out.end(),
            [](const glance& a, const glance& b) { return a.seconds < b.seconds; });
  return out;
}

std::string text(const std::vector<glance>& all) {
  std::string out;
  for (const glance& g : all)
    out += (out.empty() ? "" : " ") + std::to_string(g.number) + ":" +
           tilewright::support::general_text(1e6 * g.seconds, 5);
  return out;
}

}  // namespace gpu_candidates
