// Traces as sequences of tokens, for models that rank by what was done instead of by what came of it.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/trace_token.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search {

/// One token for each instruction of the trace of `s` that changes the program or draws. Queries,
/// assertions, `work_on` and `enter_postproc` have none.
std::vector<cost::trace_token> tokens_of(const schedule& s);

/// Those that replaying `t` would give, without a replay. `t` has the instructions of `like` and may
/// have other decisions; one that it leaves out counts as that of `like`.
std::vector<cost::trace_token> tokens_of(const trace& t, const schedule& like);

/// Tokens by program key, for searches that meet the same program again and again: of two traces
/// that make one program, the first counts. One thread at a time may ask.
class token_cache {
 public:
  /// Forgets everything when more than `limit` programs are held.
  explicit token_cache(std::size_t limit = 1 << 14) : limit_(limit) {}

  cost::trace_tokens of(const candidate& c);
  std::size_t size() const noexcept { return known_.size(); }

 private:
  std::size_t limit_;
  std::unordered_map<support::hash128, cost::trace_tokens> known_;
};

}  // namespace tilewright::search
