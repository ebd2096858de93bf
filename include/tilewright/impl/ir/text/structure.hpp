// The structure of a program as a sequence of words: one traversal for `equal` and `workload_key`,
// so that the two cannot disagree about what counts.
//
// Variables are numbered where they are bound, buffers where they are allocated or first used, which
// carries their description. Every list is preceded by its length, so no two programs share a
// sequence.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/address_map.hpp>

namespace tilewright::ir::detail {

/// Sink: `void word(std::uint64_t)`, `void text(std::string_view)`, `static constexpr bool
/// block_names`, and `static constexpr bool free_by_identity`: free variables and buffers
/// count as their addresses, else as their numbers.
template <class Sink>
class structure_writer {
 public:
  explicit structure_writer(Sink& sink) : sink_(sink) {}

  void write(const function& f) {
    size(f.params.size());
    binding_ = true;  // extents and strides of parameters bind the variables in them
    for (const param& p : f.params) {
      sink_.word(p.buffer ? 1 : 0);
      if (p.buffer)
        write(p.buffer);
      else
        write(p.scalar);
    }
    binding_ = false;
    if (has_alternatives(f) || f.attrs.count(pattern_attribute) > 0 ||
        f.attrs.count(iterations_attribute) > 0) {  // it computes the same
      annotations notes = f.attrs;
      for (const char* aside : {alternatives_attribute, pattern_attribute, iterations_attribute})
        notes.erase(aside);
      write(notes);
    } else {
      write(f.attrs);
    }
    write(f.body);
  }

  void write(const stmt& s) {
    sink_.word(s ? static_cast<std::uint64_t>(s->kind) : ~std::uint64_t{0});
    if (!s) return;
    switch (s->kind) {
      case stmt_kind::loop: return write(*as_loop(s));
      case stmt_kind::block_realize: {
        const block_realize_node& n = *as_realize(s);
        write(n.values);
        write(n.predicate);
        return write(*n.block);
      }
      case stmt_kind::seq:
        size(as_seq(s)->stmts.size());
        for (const stmt& child : as_seq(s)->stmts) write(child);
        return;
      case stmt_kind::store: {
        const store_node& n = *as_store(s);
        write(n.buffer);
        write(n.indices);
        return write(n.value);
      }
      case stmt_kind::if_else: {
        const if_node& n = *as_if(s);
        write(n.condition);
        write(n.then_body);
        return write(n.else_body);
      }
      case stmt_kind::let: {
        const let_node& n = *as_let(s);
        write(n.value);
        bind(n.var);
        return write(n.body);
      }
      case stmt_kind::evaluate: return write(as_evaluate(s)->value);
      case stmt_kind::allocate: define(as_allocate(s)->buffer); return write(as_allocate(s)->body);
      case stmt_kind::while_loop: write(as_while(s)->condition); return write(as_while(s)->body);
      case stmt_kind::attribute: {
        const attribute_node& n = *as_attribute(s);
        write(n.node);
        sink_.text(n.key);
        write(n.value);
        return write(n.body);
      }
    }
  }

  void write(const expr& e) {
    if (!e) return sink_.word(~std::uint64_t{0});
    const auto type = static_cast<std::uint64_t>(e->type);  // lanes stand above the arguments
    sink_.word(static_cast<std::uint64_t>(e->op) | (type & 0xff) << 8 |
               static_cast<std::uint64_t>(e->args.size()) << 16 | type >> 8 << 40);
    switch (e->op) {
      case op::var: return use(e);
      case op::integer: return sink_.word(static_cast<std::uint64_t>(e->integer));
      case op::real: return real(e->real);
      case op::call:
      case op::text: sink_.text(e->name); break;
      case op::load:
      case op::data: write(e->buffer); break;
      case op::let:
        write(e->args[1]);
        bind(e->args[0]);
        return write(e->args[2]);
      default: break;
    }
    for (const expr& arg : e->args) write(arg);
  }

 private:
  void size(std::size_t n) { sink_.word(static_cast<std::uint64_t>(n)); }

  void real(double value) {
    sink_.word(std::isnan(value) ? 0x7ff8000000000000u : std::bit_cast<std::uint64_t>(value));
  }

  void bind(const var& v) {
    *vars_.insert(v.get(), 0).first = ++last_var_;
    sink_.word(static_cast<std::uint64_t>(v.type()));
  }

  void use(const var& v) {
    if (const std::uint64_t* number = vars_.find(v.get())) return sink_.word(*number);
    if (Sink::free_by_identity && !binding_) {
      sink_.word(0);
      sink_.word(reinterpret_cast<std::uintptr_t>(v.get()));
      return;
    }
    bind(v);
    sink_.word(last_var_);
  }

  void write(const std::vector<expr>& list) {
    size(list.size());
    for (const expr& e : list) write(e);
  }

  void write(const range& r) {
    write(r.min);
    write(r.extent);
  }

  void write(const buffer& b) {
    if (!Sink::free_by_identity || buffers_.find(b.get())) return define(b);
    sink_.word(0);
    sink_.word(reinterpret_cast<std::uintptr_t>(b.get()));
  }

  void define(const buffer& b) {
    const auto [number, first] = buffers_.insert(b.get(), buffers_.size() + 1);
    sink_.word(*number);
    if (!first) return;
    sink_.word(static_cast<std::uint64_t>(b->type));
    write(b->shape);
    write(b->strides);
    write(is_int(b->elem_offset, 0) ? expr() : b->elem_offset);  // none is 0, and no factor is 1
    sink_.text(b->scope);
    sink_.word(static_cast<std::uint64_t>(b->alignment));
    // What few buffers have is announced by a bit, so that the keys of the others stay as they
    // were.
    const bool special = !b->axis_separators.empty() || b->broadcasts || b->data;
    sink_.word(static_cast<std::uint64_t>(b->offset_factor == 1 ? 0 : b->offset_factor) |
               std::uint64_t{special} << 32);
    if (!special) return;
    size(b->axis_separators.size());
    for (const int axis : b->axis_separators) sink_.word(static_cast<std::uint64_t>(axis));
    sink_.word(b->broadcasts ? 1 : 0);
    write(b->data);
  }

  void write(const buffer_region& r) {
    write(r.buffer);
    size(r.box.size());
    for (const range& dim : r.box) write(dim);
  }

  void write(const std::vector<buffer_region>& regions) {
    size(regions.size());
    for (const buffer_region& r : regions) write(r);
  }

  void write(const annotations& notes) {
    size(notes.size());
    for (const auto& [key, value] : notes) {
      sink_.text(key);
      write(value);
    }
  }

  void write(const attr& value) {
    sink_.word(value.value.index());
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
      sink_.word(static_cast<std::uint64_t>(*integer));
    } else if (const auto* number = std::get_if<double>(&value.value)) {
      real(*number);
    } else if (const auto* text = std::get_if<std::string>(&value.value)) {
      sink_.text(*text);
    } else if (const auto* list = std::get_if<attr::list>(&value.value)) {
      size(list->size());
      for (const attr& item : *list) write(item);
    } else {
      write(std::get<attr::dict>(value.value));
    }
  }

  void write(const loop_node& n) {
    write(n.min);
    write(n.extent);
    sink_.word(static_cast<std::uint64_t>(n.loop));
    sink_.text(n.thread_tag);
    write(n.annotations);
    bind(n.var);
    write(n.body);
  }

  void write(const block_node& b) {
    if (Sink::block_names) sink_.text(b.name);
    size(b.iters.size());
    for (const iter_var& iter : b.iters) {
      sink_.word(static_cast<std::uint64_t>(iter.kind));
      write(iter.dom);
    }
    for (const iter_var& iter : b.iters) bind(iter.var);
    size(b.alloc_buffers.size());
    for (const buffer& alloc : b.alloc_buffers) define(alloc);
    size(b.match_buffers.size());
    for (const match_buffer& m : b.match_buffers) {
      write(m.source);
      binding_ = true;  // strides and offset of the view are bound by the match
      define(m.buffer);
      binding_ = false;
    }
    write(b.reads);
    write(b.writes);
    write(b.annotations);
    write(b.init);
    write(b.body);
  }

  Sink& sink_;
  bool binding_ = false;
  std::uint64_t last_var_ = 0;
  support::address_map<std::uint64_t> vars_, buffers_;
};

}  // namespace tilewright::ir::detail
