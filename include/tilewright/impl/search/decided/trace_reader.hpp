// What the decisions of a trace tell of its program, without a replay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/search/decided/decided_numbers.hpp>
#include <tilewright/impl/search/decided/tile_nest.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::search::detail::decided {

/// Reads one trace. A copy of what has read none reads another one.
class trace_reader {
 public:
  trace_reader(const ir::function& f, const target::gpu* gpu) : gpu_(gpu) {
    find_blocks(ir::root_block(f)->body, {});
  }

  /// Why no candidate comes of the trace; empty where that is not known.
  /// @param random draws the decisions that are missing, as far as the reader knows what a replay would draw them
  /// from; null: they stay unknown
  std::string run(const trace& t, support::random* random = nullptr) {
    random_ = random;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const instruction& what = *t[i].what;
      if (what.kind->name == "enter_postproc") break;
      if (std::string why = step(what, t[i].choice, i); !why.empty())
        return "instruction " + std::to_string(i) + ": " + why;
    }
    return gpu_ ? device_limits() : std::string();
  }

  /// The decisions that `run` has drawn, with the positions of their instructions.
  const std::vector<std::pair<std::size_t, decision>>& drawn() const { return drawn_; }

 private:
  struct block_place {
    const ir::block_node* block;
    std::vector<std::int64_t> extents;  // of its loops, each of which is an iteration variable
  };

  /// Blocks below the root whose iteration variables are their loops.
  void find_blocks(const ir::stmt& s, const std::vector<const ir::loop_node*>& loops) {
    if (const ir::loop_node* l = ir::as_loop(s)) {
      std::vector<const ir::loop_node*> inside = loops;
      inside.push_back(l);
      return find_blocks(l->body, inside);
    }
    if (const ir::seq_node* seq = ir::as_seq(s)) {
      for (const ir::stmt& child : seq->stmts) find_blocks(child, loops);
      return;
    }
    const ir::block_realize_node* r = ir::as_realize(s);
    if (!r || r->values.size() != loops.size()) return;
    block_place p{r->block.get(), {}};
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (!r->values[i].same(loops[i]->var) || !ir::is_int(loops[i]->extent)) return;
      p.extents.push_back(loops[i]->extent->integer);
    }
    blocks_.emplace_back(std::move(p));
  }

  static bool is(const instruction& what, std::string_view name) { return what.kind->name == name; }

  std::string step(const instruction& what, const decision& choice, std::size_t at) {
    if (what.kind->choice != decision_shape::none) {
      if (!random_ || !choice.empty()) return take(what, choice);
      decision made = drawn_for(what);
      take(what, made);
      if (!made.empty()) drawn_.emplace_back(at, std::move(made));
      return {};
    }
    if (is(what, "get_block")) return get_block(what);
    if (is(what, "get_loops")) return get_loops(what);
    if (is(what, "split")) return split(what);
    if (is(what, "fuse")) return fuse(what);
    if (is(what, "reorder")) return reorder(what);
    if (is(what, "bind")) return bind(what);
    if (is(what, "cache_read")) return cache_read(what);
    if (is(what, "cache_write")) return cache_write(what);
    // the loops of where it goes stay
    if (is(what, "compute_at") || is(what, "reverse_compute_at")) return move(what);
    if (is(what, "annotate")) return annotate(what);
    if (is(what, "assert_")) return check(what);
    for (const std::string_view harmless :
         {"unannotate", "vectorize", "unroll", "parallel", "decompose_reduction", "get_consumers",
          "get_producers", "get_child_blocks", "storage_align", "set_scope"})
      if (is(what, harmless)) return {};
    std::vector<rv> touched;
    for (const argument& a : what.args) collect_rvs(a, touched);
    for (const rv& v : touched) lose(v);
    return {};
  }

  // ---- integers

  /// What a replay would draw; empty where that depends on more than is known.
  decision drawn_for(const instruction& what) {
    if (is(what, "sample_categorical")) {
      const auto* candidates = std::get_if<std::vector<std::int64_t>>(&what.args[0]);
      const auto* weights = std::get_if<std::vector<double>>(&what.args[1]);
      if (!candidates || !weights) return {};
      return {primitive::sample_categorical(*random_, *candidates, *weights)};
    }
    if (!is(what, "sample_perfect_tile")) return {};
    const auto* v = std::get_if<rv>(&what.args[0]);
    const tile_loop* l = v ? known(*v) : nullptr;
    const auto *n = std::get_if<std::int64_t>(&what.args[1]),
               *most = std::get_if<std::int64_t>(&what.args[2]);
    if (!l || !l->extent || !n || !most) return {};
    return primitive::draw_perfect_tile(*random_, *l->extent, static_cast<int>(*n),
                                        static_cast<int>(*most));
  }

  std::string take(const instruction& what, const decision& choice) {
    if (what.kind->output_class != rv_class::integer || choice.empty()) return {};
    if (is(what, "sample_categorical")) {
      const auto* candidates = std::get_if<std::vector<std::int64_t>>(&what.args[0]);
      const auto at = static_cast<std::size_t>(choice[0]);
      if (candidates && at < candidates->size() && what.outputs.size() == 1)
        numbers_.note(what.outputs[0], (*candidates)[at]);
      return {};
    }
    // a decision that is no product of the extent would be repaired
    std::int64_t product = 1;
    for (const std::int64_t d : choice) product *= d > 0 ? d : 0;
    const auto* v = what.args.empty() ? nullptr : std::get_if<rv>(&what.args[0]);
    const tile_loop* l = v ? known(*v) : nullptr;
    if (!l || l->extent != product || choice.size() != what.outputs.size()) return {};
    for (std::size_t i = 0; i < choice.size(); ++i) numbers_.note(what.outputs[i], choice[i]);
    return {};
  }

  std::string check(const instruction& what) const {
    const auto* condition = std::get_if<factor>(&what.args[0]);
    const known_size holds = condition ? numbers_.value(*condition) : std::nullopt;
    return holds && *holds == 0 ? "assert_: the condition does not hold" : "";
  }

  // ---- loops

  const tile_loop* known(const rv& v) const {
    const auto there = loops_.find(v.number);
    return v.kind == rv_class::loop && there != loops_.end() ? &there->second : nullptr;
  }
  block_nest* owner(const rv& v) {
    const auto there = nest_of_.find(v.number);
    const auto found = there == nest_of_.end() ? nests_.end() : nests_.find(there->second);
    return found == nests_.end() ? nullptr : &found->second;
  }
  /// Forgets the nest that the variable belongs to.
  void lose(const rv& v) {
    if (v.kind == rv_class::block) nests_.erase(nest_number(v.number));
    if (const auto there = nest_of_.find(v.number); there != nest_of_.end())
      nests_.erase(there->second);
    loops_.erase(v.number);
  }
  /// The first variable that stands for the same block.
  std::uint32_t nest_number(std::uint32_t block) const {
    const auto there = same_block_.find(block);
    return there == same_block_.end() ? block : there->second;
  }

  std::string get_block(const instruction& what) {
    const auto* name = std::get_if<std::string>(&what.args[0]);
    if (!name || what.outputs.size() != 1) return {};
    const std::uint32_t number = what.outputs[0].number;
    if (const auto before = by_name_.find(*name); before != by_name_.end()) {
      same_block_[number] = before->second;
      return {};
    }
    by_name_[*name] = number;
    for (const block_place& p : blocks_)
      if (p.block->name == *name) {
        nests_[number].block = p.block;
        extents_[number] = p.extents;
      }
    return {};
  }

  std::string get_loops(const instruction& what) {
    const auto* b = std::get_if<rv>(&what.args[0]);
    if (!b) return {};
    const std::uint32_t number = nest_number(b->number);
    const auto there = nests_.find(number);
    if (there == nests_.end()) return {};
    block_nest& n = there->second;
    if (!n.named) {
      const std::vector<std::int64_t>& extents = extents_[number];
      if (extents.size() != what.outputs.size()) return lost(number);
      for (std::size_t i = 0; i < extents.size(); ++i)
        add(what.outputs[i].number, {extents[i], {{i, extents[i]}}, {}}, number, n);
      n.named = true;
      return {};
    }
    if (what.outputs.size() != n.loops.size()) return lost(number);
    for (std::size_t i = 0; i < n.loops.size(); ++i) {  // a second variable for each loop
      const tile_loop same = loops_[n.loops[i]];
      loops_[what.outputs[i].number] = same;
      nest_of_[what.outputs[i].number] = number;
      n.loops[i] = what.outputs[i].number;
    }
    return {};
  }
  std::string lost(std::uint32_t number) {
    nests_.erase(number);
    return {};
  }
  void add(std::uint32_t variable, tile_loop l, std::uint32_t number, block_nest& n) {
    loops_[variable] = std::move(l);
    nest_of_[variable] = number;
    n.loops.push_back(variable);
  }

  std::string split(const instruction& what) {
    const auto* v = std::get_if<rv>(&what.args[0]);
    const auto* factors = std::get_if<std::vector<factor>>(&what.args[1]);
    block_nest* n = v ? owner(*v) : nullptr;
    if (!n || !factors || factors->size() != what.outputs.size()) return {};
    const auto at = std::find(n->loops.begin(), n->loops.end(), v->number);
    if (at == n->loops.end()) return lost(nest_of_[v->number]);
    const tile_loop from = loops_[v->number];
    std::vector<known_size> sizes;
    known_size product = 1;
    std::size_t inferred = factors->size();
    for (std::size_t i = 0; i < factors->size(); ++i) {
      sizes.push_back(numbers_.value((*factors)[i]));
      if ((*factors)[i].kind() == factor::op::inferred)
        inferred = i;
      else
        product =
            product && sizes[i] && *sizes[i] > 0 ? known_size(*product * *sizes[i]) : known_size();
    }
    if (inferred < sizes.size()) {
      if (from.extent && product) sizes[inferred] = (*from.extent + *product - 1) / *product;
    } else if (from.extent && product && *product < *from.extent) {
      return "split: the factors make " + std::to_string(*product) + " of a loop of " +
             std::to_string(*from.extent);
    }
    const std::uint32_t number_of_nest = nest_of_[v->number];
    std::vector<std::uint32_t> list(n->loops.begin(), at);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      tile_loop part{sizes[i], {}, {}};
      if (from.steps.size() == 1)
        part.steps = {{from.steps[0].first, sizes[i]}};
      else
        for (const auto& [iter, steps] : from.steps) part.steps.emplace_back(iter, known_size());
      loops_[what.outputs[i].number] = std::move(part);
      nest_of_[what.outputs[i].number] = number_of_nest;
      list.push_back(what.outputs[i].number);
    }
    list.insert(list.end(), at + 1, n->loops.end());
    n->loops = std::move(list);
    return {};
  }

  std::string fuse(const instruction& what) {
    const auto* list = std::get_if<std::vector<rv>>(&what.args[0]);
    if (!list || list->empty() || what.outputs.size() != 1) return {};
    block_nest* n = owner((*list)[0]);
    if (!n) return {};
    const auto at = std::find(n->loops.begin(), n->loops.end(), (*list)[0].number);
    const std::uint32_t number_of_nest = nest_of_[(*list)[0].number];
    tile_loop all{1, {}, {}};
    for (std::size_t i = 0; i < list->size(); ++i) {
      const bool next = static_cast<std::size_t>(n->loops.end() - at) > i &&
                        at[static_cast<std::ptrdiff_t>(i)] == (*list)[i].number;
      if (!next) return lost(number_of_nest);
      const tile_loop& l = loops_[(*list)[i].number];
      all.extent = all.extent && l.extent ? known_size(*all.extent * *l.extent) : known_size();
      all.steps.insert(all.steps.end(), l.steps.begin(), l.steps.end());
    }
    const auto first = n->loops.erase(at, at + static_cast<std::ptrdiff_t>(list->size()));
    n->loops.insert(first, what.outputs[0].number);
    loops_[what.outputs[0].number] = std::move(all);
    nest_of_[what.outputs[0].number] = number_of_nest;
    return {};
  }

  std::string reorder(const instruction& what) {
    const auto* list = std::get_if<std::vector<rv>>(&what.args[0]);
    block_nest* n = list && !list->empty() ? owner((*list)[0]) : nullptr;
    if (!n) return {};
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < n->loops.size(); ++i)
      if (support::any(*list, [&](const rv& v) { return v.number == n->loops[i]; }))
        places.push_back(i);
    if (places.size() != list->size()) return lost(nest_of_[(*list)[0].number]);
    for (std::size_t i = 0; i < places.size(); ++i) n->loops[places[i]] = (*list)[i].number;
    return {};
  }

  std::string bind(const instruction& what) {
    const auto* v = std::get_if<rv>(&what.args[0]);
    const auto* axis = std::get_if<std::string>(&what.args[1]);
    if (v && axis && known(*v)) loops_[v->number].thread = *axis;
    if (axis && axis->rfind("threadIdx", 0) == 0) thread_axes_.insert(*axis);
    return {};
  }

  /// The threads that a rule asks for at least, and stages of pipelines.
  std::string annotate(const instruction& what) {
    const auto* v = std::get_if<rv>(&what.args[0]);
    const auto* key = std::get_if<std::string>(&what.args[1]);
    const auto* note = std::get_if<annotation_value>(&what.args[2]);
    if (!v || !key || !note) return {};
    if (*key == "meta_schedule.thread_extent_low_inclusive") {
      const auto there = nests_.find(nest_number(v->number));
      const known_size least = numbers_.value(*note);
      if (least && there != nests_.end()) there->second.fewest_threads = *least;
      return {};
    }
    if (!known(*v)) return {};
    tile_loop& l = loops_[v->number];
    if (*key == "software_pipeline_async_stages") l.background = true;
    if (*key != "software_pipeline_stage") return {};
    const auto reached = [&](const annotation_value& stage) {
      if (const known_size n = numbers_.value(stage)) l.last_stage = std::max(l.last_stage, *n);
    };
    if (const auto* list = std::get_if<annotation_value::list>(&note->value))
      for (const annotation_value& stage : *list) reached(stage);
    if (const auto* given = std::get_if<ir::attr>(&note->value))
      if (const auto* list = std::get_if<ir::attr::list>(&given->value))
        for (const ir::attr& stage : *list) reached(stage);
    return {};
  }

  // ---- shared memory

  std::string cache_read(const instruction& what) {
    const auto* b = std::get_if<rv>(&what.args[0]);
    const auto* index = std::get_if<std::int64_t>(&what.args[1]);
    const auto* scope = std::get_if<std::string>(&what.args[2]);
    if (!b || !index || !scope || what.outputs.size() != 1) return {};
    const std::uint32_t number = nest_number(b->number);
    const auto there = nests_.find(number);
    if (there == nests_.end() || scope->rfind("shared", 0) != 0) return {};
    const auto at = static_cast<std::size_t>(*index);
    if (at < there->second.block->reads.size())
      copies_[what.outputs[0].number] = {number, false, there->second.block->reads[at], {}};
    return {};
  }

  std::string cache_write(const instruction& what) {
    const auto* b = std::get_if<rv>(&what.args[0]);
    const auto* scope = std::get_if<std::string>(&what.args[2]);
    if (!b || !scope || what.outputs.size() != 1 || *scope != "local") return {};
    const std::uint32_t number = nest_number(b->number);
    const auto there = nests_.find(number);
    if (there != nests_.end() && there->second.block->writes.size() == 1)
      copies_[what.outputs[0].number] = {number, true, there->second.block->writes[0], {}};
    return {};
  }

  /// To below a loop of a nest; what is known of a copy is how large it is there.
  std::string move(const instruction& what) {
    const auto* b = std::get_if<rv>(&what.args[0]);
    const auto* v = std::get_if<rv>(&what.args[1]);
    if (!b || !v) return {};
    const auto made = copies_.find(b->number);
    if (made == copies_.end()) {
      lose(*b);
      return {};
    }
    const block_nest* n = owner(*v);
    if (n && nest_of_[v->number] == made->second.of)
      made->second.elements = elements_of_tile(*n, *v, made->second, loops_);
    return {};
  }

  // ---- limits

  std::string memory_limits(std::uint32_t number, const block_nest& n, std::int64_t threads) const {
    std::int64_t shared = 0, local = 0;
    for (const auto& [variable, c] : copies_)
      if (c.of == number && c.elements)
        (c.result ? local : shared) += *c.elements * bytes(c.operand.buffer->type);
    shared *= versions(n, loops_);
    if (shared > gpu_->shared_per_block)
      return std::to_string(shared) + " bytes of shared memory, the limit is " +
             std::to_string(gpu_->shared_per_block);
    const std::int64_t registers = local / 4;
    if (registers > gpu_->registers_per_thread)
      return std::to_string(registers) + " registers of results, the limit is " +
             std::to_string(gpu_->registers_per_thread);
    if (threads * registers > gpu_->registers_per_multiprocessor)
      return std::to_string(threads * registers) + " registers of a block, the limit is " +
             std::to_string(gpu_->registers_per_multiprocessor);
    return {};
  }

  std::string device_limits() const {
    for (const auto& [number, n] : nests_) {
      std::set<std::string> axes;
      std::int64_t threads = 1, together = 1;
      for (const std::uint32_t variable : n.loops) {
        const tile_loop& l = loops_.at(variable);
        if (l.extent && l.thread.rfind("vthread", 0) == 0) together = std::max(together, *l.extent);
        if (l.extent && l.thread.rfind("threadIdx", 0) == 0 && axes.insert(l.thread).second)
          threads *= *l.extent;
      }
      if (threads > gpu_->threads_per_block)
        return std::to_string(threads) + " threads, the limit is " +
               std::to_string(gpu_->threads_per_block);
      // loops of other blocks of a kernel may have axes of their own
      if (threads < n.fewest_threads && axes == thread_axes_ && axes.count("threadIdx.x"))
        return std::to_string(threads) + " threads, a rule asks for " +
               std::to_string(n.fewest_threads);
      if (const std::int64_t most = space::verify_gpu_code{}.vthreads; together > most)
        return std::to_string(together) + " virtual threads, the limit is " + std::to_string(most);
      if (std::string why = memory_limits(number, n, threads); !why.empty()) return why;
    }
    return {};
  }

  const target::gpu* gpu_;
  support::random* random_ = nullptr;
  std::vector<std::pair<std::size_t, decision>> drawn_;
  std::vector<block_place> blocks_;
  decided_numbers numbers_;
  loop_table loops_;
  std::map<std::uint32_t, std::uint32_t> nest_of_;  // of loops
  std::map<std::uint32_t, block_nest> nests_;       // by the first variable of the block
  std::map<std::uint32_t, std::vector<std::int64_t>> extents_;  // of the loops of the nest
  std::map<std::uint32_t, std::uint32_t> same_block_;
  std::map<std::string, std::uint32_t> by_name_;
  std::map<std::uint32_t, operand_copy> copies_;
  std::set<std::string> thread_axes_;  // of threadIdx, that anything is bound to
};

}  // namespace tilewright::search::detail::decided
