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
#include <tilewright/impl/pass/gpu/shared_alignment.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
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
  pipeline_of_loop(const loop_node& loop, pieces body, bool nested)
      : loop_(loop),
        nested_(nested),
        body_(std::move(body)),
        stage_(numbers_of(loop, stage_key)),
        order_(numbers_of(loop, order_key)),
        async_(numbers_of(loop, async_key)),
        rounds_(constant_extent(loop)) {}

  pieces run() {
    const std::size_t n = body_.statements.size();
    if (loop_.annotations.count(rest_key) != 0) repeat_last(n);
    if (stage_.size() != n || order_.size() != n || !is_int(loop_.min, 0)) return unchanged();
    last_stage_ = *std::max_element(stage_.begin(), stage_.end());
    sequence_ = positions();
    for (const stmt& s : body_.statements) effects_.emplace_back(s);
    check_dependences();
    if (rounds_ < 1 || !(count_versions() || count_with_later_stages_first())) return unchanged();
    if (const auto filled = async_.empty() ? std::nullopt : find_async())
      return in_background(*filled);
    return rounds_ < last_stage_ + (nested_ ? 0 : 1) ? unchanged() : in_three_parts();
  }

 private:
  pieces unchanged() const {
    if (rounds_ == 1) return {{rounds(loop_.var, 1, body_.whole())}, {}};
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

  /// The statements in the order of a round.
  std::vector<std::size_t> positions() const {
    std::vector<std::size_t> out(order_.size());
    std::vector<bool> seen(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto at = static_cast<std::size_t>(order_[i]);
      if (order_[i] < 0 || at >= out.size() || seen[at] || stage_[i] < 0)
        throw build_error(
            "loop " + loop_.var->name +
            ": software_pipeline_order is no permutation of its statements, or a stage "
            "is negative");
      seen[at] = true;
      out[at] = i;
    }
    return out;
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

  /// Elements of the leading dimension that a statement touches; nothing where they are not literal.
  static std::optional<std::vector<std::int64_t>> slots(const stmt& s, const buffer& b) {
    std::vector<std::int64_t> out;
    bool literal = true;
    const auto add = [&](const buffer& x, const std::vector<expr>& at) {
      if (x != b) return;
      literal = literal && !at.empty() && is_int(at[0]);
      if (literal) out.push_back(as_int(at[0]));
    };
    for_each_stmt(s, [&](const stmt& x) {
      if (const store_node* store = as_store(x)) add(store->buffer, store->indices);
    });
    for_each_expr(s, [&](const expr& e) {
      if (e->op == op::load) add(e->buffer, e->args);
    });
    return literal ? std::optional(out) : std::nullopt;
  }
  bool apart(std::size_t a, std::size_t b, const buffer& x) const {
    const auto first = slots(body_.statements[a], x), second = slots(body_.statements[b], x);
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

  static buffer with_versions(const buffer& b, std::int64_t count) {
    buffer_node node = *b;
    node.shape.insert(node.shape.begin(), integer(dtype::i32, count));
    if (storage_rank(b->scope) == 1 || !b->strides.empty()) {
      std::int64_t step = 1;
      if (b->strides.empty()) {
        std::vector<expr> strides(b->shape.size());
        for (std::size_t d = b->shape.size(); d-- > 0; step *= as_int(b->shape[d]))
          strides[d] = integer(dtype::i32, step);
        node.strides = std::move(strides);
      }
      // each version begins where rows of 128 bytes do, or eight of them
      const std::int64_t unit = shared_alignment(*b),
                         line = std::max<std::int64_t>(unit / bytes(b->type), 1);
      step = (constant_size(b) + line - 1) / line * line;
      node.strides.insert(node.strides.begin(), integer(dtype::i32, step));
    }
    return buffer(new buffer_node(std::move(node)));
  }

  std::vector<buffer> new_buffers() const {
    std::vector<buffer> out;
    for (const buffer& b : body_.buffers) {
      const auto found = versions_.find(b);
      out.push_back(found == versions_.end() ? b : found->second);
    }
    return out;
  }

  /// The statement of one iteration.
  stmt at(const stmt& s, const expr& iteration) const {
    const dtype t = loop_.var.type();
    const expr k = iteration.type() == t ? iteration : cast(t, iteration);
    std::unordered_map<buffer, expr> index;
    for (const auto& [b, with_versions] : versions_)
      index[b] = arith::simplify(floormod(iteration, integer(iteration.type(), count_.at(b))));
    return of_iteration(loop_.var, k, versions_, std::move(index)).mutate(s);
  }
  stmt at(std::size_t i, const expr& iteration) const { return at(body_.statements[i], iteration); }
  expr number(std::int64_t n) const { return integer(loop_.var.type(), n); }

  stmt rounds(const var& v, std::int64_t count, stmt body, bool products_go_on = false) const {
    annotations notes = loop_.annotations;
    for (const char* key : {stage_key, order_key, async_key, rest_key}) notes.erase(key);
    if (products_go_on) notes[groups::products_note] = 1;
    return make_loop(v, number(0), number(count), std::move(body), loop_.loop, std::move(notes));
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
    if (count > 1) inside = rounds(v, count, std::move(inside));
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
        stmt s = at(b.started[c], iteration);
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

  /// Round `x` outside of the loop.
  void single_round(std::int64_t x, const background& b, std::vector<stmt>& out) const {
    if (x >= b.reader && x - b.reader < rounds_) wait_for(number(x - b.reader), b, out);
    for (const std::size_t i : sequence_) {
      if (stage_[i] <= x && x - stage_[i] < rounds_)
        out.push_back(in_round(i, number(x - stage_[i]), b));
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
                                              : make_if(lt(v, number(rounds_ - ahead)), mine));
      if (b.groups && i == last_copy(b)) body.push_back(async_copies::commit());
    }
    if (count > 0)
      out.statements.push_back(rounds(v, count, make_seq(std::move(body)), products_go_on()));
    for (std::int64_t x = last_stage_ + std::max<std::int64_t>(count, 0); x < rounds_ + last_stage_;
         ++x)
      single_round(x, b, out.statements);
    if (b.boxes) out.statements.push_back(b.boxes->end());
    return {{make_seq(std::move(out.statements))}, std::move(out.buffers)};
  }

  std::size_t last_copy(const background& b) const {
    std::size_t out = b.copies[0];
    for (const std::size_t i : b.copies)
      if (order_[i] > order_[out]) out = i;
    return out;
  }

  const loop_node& loop_;
  bool nested_;
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
    return loop && is_pipeline(*loop) ? expand(*loop, false).whole() : mutator::mutate(s);
  }

 private:
  static bool is_pipeline(const loop_node& loop) {
    return !numbers_of(loop, stage_key).empty() && !numbers_of(loop, order_key).empty();
  }
  pieces expand(const loop_node& loop, bool nested) {
    pieces body;
    flatten(loop.body, body);
    return pipeline_of_loop(loop, std::move(body), nested).run();
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
};

}  // namespace tilewright::pass::detail::pipelining

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function pipeline_loops(const ir::function& f) {
  ir::function out = f;
  out.body = detail::tensor_copies::waiter{}.mutate(detail::pipelining::pipeliner{}.mutate(f.body));
  return out;
}

}  // namespace tilewright::pass
