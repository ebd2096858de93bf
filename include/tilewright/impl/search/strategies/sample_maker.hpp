// Candidates of one workload, as the model of a strategy is shown them.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <tilewright/cost/model.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/trace_tokens.hpp>

namespace tilewright::search::detail {

class sample_maker {
 public:
  sample_maker() = default;
  /// @param reader the model; null: there is none
  sample_maker(const cost::model* reader, const ir::function& workload)
      : with_tokens_(reader != nullptr && reader->reads_traces()),
        workload_(ir::workload_key(workload)) {}

  /// The candidate must outlive the sample.
  cost::sample operator()(const candidate& c,
                          double seconds = std::numeric_limits<double>::infinity()) {
    return {&c.scheduled.function(), c.identity, workload_, seconds,
            with_tokens_ ? tokens_.of(c) : cost::trace_tokens()};
  }
  std::vector<cost::sample> operator()(const std::vector<const candidate*>& list) {
    std::vector<cost::sample> out;
    for (const candidate* c : list) out.push_back((*this)(*c));
    return out;
  }
  std::vector<cost::sample> operator()(std::span<const candidate> measured,
                                       std::span<const double> seconds) {
    std::vector<cost::sample> out;
    for (std::size_t i = 0; i < measured.size(); ++i)
      out.push_back((*this)(measured[i], seconds[i]));
    return out;
  }

 private:
  bool with_tokens_ = false;
  support::hash128 workload_;
  token_cache tokens_;
};

}  // namespace tilewright::search::detail
