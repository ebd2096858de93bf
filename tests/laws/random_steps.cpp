#include <algorithm>
#include <array>

#include <tilewright/schedule/path.hpp>

#include "random_programs.hpp"

namespace laws {
namespace {

using namespace tilewright;

/// Random arguments for one step.
class stepper {
 public:
  stepper(schedule& s, support::random& draw) : s_(s), draw_(draw) {
    for (const ir::block_realize_node* b : primitive::all_blocks(s.function().body))
      if (b->block->name != "root") names_.push_back(b->block->name);
  }

  step run() {
    static const std::array<void (stepper::*)(), 18> kinds{&stepper::split,
                                                           &stepper::split,
                                                           &stepper::tile,
                                                           &stepper::fuse,
                                                           &stepper::reorder,
                                                           &stepper::reorder,
                                                           &stepper::loop_kind,
                                                           &stepper::cache_read,
                                                           &stepper::cache_write,
                                                           &stepper::compute_at,
                                                           &stepper::compute_at,
                                                           &stepper::reverse_compute_at,
                                                           &stepper::reverse_compute_at,
                                                           &stepper::compute_inline,
                                                           &stepper::reverse_compute_inline,
                                                           &stepper::decompose_reduction,
                                                           &stepper::annotate,
                                                           &stepper::place};
    const auto chosen =
        kinds[static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(kinds.size())))];
    if (names_.empty()) return {"none", false, ""};
    try {
      (this->*chosen)();
      return {what_, true, {}};
    } catch (const schedule_error& e) {
      return {what_, false, e.what()};
    } catch (const argument_error& e) {
      return {what_, false, e.what()};
    }
  }

 private:
  std::string name() { return any(draw_, names_); }
  block_rv block() { return s_.get_block(name()); }
  std::vector<loop_rv> loops(block_rv b) { return s_.get_loops(b); }
  loop_rv loop() {
    std::vector<loop_rv> list = loops(block());
    for (int i = 0; list.empty() && i < 5; ++i) list = loops(block());
    if (list.empty()) throw schedule_error(what_, 0, "no loops");
    return any(draw_, list);
  }
  factor number() { return factor(std::int64_t{1} + pick(draw_, 5)); }

  void split() {
    what_ = "split";
    std::vector<factor> factors;
    const std::int64_t n = 1 + pick(draw_, 3);
    for (std::int64_t i = 0; i < n; ++i) factors.push_back(number());
    if (chance(draw_, 90)) factors[static_cast<std::size_t>(pick(draw_, n))] = infer;
    s_.split(loop(), factors, chance(draw_, 80));
  }
  void tile() {
    what_ = "split";
    const loop_rv l = loop();
    const std::vector<expr_rv> sizes =
        chance(draw_, 50) ? s_.sample_perfect_tile(l, 2, 4) : s_.sample_tile(l, 2, {2, 3, 4});
    s_.split(l, sizes);
  }
  void fuse() {
    what_ = "fuse";
    const std::vector<loop_rv> all = loops(block());
    if (all.size() < 2) throw schedule_error("fuse", 0, "no loops");
    const auto first =
        static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(all.size()) - 1));
    const std::size_t last =
        std::min(all.size(), first + 2 + static_cast<std::size_t>(pick(draw_, 2)));
    s_.fuse(std::vector<loop_rv>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                 all.begin() + static_cast<std::ptrdiff_t>(last)),
            chance(draw_, 80));
  }
  void reorder() {
    what_ = "reorder";
    std::vector<loop_rv> all = loops(block());
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1],
                all[static_cast<std::size_t>(pick(draw_, static_cast<std::int64_t>(i)))]);
    if (all.size() > 2 && chance(draw_, 50)) all.pop_back();
    s_.reorder(all);
  }
  void loop_kind() {
    const std::int64_t kind = pick(draw_, 3);
    what_ = kind == 0 ? "parallel" : kind == 1 ? "vectorize" : "unroll";
    const loop_rv l = loop();
    if (kind == 0)
      s_.parallel(l);
    else if (kind == 1)
      s_.vectorize(l);
    else
      s_.unroll(l);
  }
  std::vector<block_rv> some_consumers(block_rv b) {
    if (chance(draw_, 70)) return {};
    const std::vector<block_rv> all = s_.get_consumers(b);
    return all.empty() ? all : std::vector<block_rv>{any(draw_, all)};
  }
  std::string scope() {
    static const std::vector<std::string> all{"global", "local", "global", "shared", "register"};
    return any(draw_, all);
  }
  void cache_read() {
    what_ = "cache_read";
    const block_rv b = block();
    s_.cache_read(b, static_cast<int>(pick(draw_, 2)), scope(),
                  chance(draw_, 30) ? std::vector<block_rv>{b} : std::vector<block_rv>{});
  }
  void cache_write() {
    what_ = "cache_write";
    const block_rv b = block();
    s_.cache_write(b, 0, scope(), some_consumers(b));
  }
  int index() {
    return chance(draw_, 70) ? -1 : chance(draw_, 50) ? -2 : static_cast<int>(pick(draw_, 3));
  }
  /// A loop around a neighbour, mostly.
  loop_rv loop_near(const std::vector<block_rv>& near) {
    if (near.empty() || chance(draw_, 10)) return loop();
    const std::vector<loop_rv> list = loops(any(draw_, near));
    if (list.empty()) throw schedule_error(what_, 0, "no loops");
    return any(draw_, list);
  }
  void compute_at() {
    what_ = "compute_at";
    const block_rv b = block();
    s_.compute_at(b, loop_near(s_.get_consumers(b)), chance(draw_, 30), index());
  }
  void place() {
    what_ = "sample_compute_location";
    const block_rv b = block();
    s_.compute_at(b, s_.sample_compute_location(b), chance(draw_, 30));
  }
  void reverse_compute_at() {
    what_ = "reverse_compute_at";
    const block_rv b = block();
    s_.reverse_compute_at(b, loop_near(s_.get_producers(b)), chance(draw_, 30), index());
  }
  void compute_inline() {
    what_ = "compute_inline";
    s_.compute_inline(block());
  }
  void reverse_compute_inline() {
    what_ = "reverse_compute_inline";
    s_.reverse_compute_inline(block());
  }
  void decompose_reduction() {
    what_ = "decompose_reduction";
    const block_rv b = block();
    const std::vector<loop_rv> list = loops(b);
    if (list.empty()) throw schedule_error(what_, 0, "no loops");
    s_.decompose_reduction(b, any(draw_, list));
  }
  void annotate() {
    what_ = "annotate";
    if (chance(draw_, 50))
      s_.annotate(block(), "note", 1);
    else
      s_.annotate(loop(), "note", std::string("a \"quoted\" text"));
  }

  schedule& s_;
  support::random& draw_;
  std::vector<std::string> names_;
  std::string what_;
};

}  // namespace

step random_step(schedule& s, support::random& draw) { return stepper(s, draw).run(); }

}  // namespace laws
