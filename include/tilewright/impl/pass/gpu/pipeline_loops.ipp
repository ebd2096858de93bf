#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/pipeline_pieces.hpp>
#include <tilewright/impl/pass/gpu/tensor/roles.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/pipeline_loops.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::pipelining {

using namespace tilewright::ir;

/// One loop as a pipeline.
class pipeline_of_loop {
 public:
  /// @param nested  inside of another pipeline, where the loop has to become three statements
  /// @param around  serial loops around it, outermost first
  pipeline_of_loop(const loop_node& loop, pieces body, bool nested,
                   std::vector<const loop_node*> around = {})
      : loop_(loop),
        nested_(nested),
        around_(std::move(around)),
        body_(std::move(body)),
        stage_(numbers_of(loop, stage_key)),
        order_(numbers_of(loop, order_key)),
        async_(numbers_of(loop, async_key)),
        rounds_(most_rounds(loop)) {}

  pieces run() {
    const std::size_t n = body_.statements.size();
    if (loop_.annotations.count(rest_key) != 0) repeat_last(n);
    if (stage_.size() != n || order_.size() != n || !is_int(loop_.min, 0)) return unchanged();
    last_stage_ = *std::max_element(stage_.begin(), stage_.end());
    sequence_ = positions(loop_, stage_, order_);
    for (const stmt& s : body_.statements) effects_.emplace_back(s);
    check_dependences();
    if (rounds_ < 1 || !(count_versions() || count_with_later_stages_first())) return unchanged();
    if (const auto filled = async_.empty() ? std::nullopt : find_async())
      if (!ends_early() || (filled->reader == last_stage_ && !filled->boxes))
        return filled->boxes && loop_.annotations.count(producer_note) ? by_roles(*filled)
                                                                       : in_background(*filled);
    if (ends_early()) return unchanged();
    return rounds_ < last_stage_ + (nested_ ? 0 : 1) ? unchanged() : in_three_parts();
  }

 private:
  /// Iterations, or the most that there are where a loop ends earlier for some blocks (shorten_loops).
  static std::int64_t most_rounds(const loop_node& loop) {
    if (loop.extent->op == op::min && is_int(loop.extent->args[0]))
      return as_int(loop.extent->args[0]);
    return constant_extent(loop);
  }
  bool ends_early() const { return !is_int(loop_.extent); }

  pieces unchanged() const {
    if (rounds_ == 1 && !ends_early()) return {{rounds(loop_.var, number(1), body_.whole())}, {}};
    return {{with_body(loop_, body_.whole())}, {}};
  }

  /// Statements behind those that the annotations tell of follow the last one of these, in its stage.
  void repeat_last(std::size_t n) {
    if (stage_.size() != order_.size() || stage_.empty()) return;
    while (stage_.size() < n) {
      stage_.push_back(stage_.back());
      order_.push_back(static_cast<std::int64_t>(order_.size()));
    }
  }

  bool comes_before(std::size_t a, std::size_t b) const {
    return stage_[a] < stage_[b] || (stage_[a] == stage_[b] && order_[a] < order_[b]);
  }
  bool is_own(const buffer& b) const { return support::contains(body_.buffers, b); }

  /// Statements that meet at a buffer stay in order within an iteration; where the buffer lives longer
  /// than an iteration, also across two of them.
  void check_dependences() const {
    for (std::size_t a = 0; a < effects_.size(); ++a)
      for (std::size_t b = a + 1; b < effects_.size(); ++b)
        for (const buffer& x : effects_[a].touched) {
          if (!effects_[b].touched.count(x) ||
              !(effects_[a].written.count(x) || effects_[b].written.count(x)))
            continue;
          const bool next = is_own(x) || stage_[b] <= stage_[a] ||
                            (stage_[b] == stage_[a] + 1 && order_[b] < order_[a]);
          if (!comes_before(a, b) || !next)
            throw build_error("loop " + loop_.var->name + ": statements " + std::to_string(a) +
                              " and " + std::to_string(b) + " of its pipeline meet at buffer " +
                              x->name + ", and their stages and orders change who comes first");
        }
  }

  bool apart(std::size_t a, std::size_t b, const buffer& x) const {
    const auto first = leading_elements(body_.statements[a], x),
               second = leading_elements(body_.statements[b], x);
    return first && second &&
           support::none(*first, [&](std::int64_t s) { return support::contains(*second, s); });
  }

  /// How many iterations' contents of each buffer are alive at once. False where versions of registers
  /// would be chosen by a variable.
  bool count_versions() {
    bool shares = false;
    for (const effects& e : effects_)
      for (const buffer& b : e.written) shares = shares || storage_rank(b->scope) == 1;
    for (const buffer& b : body_.buffers) {
      std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
      for (std::size_t i = 0; i < effects_.size(); ++i)
        if (effects_[i].touched.count(b))
          first = std::min(first, stage_[i]), last = std::max(last, stage_[i]);
      std::int64_t count = std::max<std::int64_t>(last - first + 1, 1);
      // threads would have to wait for each other before they copy to what was just read
      const bool waits = !async_.empty() && storage_rank(b->scope) == 1;
      if (last > first && !waits && ends_before_next(b, first, last)) --count;
      if (waits && is_multiplied(b)) ++count;  // by a batch that goes on in the next round
      count = std::min(count, rounds_);
      if (count > 1 && shares && storage_rank(b->scope) > 1) return false;
      if (count > 1) versions_[b] = with_versions(b, count);
      count_[b] = count;
    }
    return true;
  }

  bool is_multiplied(const buffer& b) const {
    for (std::size_t i = 0; i < effects_.size(); ++i)
      if (effects_[i].touched.count(b) && groups::has_product(body_.statements[i])) return true;
    return false;
  }
  /// Whether products may go on while the next round begins: nothing is stored then to what they read, and nothing but
  /// products touches their sums.
  bool products_go_on() const {
    bool any = false, all = true;
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      if (!groups::has_product(body_.statements[i])) continue;
      any = true;
      all = all && groups::is_batch(body_.statements[i]) && stage_[i] == last_stage_;
      for (const buffer& b : effects_[i].touched) {
        const bool shared = storage_rank(b->scope) == 1;
        all = all && (shared || !is_own(b));
        for (std::size_t j = 0; j < effects_.size(); ++j)
          all = all &&
                (shared ? is_own(b) || !effects_[j].written.count(b)
                        : groups::is_batch(body_.statements[j]) || !effects_[j].touched.count(b));
      }
    }
    return any && all;
  }

  /// In an order in which each round ends iterations before it begins others, registers are free when the next
  /// iteration fills them.
  bool count_with_later_stages_first() {
    std::sort(sequence_.begin(), sequence_.end(), [&](std::size_t a, std::size_t b) {
      return stage_[a] != stage_[b] ? stage_[a] > stage_[b] : a < b;
    });
    for (std::size_t at = 0; at < sequence_.size(); ++at)
      order_[sequence_[at]] = static_cast<std::int64_t>(at);
    versions_.clear();
    count_.clear();
    return count_versions();
  }

  /// Whether in each round what is done last to the buffer comes before what is done first to it.
  bool ends_before_next(const buffer& b, std::int64_t first, std::int64_t last) const {
    for (std::size_t i = 0; i < effects_.size(); ++i)
      for (std::size_t j = 0; j < effects_.size(); ++j)
        if (effects_[i].touched.count(b) && effects_[j].touched.count(b) && stage_[i] == last &&
            stage_[j] == first && order_[i] > order_[j] && !apart(i, j, b))
          return false;
    return true;
  }

  std::vector<buffer> new_buffers() const {
    std::vector<buffer> out;
    for (const buffer& b : body_.buffers) {
      const auto found = versions_.find(b);
      out.push_back(found == versions_.end() ? b : found->second);
    }
    return out;
  }

  /// The statement of one iteration, with the versions of the step that it is.
  stmt at(const stmt& s, const expr& iteration, const expr& step) const {
    const dtype t = loop_.var.type();
    const expr k = iteration.type() == t ? iteration : cast(t, iteration);
    std::unordered_map<buffer, expr> index;
    for (const auto& [b, versioned] : versions_)
      index[b] = arith::simplify(floormod(step, integer(step.type(), count_.at(b))));
    return of_iteration(loop_.var, k, versions_, std::move(index)).mutate(s);
  }
  stmt at(std::size_t i, const expr& iteration) const {
    return at(body_.statements[i], iteration, iteration);
  }
  expr number(std::int64_t n) const { return integer(loop_.var.type(), n); }

  stmt rounds(const var& v, const expr& count, stmt body, bool products_go_on = false) const {
    annotations notes = loop_.annotations;
    for (const char* key : {stage_key, order_key, async_key, rest_key, producer_note})
      notes.erase(key);
    if (products_go_on) notes[groups::products_note] = 1;
    return make_loop(v, number(0), count, std::move(body), loop_.loop, std::move(notes));
  }

  /// What is done in the first rounds, in those in which all stages are at work, and in the last.
  pieces in_three_parts() const {
    std::vector<stmt> before, body, after;
    for (std::int64_t x = 0; x < last_stage_; ++x)
      for (const std::size_t i : sequence_)
        if (stage_[i] <= x) before.push_back(at(i, number(x - stage_[i])));
    const std::int64_t count = rounds_ - last_stage_;
    const var v = make_var(loop_.var->name, loop_.var.type());
    for (const std::size_t i : sequence_) {
      const expr offset = number(last_stage_ - stage_[i]);
      body.push_back(at(i, count == 1 ? offset : v + offset));
    }
    for (std::int64_t x = rounds_; x < rounds_ + last_stage_; ++x)
      for (const std::size_t i : sequence_)
        if (stage_[i] > x - rounds_) after.push_back(at(i, number(x - stage_[i])));
    stmt inside = count > 0 ? make_seq(std::move(body)) : make_seq({});
    if (count > 1) inside = rounds(v, number(count), std::move(inside));
    pieces out{{}, new_buffers()};
    for (stmt s : {make_seq(std::move(before)), std::move(inside), make_seq(std::move(after))})
      if (nested_ || !is_nothing(s)) out.statements.push_back(std::move(s));
    return out;
  }

  // ---- copies in the background -------------------------------------------------------------------

  struct background {
    std::vector<std::size_t> copies;  // statements
    std::vector<stmt> started;        // [copies] these, as copies in the background
    std::int64_t stage, reader;       // of these, and the first one that reads what they copy
    bool groups = false;              // some are made by threads, which wait for groups of them
    std::optional<tensor_copies::counter> boxes{};  // others by the copy engine, which counts bytes
  };

  /// Null where nothing can be copied in the background for at least one round.
  std::optional<background> find_async() const {
    background out{{}, {}, async_[0], std::numeric_limits<std::int64_t>::max()};
    buffer_set filled;
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      if (stage_[i] != out.stage) continue;
      const stmt& s = body_.statements[i];
      stmt started = async_copies::in_background(s);
      const bool boxes = tensor_copies::has_copy(s);
      if (started == s && !boxes) continue;
      out.groups = out.groups || !boxes;
      out.copies.push_back(i);
      out.started.push_back(std::move(started));
      filled.insert(effects_[i].written.begin(), effects_[i].written.end());
    }
    for (std::size_t i = 0; i < effects_.size(); ++i)
      if (!support::contains(out.copies, i) &&
          support::any(filled, [&](const buffer& b) { return effects_[i].touched.count(b) != 0; }))
        out.reader = std::min(out.reader, stage_[i]);
    if (out.copies.empty() || out.reader == std::numeric_limits<std::int64_t>::max() ||
        out.reader <= out.stage)
      return std::nullopt;
    find_boxes(out);
    return out;
  }

  void find_boxes(background& b) const {
    const attribute_node* first = nullptr;
    std::int64_t count = 0;
    for (const std::size_t c : b.copies) {
      const stmt& s = body_.statements[c];
      if (!tensor_copies::has_copy(s)) continue;
      if (any_stmt(s, [](const stmt& x) { return as_loop(x) && tensor_copies::has_copy(x); }))
        throw build_error("loop " + loop_.var->name +
                          ": a copy that is left to the copy engine stands in a loop of its "
                          "pipeline; give it a stage of its own");
      count += tensor_copies::copies_in(s);
      first = first ? first : tensor_copies::first_copy(s);
    }
    if (first) b.boxes.emplace(std::min(b.reader - b.stage + 1, rounds_), count, first->node);
  }

  stmt in_round(std::size_t i, const expr& iteration, const background& b) const {
    for (std::size_t c = 0; c < b.copies.size(); ++c)
      if (b.copies[c] == i) {
        stmt s = at(b.started[c], iteration, iteration);
        return b.boxes ? b.boxes->armed(s, iteration) : s;
      }
    return at(i, iteration);
  }

  /// What a round that reads iteration `i` of what was copied begins with.
  void wait_for(const expr& i, const background& b, std::vector<stmt>& out) const {
    std::vector<stmt> landed, boxes;
    for (const std::size_t c : b.copies)
      (tensor_copies::has_copy(body_.statements[c]) ? boxes : landed).push_back(at(c, i));
    if (b.groups)
      out.push_back(async_copies::wait(b.reader - b.stage - 1, make_seq(std::move(landed))));
    if (b.boxes) out.push_back(b.boxes->wait(i, make_seq(std::move(boxes))));
    out.push_back(barrier());
  }

  /// Of a loop that ends early, iteration `i` may be none.
  stmt where_there_is(std::int64_t i, stmt s) const {
    return ends_early() ? make_if(lt(number(i), loop_.extent), std::move(s)) : s;
  }

  /// Round `x` outside of the loop.
  void single_round(std::int64_t x, const background& b, std::vector<stmt>& out) const {
    if (x >= b.reader && x - b.reader < rounds_) wait_for(number(x - b.reader), b, out);
    for (const std::size_t i : sequence_) {
      if (stage_[i] <= x && x - stage_[i] < rounds_)
        out.push_back(where_there_is(x - stage_[i], in_round(i, number(x - stage_[i]), b)));
      if (b.groups && i == last_copy(b) && x - b.reader + 1 < rounds_)
        out.push_back(async_copies::commit());
    }
  }

  pieces in_background(const background& b) const {
    pieces out{{}, new_buffers()};
    if (b.boxes) {
      out.buffers.insert(out.buffers.begin(), b.boxes->arrivals());
      out.statements.push_back(b.boxes->begin());
    }
    for (std::int64_t x = 0; x < last_stage_; ++x) single_round(x, b, out.statements);
    // rounds in which all is done but some of the copies
    const std::int64_t count = rounds_ - (last_stage_ - b.reader);
    const var v = make_var(loop_.var->name, loop_.var.type());
    std::vector<stmt> body;
    wait_for(v + number(last_stage_ - b.reader), b, body);
    for (const std::size_t i : sequence_) {
      const std::int64_t ahead = last_stage_ - stage_[i];
      const stmt mine = in_round(i, v + number(ahead), b);
      body.push_back(rounds_ - ahead >= count ? mine
                     : ends_early()           ? make_if(lt(v + number(ahead), loop_.extent), mine)
                                              : make_if(lt(v, number(rounds_ - ahead)), mine));
      if (b.groups && i == last_copy(b)) body.push_back(async_copies::commit());
    }
    if (count > 0)
      out.statements.push_back(rounds(v, ends_early() ? loop_.extent : number(count),
                                      make_seq(std::move(body)), products_go_on()));
    for (std::int64_t x = last_stage_ + std::max<std::int64_t>(count, 0); x < rounds_ + last_stage_;
         ++x)
      single_round(x, b, out.statements);
    if (b.boxes) out.statements.push_back(b.boxes->end());
    return {{make_seq(std::move(out.statements))}, std::move(out.buffers)};
  }

  // ---- copies by warps of their own ---------------------------------------------------------------

  [[noreturn]] void refuse_roles(const std::string& why) const {
    throw build_error("loop " + loop_.var->name +
                      ": warps of their own ask for its copies (tilewright.producer), and " + why +
                      "; leave the annotation out, then all threads meet in each step");
  }
  /// All copies are boxes, which are multiplied by warp groups and used by nothing else.
  void check_roles(const background& b) const {
    if (b.groups || nested_) refuse_roles("not all of its copies are left to the copy engine");
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      const stmt& s = body_.statements[i];
      if (support::contains(b.copies, i)) continue;
      if (tensor_copies::has_copy(s)) refuse_roles("they are in several stages");
      for (const std::size_t c : b.copies)
        for (const buffer& x : effects_[c].written)
          if (effects_[i].touched.count(x) && !groups::is_batch(s))
            refuse_roles("something else than products of warp groups reads " + x->name);
    }
    for (const loop_node* l : around_)
      if (constant_extent(*l) < 1 || !is_int(l->min, 0))
        refuse_roles("loop " + l->var->name + " around has no constant extent");
  }
  /// The number of an iteration among those of all rounds of the loops around.
  expr step_of(const expr& iteration) const {
    expr out = number(0);
    for (const loop_node* l : around_)
      out = out * number(constant_extent(*l)) + cast(loop_.var.type(), l->var);
    return arith::simplify(out * number(rounds_) + iteration);
  }

  /// A producer fills versions of memory as they become free, while consumers multiply those that are full: the
  /// youngest products go on where there is another version for the next ones.
  pieces by_roles(const background& b) const {
    check_roles(b);
    const std::int64_t slots = count_.at(*effects_[b.copies[0]].written.begin());
    const bool go_on = slots > 1 && products_go_on();
    std::int64_t copies = 0;
    for (const std::size_t c : b.copies) copies += tensor_copies::copies_in(body_.statements[c]);
    const roles::maker two(slots, copies);
    const var p = make_var(loop_.var->name, loop_.var.type()),
              c = make_var(loop_.var->name, loop_.var.type());
    std::vector<stmt> filling, landed, work;
    for (std::size_t i = 0; i < effects_.size(); ++i) {
      const bool copied = support::contains(b.copies, i);
      if (copied) filling.push_back(at(body_.statements[i], p, step_of(p)));
      (copied ? landed : work).push_back(at(body_.statements[i], c, step_of(c)));
    }
    work.insert(work.begin(), two.wait(make_seq(std::move(landed)), step_of(c)));
    const stmt before = two.release(step_of(go_on ? c - number(1) : expr(c)));
    work.push_back(go_on ? make_if(gt(c, number(0)), before) : before);
    std::vector<stmt> all{rounds(c, number(rounds_), make_seq(std::move(work)), go_on)};
    // in the last round of all nobody fills them again
    if (go_on && !around_.empty()) all.push_back(two.release(step_of(number(rounds_ - 1))));
    pieces out{{}, new_buffers()};
    for (const buffer& x : two.arrivals()) out.buffers.push_back(x);
    const stmt fill =
        rounds(p, number(rounds_), two.fill(make_seq(std::move(filling)), step_of(p)));
    out.statements.push_back(two.both(fill, std::move(all), !around_.empty()));
    return out;
  }

  std::size_t last_copy(const background& b) const {
    std::size_t out = b.copies[0];
    for (const std::size_t i : b.copies)
      if (order_[i] > order_[out]) out = i;
    return out;
  }

  const loop_node& loop_;
  bool nested_;
  std::vector<const loop_node*> around_;
  pieces body_;
  numbers stage_, order_, async_;
  std::int64_t rounds_, last_stage_ = 0;
  std::vector<std::size_t> sequence_;
  std::vector<effects> effects_;
  buffer_map versions_;
  std::unordered_map<buffer, std::int64_t> count_;
};

class pipeliner : public mutator {
 public:
  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (loop && is_pipeline(*loop)) return expand(*loop, false).whole();
    const bool repeats = loop && loop->loop != loop_kind::thread_binding;
    if (repeats) around_.push_back(loop);
    stmt out = mutator::mutate(s);
    if (repeats) around_.pop_back();
    return out;
  }

 private:
  static bool is_pipeline(const loop_node& loop) {
    return !numbers_of(loop, stage_key).empty() && !numbers_of(loop, order_key).empty();
  }
  pieces expand(const loop_node& loop, bool nested) {
    pieces body;
    flatten(loop.body, body);
    return pipeline_of_loop(loop, std::move(body), nested, around_).run();
  }
  void flatten(const stmt& s, pieces& out) {
    if (const allocate_node* n = as_allocate(s)) {
      out.buffers.push_back(n->buffer);
      return flatten(n->body, out);
    }
    if (const seq_node* seq = as_seq(s)) {
      for (const stmt& child : seq->stmts) flatten(child, out);
      return;
    }
    const loop_node* loop = as_loop(s);
    if (!loop || !is_pipeline(*loop)) {
      out.statements.push_back(mutate(s));
      return;
    }
    pieces inner = expand(*loop, true);
    for (stmt& part : inner.statements) out.statements.push_back(std::move(part));
    out.buffers.insert(out.buffers.end(), inner.buffers.begin(), inner.buffers.end());
  }

  std::vector<const loop_node*> around_;
};

}  // namespace tilewright::pass::detail::pipelining

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function pipeline_loops(const ir::function& f) {
  ir::function out = f;
  out.body = detail::tensor_copies::waiter{}.mutate(detail::pipelining::pipeliner{}.mutate(f.body));
  out.body = rewrite_kernels(out.body, &detail::roles::keeper::in_kernel);
  return out;
}

}  // namespace tilewright::pass
