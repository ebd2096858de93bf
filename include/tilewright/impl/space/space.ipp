#pragma once

#include <algorithm>
#include <exception>
#include <set>

#include <tilewright/ir/reformatted.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/schedule/term_order.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/hash.hpp>

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

/// A member of one of two spaces, by lot; of the other one where that refuses.
inline std::vector<schedule> one_of(const design_space& a, const design_space& b, schedule s,
                                    const context& where) {
  schedule again = s.copy();
  support::random lot = again.copy().state().random;
  const bool swapped = lot.below(2) == 1;
  try {
    return (swapped ? b : a).grow(std::move(s), where);
  } catch (const schedule_error&) {
    return (swapped ? a : b).grow(std::move(again), where);
  }
}

/// Equal for schedules that differ in their decisions alone, and in draws that nothing uses.
inline support::hash128 structure_of(const schedule& s) {
  support::hasher h;
  h.add(s.trace().simplified().without_decisions().print());
  return h.finish();
}

/// How many runs without a new structure end a search for them: enough to have met an alternative
/// of the widest draw that has not come yet, or nothing where nothing is drawn.
inline std::size_t patience_for(const trace& t, std::size_t from) {
  constexpr std::size_t least = 16, most = 256, per_candidate = 8;
  std::size_t out = 0;
  for (std::size_t i = from; i < t.size(); ++i) {
    const instruction& what = *t[i].what;
    if (what.kind->choice == decision_shape::none || t.is_fixed(i)) continue;
    out = std::max(out, least);
    for (const argument& a : what.args)
      if (const auto* weights = std::get_if<std::vector<double>>(&a))
        out = std::max(out, per_candidate * weights->size());
  }
  return std::min(out, most);
}

TILEWRIGHT_INLINE std::vector<schedule> structures_of(schedule start, const context& where,
                                                      const std::function<void(schedule&)>& build) {
  constexpr std::size_t limit = 256;
  const std::size_t given = start.trace().size();
  std::vector<schedule> out;
  std::set<support::hash128> had;
  std::exception_ptr refusal;
  schedule next = start;
  for (std::size_t idle = 0, patience = 1; idle < patience && out.size() < limit; ++idle) {
    std::exception_ptr refused;
    try {
      build(next);
    } catch (const schedule_error&) {
      refused = std::current_exception();
      if (!refusal) refusal = refused;
    }
    if (where.wanted == yield::member) {
      if (refused) std::rethrow_exception(refused);
      return {std::move(next)};
    }
    patience = std::max(patience, patience_for(next.trace(), given));
    if (!refused && (patience == 1 || had.insert(structure_of(next)).second)) {
      out.push_back(std::move(next));
      idle = 0;
    }
    next = start.copy();
  }
  if (out.empty() && refusal) std::rethrow_exception(refusal);
  return out;
}

/// Goes on with a member of a family; the numbers of its format are drawn, so that a search changes them as
/// it changes what else is drawn.
inline void work_on_one(schedule& s, const ir::algorithm_family& family, std::size_t member) {
  const std::vector<std::int64_t>& sizes = family.sizes[member];
  if (family.sizes.size() == 1) return s.work_on(ir::sized_name(family.name, sizes));
  annotation_value::list drawn;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> candidates;
    for (const std::vector<std::int64_t>& each : family.sizes)
      if (!support::contains(candidates, each[d])) candidates.push_back(each[d]);
    const auto at = std::find(candidates.begin(), candidates.end(), sizes[d]) - candidates.begin();
    const std::vector<double> weights(candidates.size(),
                                      1.0 / static_cast<double>(candidates.size()));
    drawn.emplace_back(s.sample_categorical(std::move(candidates), weights, std::int64_t{at}));
  }
  s.annotate(s.get_block("root"), ir::sizes_attribute, std::move(drawn));
  s.work_on(family.name);
}

/// The algorithms of a function that has several: of one that keeps the order of its terms its own alone.
inline std::vector<ir::algorithm_family> families_to_try(const ir::function& f) {
  std::vector<ir::algorithm_family> out = ir::algorithm_families(f);
  if (ir::keeps_term_order(f)) out.resize(1);
  return out;
}

inline std::vector<schedule> all_sketches(const design_space& space, const ir::function& f,
                                          const context& where, std::uint64_t seed) {
  if (!ir::has_alternatives(f)) return space.grow(schedule(f, seed), where);
  gathering all;
  for (const ir::algorithm_family& each : families_to_try(f))
    all.add([&] {
      schedule s(f, seed);
      work_on_one(s, each, 0);
      return space.grow(std::move(s), where);
    });
  return all.take(true);
}

/// Leaves out sketches in which terms may come in another order than in `f`, where that is to stay.
inline void keep_in_order(std::vector<schedule>& sketches, const ir::function& f) {
  if (!ir::keeps_term_order(f)) return;
  std::exception_ptr refusal;
  std::erase_if(sketches, [&](const schedule& s) {
    try {
      check_term_order(s, f);
      return false;
    } catch (const schedule_error&) {
      if (!refusal) refusal = std::current_exception();
      return true;
    }
  });
  if (sketches.empty() && refusal) std::rethrow_exception(refusal);
}

[[noreturn]] inline void refuse_empty(const ir::function& f, const std::string& text) {
  std::string blocks;
  for (const std::string& name : root_block_names(schedule(f)))
    blocks += (blocks.empty() ? "" : ", ") + name;
  throw schedule_error("space", 6,
                       "the space offers nothing for " + f.name + ", whose blocks are " + blocks +
                           (text.empty() ? "; a function of sketches has to return at least one"
                                         : "; the space is " + text));
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<schedule> design_space::sketches(const ir::function& f,
                                                               const context& where,
                                                               std::uint64_t seed) const {
  std::vector<schedule> out = detail::all_sketches(*this, f, where, seed);
  detail::keep_in_order(out, f);
  if (out.empty()) detail::refuse_empty(f, text_);
  return out;
}

TILEWRIGHT_INLINE schedule design_space::member(const ir::function& f, context where,
                                                std::uint64_t seed) const {
  where.wanted = yield::member;
  support::random random(seed);
  schedule s(f, random.next());
  if (ir::has_alternatives(f)) {
    const std::vector<ir::algorithm_family> all = detail::families_to_try(f);
    const ir::algorithm_family& family = all[random.below(all.size())];
    const std::size_t members = family.sizes.size();
    detail::work_on_one(s, family, members > 1 ? random.below(members) : 0);
  }
  std::vector<schedule> made = grow(std::move(s), where);
  if (made.empty()) detail::refuse_empty(f, text_);
  schedule one = std::move(made[random.below(made.size())]);
  check_term_order(one, f);
  return one;
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
  const std::string text =
      a.text_.empty() || b.text_.empty() ? std::string() : a.text_ + " | " + b.text_;
  const auto both = [a, b](schedule s, const context& where) {
    if (where.wanted == yield::member) return detail::one_of(a, b, std::move(s), where);
    detail::gathering all;
    for (const design_space* part : {&a, &b}) all.add([&] { return part->grow(s.copy(), where); });
    return all.take(false);
  };
  design_space out(function(both), text);
  out.postprocs_ = a.has_postprocs() ? a.postprocs_ : b.postprocs_;
  return out;
}

}  // namespace tilewright::space
