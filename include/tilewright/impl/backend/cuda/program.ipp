#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilewright/arith/linear.hpp>
#include <tilewright/backend/cuda/program.hpp>
#include <tilewright/impl/backend/cuda/kernel_statements.hpp>
#include <tilewright/impl/backend/cuda/tensor/tensor_calls.hpp>
#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/gpu/unroll_registers.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::cuda::detail {

namespace kernel_text {

using namespace tilewright::ir;
using pass::detail::is_barrier;

class printer {
 public:
  printer(const function& f, const device_memory& memory) : f_(f), memory_(memory) {}

  kernel print(const std::string& symbol, const stmt& s, std::string& out) {
    const pass::kernel_nest nest = pass::nest_of(s);
    kernel k;
    k.start.symbol = symbol;
    declare_parameters(s, k);
    std::int64_t threads = 1;
    for (const auto* loops : {&nest.blocks, &nest.threads})
      for (const loop_node* loop : *loops) bind_axis(*loop, k, threads);
    for (const buffer& b : nest.shared) declare_shared(b, k);
    text_ = "extern \"C\" TW_KERNEL(" + bounds_of(nest, threads) + ") void " + symbol + "(" +
            parameter_list(k) + ") {\n" + std::exchange(text_, {});
    statement(nest.body);
    out += text_ + "}\n";
    return k;
  }

 private:
  void line(const std::string& s) {
    text_.append(2 * static_cast<std::size_t>(depth_), ' ');
    text_ += s + "\n";
  }

  /// Threads of a block, and how many blocks shall be on a multiprocessor where the schedule says so: the
  /// registers of a thread are limited by it.
  static std::string bounds_of(const pass::kernel_nest& nest, std::int64_t threads) {
    std::string out = std::to_string(threads);
    for (const auto* loops : {&nest.blocks, &nest.threads})
      for (const loop_node* loop : *loops) {
        const auto note = loop->annotations.find(ir::resident_blocks_note);
        if (note == loop->annotations.end()) continue;
        const auto* n = std::get_if<std::int64_t>(&note->second.value);
        return n && *n > 0 ? out + ", " + std::to_string(*n) : out;
      }
    return out;
  }

  // ---- head -------------------------------------------------------------------------------------

  void declare_parameters(const stmt& s, kernel& k) {
    uses used;
    used.add(s, memory_, f_);
    using kind = launch_argument::kind;
    std::int64_t stride = 0;
    for (std::size_t i = 0; i < f_.params.size(); ++i) {
      const param& p = f_.params[i];
      if (!p.buffer) {
        if (!mentions(s, p.scalar, used)) continue;
        const std::string name = words_.variables[p.scalar.get()] = words_.fresh(p.scalar->name);
        k.parameters.push_back({name, p.scalar.type(), false});
        k.start.arguments.push_back({kind::scalar,
                                     static_cast<std::uint8_t>(bytes(p.scalar.type())),
                                     static_cast<std::int64_t>(i)});
        continue;
      }
      if (std::find(used.buffers.begin(), used.buffers.end(), p.buffer) != used.buffers.end()) {
        const std::string name = words_.buffers[p.buffer.get()] = words_.fresh(p.buffer->name);
        k.parameters.push_back({name, p.buffer->type, true, used.writes(p.buffer),
                                std::max<std::int64_t>(pass::constant_size(p.buffer), 0)});
        k.start.arguments.push_back({kind::buffer, 8, static_cast<std::int64_t>(i)});
        for (std::size_t d = 0; d < p.buffer->strides.size(); ++d)
          if (is_var(p.buffer->strides[d]) && !words_.variables.count(p.buffer->strides[d].get())) {
            const expr& v = p.buffer->strides[d];
            const std::string stride_name = words_.variables[v.get()] = words_.fresh(v->name);
            k.parameters.push_back({stride_name, dtype::i64, false});
            k.start.arguments.push_back({kind::stride, 8, stride + static_cast<std::int64_t>(d)});
          }
      }
      stride += static_cast<std::int64_t>(p.buffer->shape.size());
    }
    for (const buffer& b : used.buffers)
      if (const auto at = memory_.offsets.find(b.get()); at != memory_.offsets.end()) {
        const std::string name = words_.buffers[b.get()] = words_.fresh(b->name);
        k.parameters.push_back({name, b->type, true, used.writes(b), pass::constant_size(b)});
        k.start.arguments.push_back({kind::workspace, 8, at->second});
      }
    declare_maps(s, words_, k);
  }

  static bool mentions(const stmt& s, const expr& scalar, const uses& used) {
    bool found = false;
    for_each_expr(s, [&](const expr& e) { found = found || e.same(scalar); });
    for (const buffer& b : used.buffers)
      if (b->elem_offset) found = found || uses_var(b->elem_offset, scalar);
    return found;
  }

  static std::string parameter_list(const kernel& k) {
    std::string out;
    for (std::size_t i = 0; i < k.parameters.size(); ++i) {
      const kernel_parameter& p = k.parameters[i];
      const std::string type = stored_type(p.type), constant = p.written ? "" : "const ";
      const bool map = k.start.arguments[i].from == launch_argument::kind::tensor_map;
      out += out.empty() ? "" : ", ";
      out += (map        ? "TW_TENSOR_MAP(" + type + ") "
              : p.buffer ? "TW_GLOBAL(" + constant + type + ") "
                         : "const " + type + " ") +
             p.name;
    }
    return out;
  }

  void bind_axis(const loop_node& loop, kernel& k, std::int64_t& threads) {
    const bool of_blocks = loop.thread_tag.rfind("blockIdx", 0) == 0;
    const char axis = loop.thread_tag.back();
    auto& sides = of_blocks ? k.start.grid : k.start.block;
    sides[static_cast<std::size_t>(axis - 'x')] = static_cast<std::uint32_t>(as_int(loop.extent));
    if (!of_blocks) threads *= as_int(loop.extent);
    known_bind(loop);
    const std::string name = words_.variables[loop.var.get()] = words_.fresh(loop.var->name);
    line("const " + stored_type(loop.var.type()) + " " + name + " = TW_" +
         (of_blocks ? "BLOCK(" : "THREAD(") + axis + ");");
  }

  void declare_shared(const buffer& b, kernel& k) {
    const std::int64_t count = pass::constant_size(b), size = bytes(b->type);
    const std::int64_t first = b->elem_offset ? as_int(b->elem_offset) : 0;
    k.start.shared_bytes = std::max(k.start.shared_bytes, (first + count) * size);
    const std::string name = words_.buffers[b.get()] = words_.fresh(b->name);
    line("TW_SHARED(" + stored_type(b->type) + ", " + name + ", " + std::to_string(first * size) +
         ", " + std::to_string(count) + ");");
    shared_at_.insert(b.get());
  }

  void known_bind(const loop_node& loop) {
    words_.known.bind(loop.var, range{loop.min, loop.extent});
  }

  // ---- statements -------------------------------------------------------------------------------

  void statement(const stmt& s) {
    switch (s->kind) {
      case stmt_kind::seq:
        for (const stmt& child : as_seq(s)->stmts) statement(child);
        return;
      case stmt_kind::loop: return loop(*as_loop(s));
      case stmt_kind::store: return store(*as_store(s));
      case stmt_kind::if_else: return branch(*as_if(s));
      case stmt_kind::let: return let(*as_let(s));
      case stmt_kind::allocate: return allocate(*as_allocate(s));
      case stmt_kind::attribute: {
        const attribute_node& n = *as_attribute(s);
        if (n.key == atomic_note) return addition(n);
        if (pass::detail::tensor_copies::is_description(s)) return line(words_.print(n.node) + ";");
        if (n.key != pass::detail::async_copies::wait_key) return statement(n.body);
        return line("tw_wait_copies<" + std::to_string(as_int(n.value)) + ">();");
      }
      case stmt_kind::while_loop:
        line("while (" + words_.print(as_while(s)->condition) + ") {");
        block(as_while(s)->body);
        return line("}");
      case stmt_kind::evaluate:
        if (is_barrier(s)) return line("tw_barrier();");
        if (as_evaluate(s)->value->op == op::call) line(words_.print(as_evaluate(s)->value) + ";");
        return;
      case stmt_kind::block_realize:
        throw argument_error("the CUDA back end takes lowered functions; call pass::lower first");
    }
  }

  void block(const stmt& s) {
    ++depth_;
    const arith::analyzer before = words_.known;
    statement(s);
    words_.known = before;
    --depth_;
  }

  expr position(const buffer& b, const std::vector<expr>& indices) const {
    return words_.position(b, indices);
  }

  /// A statement whose one store adds to memory in one step; a thread's own memory needs none.
  void addition(const attribute_node& n) {
    added_to_ = only_addition(n.body);
    if (!added_to_)
      throw internal_error("the CUDA back end met an atomic statement that is no addition");
    statement(n.body);
    added_to_ = nullptr;
  }

  void store(const store_node& n) {
    if (&n == added_to_ && storage_rank(n.buffer->scope) <= 1) {
      const expr more = addend(n);
      line("tw_atomic_add(" + words_.name(n.buffer) + ", " +
           words_.print(position(n.buffer, n.indices)) + ", " +
           words_.stored(more, n.buffer->type) + ");");
      return;
    }
    const std::string value = words_.stored(n.value, n.buffer->type);
    line("tw_store(" + words_.name(n.buffer) + ", " + words_.print(position(n.buffer, n.indices)) +
         ", " + value + ");");
  }

  void branch(const if_node& n) {
    line("if (" + words_.print(n.condition) + ") {");
    const arith::analyzer before = words_.known;
    words_.known.assume(n.condition);
    block(n.then_body);
    words_.known = before;
    if (n.else_body) {
      line("} else {");
      words_.known.assume(logical_not(n.condition));
      block(n.else_body);
      words_.known = before;
    }
    line("}");
  }

  void let(const let_node& n) {
    const std::string value = words_.print(n.value);
    const std::string name = words_.variables[n.var.get()] = words_.fresh(n.var->name);
    line("const " + held_type(n.var.type()) + " " + name + " = " + value + ";");
    statement(n.body);
  }

  void allocate(const allocate_node& n) {
    const std::int64_t count = pass::constant_size(n.buffer);
    if (count < 0)
      throw build_error("buffer " + n.buffer->name +
                        " is allocated with an extent that is no constant; bind all extents");
    if (storage_rank(n.buffer->scope) != 3 && storage_rank(n.buffer->scope) != 2)
      throw argument_error("buffer " + n.buffer->name + " of scope " + n.buffer->scope +
                           " is allocated inside of threads; call pass::lower first");
    const std::string name = words_.buffers[n.buffer.get()] = words_.fresh(n.buffer->name);
    line("{");
    ++depth_;
    line("TW_LOCAL(" + stored_type(n.buffer->type) + ", " + name + ", " +
         std::to_string(std::max<std::int64_t>(count, 1)) + ");");
    statement(n.body);
    --depth_;
    line("}");
  }

  // ---- loops ------------------------------------------------------------------------------------

  void loop(const loop_node& n) {
    if (n.loop == loop_kind::thread_binding)
      throw argument_error("loop " + n.var->name + " on " + n.thread_tag +
                           " stands inside of a kernel; call pass::lower first");
    if (n.loop == loop_kind::vectorized && vector_store(n)) return;
    if (n.loop == loop_kind::unrolled && vector_loads(n)) return;
    if (const char* pragma = unrolling(n)) line(pragma);
    open(n);
    block(n.body);
    line("}");
  }

  void open(const loop_node& n) {
    const std::string type = stored_type(n.var.type());
    const std::string first = words_.print(n.min), end = words_.print(known(n.min + n.extent));
    known_bind(n);
    const std::string name = words_.variables[n.var.get()] = words_.fresh(n.var->name);
    line("for (" + type + " " + name + " = " + first + "; " + name + " < " + end + "; ++" + name +
         ") {");
  }

  expr known(const expr& e) const { return words_.known.simplify(e); }

  static const char* unrolling(const loop_node& n) {
    if (n.annotations.count(pass::rolled_note)) return "#pragma unroll 1";
    return n.loop == loop_kind::unrolled || n.loop == loop_kind::vectorized ? "#pragma unroll"
                                                                            : nullptr;
  }

  // ---- vectors ----------------------------------------------------------------------------------

  /// The position of lane 0 where the lanes of an access lie side by side from a multiple of their
  /// number on; nothing for other accesses.
  std::optional<expr> vector_place(const buffer& b, const std::vector<expr>& indices,
                                   const loop_node& n) const {
    const std::int64_t count = as_int(n.extent), size = bytes(b->type) * count;
    const int rank = storage_rank(b->scope);
    const bool in_memory = shared_at_.count(b.get()) || rank == 0;
    if (!in_memory || b->type == dtype::boolean || size > 16 || b->alignment % size != 0)
      return std::nullopt;
    arith::linear at = arith::to_linear(position(b, indices));
    if (at.coefficient(n.var) != 1) return std::nullopt;
    expr first = known(substitute(arith::from_linear(at), {{n.var, integer(n.var.type(), 0)}}));
    const arith::linear rest = arith::to_linear(first);
    if (uses_var(first, n.var) || rest.constant % count != 0) return std::nullopt;
    for (const auto& [term, factor] : rest.terms)
      if (factor % count != 0) return std::nullopt;
    return first;
  }

  /// Loads of an expression that are made whatever it decides.
  static void certain_loads(const expr& e, std::vector<expr>& out) {
    if (e->op == op::load) out.push_back(e);
    const bool chooses = e->op == op::if_then_else || e->op == op::select;
    for (std::size_t i = 0; i < e->args.size(); ++i)
      if (!chooses || i == 0) certain_loads(e->args[i], out);
  }

  static bool makes_vectors(const loop_node& n) {
    const std::int64_t count = pass::constant_extent(n);
    return (count == 2 || count == 4 || count == 8 || count == 16) && is_int(n.min, 0);
  }

  /// Elements of global memory side by side that iterations load are loaded before the loop, at once.
  bool vector_loads(const loop_node& n) {
    std::vector<expr> loads, wide, places;
    straight_line body;
    if (n.annotations.count(pass::rolled_note) || !makes_vectors(n) || !body.collect(n.body))
      return false;
    const arith::analyzer before = words_.known;
    known_bind(n);
    for (const expr& value : body.values) certain_loads(value, loads);
    for (const expr& l : loads) {
      if (storage_rank(l->buffer->scope) != 0 || body.stores(l->buffer)) continue;
      std::optional<expr> at = vector_place(l->buffer, l->args, n);
      if (!at || uses_any(*at, body.lets)) continue;
      wide.push_back(l);
      places.push_back(*at);
    }
    if (!wide.empty()) {
      line("{");
      ++depth_;
      vector_lanes lanes;
      load_wide(n, wide, places, lanes);
      line("#pragma unroll");
      open(n);
      words_.lanes = &lanes;
      block(n.body);
      words_.lanes = nullptr;
      line("}");
      --depth_;
      line("}");
    }
    words_.known = before;
    return !wide.empty();
  }

  /// Vectors, each element at one place once; `lanes` says which load has which.
  void load_wide(const loop_node& n, const std::vector<expr>& wide, const std::vector<expr>& places,
                 vector_lanes& lanes) {
    lanes.lane = n.var;
    const std::string digits = std::to_string(pass::constant_extent(n));
    for (std::size_t i = 0; i < wide.size(); ++i) {
      std::size_t same = 0;
      while (wide[same]->buffer != wide[i]->buffer || !equal(places[same], places[i])) ++same;
      if (same < i) {
        lanes.loaded.emplace(wide[i].get(), lanes.loaded.at(wide[same].get()));
        continue;
      }
      const std::string name = words_.fresh(wide[i]->buffer->name + "_lanes");
      line("const auto " + name + " = tw_load_vector<" + digits + ">(" +
           words_.name(wide[i]->buffer) + ", " + words_.print(places[i]) + ");");
      lanes.loaded.emplace(wide[i].get(), name);
    }
  }

  bool vector_store(const loop_node& n) {
    const std::int64_t count = pass::constant_extent(n);
    const store_node* to = as_store(n.body);
    if (!to || !makes_vectors(n)) return false;
    const arith::analyzer before = words_.known;
    known_bind(n);
    const std::optional<expr> target = vector_place(to->buffer, to->indices, n);
    std::vector<expr> loads, wide;
    certain_loads(to->value, loads);
    std::vector<expr> places;
    for (const expr& l : loads)
      if (std::optional<expr> at = vector_place(l->buffer, l->args, n)) {
        wide.push_back(l);
        places.push_back(*at);
      }
    if (!target && wide.empty()) {
      words_.known = before;
      return false;
    }
    line("{");
    ++depth_;
    vector_lanes lanes;
    load_wide(n, wide, places, lanes);
    const std::string digits = std::to_string(count);
    const std::string result = target ? words_.fresh(to->buffer->name + "_lanes") : "";
    if (target)
      line("tw_vector<" + stored_type(to->buffer->type) + ", " + digits + "> " + result + ";");
    line("#pragma unroll");
    open(n);
    words_.lanes = &lanes;
    ++depth_;
    if (target) {
      const std::string value = words_.stored(to->value, to->buffer->type);
      line(result + "[" + words_.name(n.var) + "] = " + value + ";");
    } else {
      store(*to);
    }
    --depth_;
    words_.lanes = nullptr;
    line("}");
    if (target)
      line("tw_store_vector(" + words_.name(to->buffer) + ", " + words_.print(*target) + ", " +
           result + ");");
    --depth_;
    line("}");
    words_.known = before;
    return true;
  }

  const function& f_;
  const device_memory& memory_;
  expression_text words_;
  std::unordered_set<const buffer_node*> shared_at_;
  const store_node* added_to_ =
      nullptr;  // the store that adds atomically, while its statement is printed
  std::string text_;
  int depth_ = 1;
};

inline void check_limits(const kernel& k, const target::gpu& device) {
  const launch& l = k.start;
  const auto check = [&](std::int64_t used, std::int64_t limit, const std::string& what) {
    if (used > limit)
      throw build_error("kernel " + l.symbol + " asks for " + std::to_string(used) + " " + what +
                        "; " + device.name + " has " + std::to_string(limit));
  };
  check(std::int64_t{l.block[0]} * l.block[1] * l.block[2], device.threads_per_block,
        "threads in a block");
  check(l.block[0], device.block_xy, "threads along x");
  check(l.block[1], device.block_xy, "threads along y");
  check(l.block[2], device.block_z, "threads along z");
  check(l.grid[0], device.grid_x, "blocks along x");
  check(l.grid[1], device.grid_yz, "blocks along y");
  check(l.grid[2], device.grid_yz, "blocks along z");
  check(l.shared_bytes, device.shared_per_block, "bytes of shared memory in a block");
}

inline void print_below(const stmt& s, const function& f, const target::gpu& device,
                        device_memory& memory, program& out) {
  if (const seq_node* seq = as_seq(s)) {
    for (const stmt& child : seq->stmts) print_below(child, f, device, memory, out);
    return;
  }
  if (const allocate_node* n = as_allocate(s)) {
    const std::int64_t count = pass::constant_size(n->buffer);
    if (count < 0)
      throw build_error("buffer " + n->buffer->name +
                        " is allocated with an extent that is no constant; bind all extents");
    // what stands inside of an allocation lies behind it
    const std::int64_t before = memory.bytes,
                       size = (count * bytes(n->buffer->type) + 255) / 256 * 256;
    memory.offsets[n->buffer.get()] = before;
    memory.bytes += size;
    out.workspace_bytes = std::max(out.workspace_bytes, memory.bytes);
    print_below(n->body, f, device, memory, out);
    memory.bytes = before;
    return;
  }
  const std::string symbol = symbol_base(f) + "_" + std::to_string(out.kernels.size());
  out.kernels.push_back(printer(f, memory).print(symbol, s, out.text));
  check_limits(out.kernels.back(), device);
}

}  // namespace kernel_text

}  // namespace tilewright::backend::cuda::detail

namespace tilewright::backend::cuda {

TILEWRIGHT_INLINE program print(const ir::function& lowered, const target::gpu& device) {
  program out;
  detail::kernel_text::device_memory memory;
  detail::kernel_text::print_below(lowered.body, lowered, device, memory, out);
  return out;
}

}  // namespace tilewright::backend::cuda
