#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/streams.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/report/schedule_family.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::search {
namespace detail::family {

/// The loops around a reduction that are written out or vectors, and that its result moves along.
struct tile {
  std::string block;
  std::int64_t rows = 1, lanes = 1;
};

/// Finds the largest tile of the reductions of a program.
class largest_tile : public ir::visitor {
 public:
  using ir::visitor::visit;
  void visit(const ir::stmt& s) override {
    const ir::loop_node* loop = ir::as_loop(s);
    if (loop) around_.push_back(loop);
    if (const ir::block_realize_node* r = ir::as_realize(s)) look_at(*r);
    ir::visitor::visit(s);
    if (loop) around_.pop_back();
  }
  const tile& found() const { return found_; }

 private:
  void look_at(const ir::block_realize_node& r) {
    const auto reduces = [](const ir::iter_var& v) { return v.kind == ir::iter_kind::reduce; };
    if (!support::any(r.block->iters, reduces)) return;
    tile here{r.block->name};
    for (const ir::loop_node* loop : around_) {
      if (!ir::is_int(loop->extent) || !is_spatial(r, loop->var)) continue;
      if (loop->loop == ir::loop_kind::unrolled) here.rows *= ir::as_int(loop->extent);
      if (loop->loop == ir::loop_kind::vectorized) here.lanes *= ir::as_int(loop->extent);
    }
    if (here.rows * here.lanes > found_.rows * found_.lanes) found_ = here;
  }
  static bool is_spatial(const ir::block_realize_node& r, const ir::var& v) {
    for (std::size_t i = 0; i < r.values.size(); ++i)
      if (r.block->iters[i].kind == ir::iter_kind::spatial && ir::uses_var(r.values[i], v))
        return true;
    return false;
  }

  std::vector<const ir::loop_node*> around_;
  tile found_;
};

/// Collects what instructions do while they run.
class reader {
 public:
  explicit reader(const ir::function& f) : schedule_(f) {}

  std::string read(const trace& t) {
    t.apply_to(schedule_, {}, [&](const trace::step& s) { look_at(*s.what); });
    std::string out;
    largest_tile largest;
    largest.visit(schedule_.function().body);
    const tile& l = largest.found();
    if (l.rows * l.lanes > 1)
      say(out, l.block + " in register tiles of " + std::to_string(l.rows) + " x " +
                   std::to_string(l.lanes));
    for (const std::string& what : said_) say(out, what);
    return out.empty() ? "loops as they are written" : out;
  }

 private:
  static void say(std::string& to, const std::string& what) {
    to += (to.empty() ? "" : ", ") + what;
  }
  void once(const std::string& what) {
    if (!support::contains(said_, what)) said_.push_back(what);
  }

  void look_at(const instruction& i) {
    const std::string_view name = i.kind->name;
    for (const rv& v : i.outputs)
      if (v.kind == rv_class::block) names_[v.number] = block(v).name;
    if (name == "cache_read" || name == "reindex_cache_read" || name == "read_at")
      once(block(i.outputs.at(0)).reads.at(0).buffer->name + " staged");
    else if (name == "rfactor")
      once(block(i.outputs.at(0)).name + " holds partial results");
    else if (name == "compute_inline" || name == "reverse_compute_inline")
      once(name_of(i, 0) + " inlined");
    else if (name == "transform_layout")
      once("data of " + name_of(i, 0) + " in another layout");
    else if (name == "fuse_reduction_epilogue")
      once(name_of(i, 1) + " in the reduction");
    else if (name == "tensorize")
      once("tiles around " + text(i, 1));
    else if (name == "work_on" || name == "sparse_fuse" || name == "sparse_reorder")
      once(name == "work_on" ? "algorithm " + text(i, 0) : std::string(name));
    else if (name == "bind")
      once("threads of a GPU");
    else if (name == "add_atomically")
      once("memory adds to " + name_of(i, 0));
    else if (name == "parallel")
      once("parallel");
    else if (name == "annotate")
      look_at_note(i);
  }

  void look_at_note(const instruction& i) {
    const std::string key = text(i, 1);
    if (key == ir::skip_zeros_note) once("zeros of a padding left out");
    if (key == ir::stream_note || key == ir::stream_ahead_note) once("rows as streams");
  }

  const ir::block_node& block(const rv& v) const {
    return *schedule_.get(block_rv{v.number}).block;
  }
  std::string name_of(const instruction& i, std::size_t argument) const {
    const rv* v = std::get_if<rv>(&i.args.at(argument));
    const auto found = v ? names_.find(v->number) : names_.end();
    return found == names_.end() ? "a block" : found->second;
  }
  static std::string text(const instruction& i, std::size_t argument) {
    const std::string* t = std::get_if<std::string>(&i.args.at(argument));
    return t ? *t : std::string();
  }
  schedule schedule_;
  std::map<std::uint32_t, std::string> names_;  // of block variables
  std::vector<std::string> said_;
};

}  // namespace detail::family

TILEWRIGHT_INLINE std::string schedule_family(const trace& t, const ir::function& f) {
  return detail::family::reader(f).read(t);
}

}  // namespace tilewright::search
