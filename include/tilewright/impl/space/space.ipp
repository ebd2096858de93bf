#pragma once

#include <algorithm>
#include <exception>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail {

/// What several sources of sketches give, refusals left out unless nothing else comes.
class gathering {
 public:
  template <class Source>
  void add(Source source) {
    try {
      lists_.push_back(source());
    } catch (const schedule_error&) {
      if (!refusal_) refusal_ = std::current_exception();
    }
  }
  /// The lists one after the other, or in turn.
  std::vector<schedule> take(bool in_turn) {
    std::vector<schedule> out;
    std::size_t longest = 0;
    for (const auto& l : lists_) longest = std::max(longest, l.size());
    if (in_turn) {
      for (std::size_t i = 0; i < longest; ++i)
        for (auto& l : lists_)
          if (i < l.size()) out.push_back(std::move(l[i]));
    } else {
      for (auto& l : lists_) std::move(l.begin(), l.end(), std::back_inserter(out));
    }
    if (out.empty() && refusal_) std::rethrow_exception(refusal_);
    return out;
  }

 private:
  std::vector<std::vector<schedule>> lists_;
  std::exception_ptr refusal_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::vector<schedule> design_space::sketches(const ir::function& f,
                                                               const context& where,
                                                               std::uint64_t seed) const {
  if (!ir::has_alternatives(f)) return grow(schedule(f, seed), where);
  detail::gathering all;
  for (const ir::function& each : ir::alternatives(f))
    all.add([&] {
      schedule s(f, seed);
      s.work_on(each.name);
      return grow(std::move(s), where);
    });
  return all.take(true);
}

TILEWRIGHT_INLINE design_space design_space::with(std::vector<postproc> steps) const {
  design_space out = *this;
  out.postprocs_ = std::move(steps);
  return out;
}

TILEWRIGHT_INLINE void design_space::finish(schedule& s, const context& where) const {
  if (postprocs_.empty()) return;
  s.enter_postproc();
  for (const postproc& step : postprocs_) step(s, where);
}

TILEWRIGHT_INLINE design_space design_space::unite(const design_space& a, const design_space& b) {
  design_space out(function([a, b](schedule s, const context& where) {
    detail::gathering all;
    for (const design_space* part : {&a, &b}) all.add([&] { return part->grow(s.copy(), where); });
    return all.take(false);
  }));
  out.postprocs_ = a.has_postprocs() ? a.postprocs_ : b.postprocs_;
  return out;
}

}  // namespace tilewright::space
