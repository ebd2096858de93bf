// A lowered function as LLVM IR.
//
// Vectorized loops become explicit vectors, unrolled loops straight code with constant indices, so
// that local buffers turn into registers under `sroa`. LLVM's loop vectorizer has only what impl/backend/scalar_loops.hpp says.
// Indices are kept as affine forms over 64-bit values: an access is base + variable part +
// constant, and the variable part is shared by all accesses of a scope. A multiply whose result is
// added is emitted as llvm.fma where the target has it; no other float operation is changed.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/backend/llvm/load_pairs.hpp>
#include <tilewright/backend/llvm/scoped_values.hpp>
#include <tilewright/backend/llvm/shared_quotients.hpp>
#include <tilewright/config.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/streams.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::backend::llvm {

/// Value of an expression: a scalar, or one element per lane of the vectorized loop around it.
struct value {
  value_ref v = nullptr;
  bool vector = false;
};

/// Inclusive interval of an integer.
struct interval {
  std::int64_t lo, hi;
  bool within(std::int64_t low, std::int64_t high) const { return lo >= low && hi <= high; }
};

/// constant + lane * lane_step + sum(value * coefficient) + lane * sum(value * coefficient), 64
/// bits wide.
struct affine {
  using terms = std::vector<std::pair<value_ref, std::int64_t>>;
  std::int64_t constant = 0;
  std::int64_t lane_step = 0;
  terms scalars;     // uniform over the lanes
  terms lane_steps;  // times the lane number
  terms vectors;     // values that are vectors of i64
  bool uniform() const { return lane_step == 0 && lane_steps.empty() && vectors.empty(); }
  bool fixed() const { return uniform() && scalars.empty(); }
};

/// What a variable stands for at a point of the emission.
struct binding {
  enum class kind { constant, index, lane, form, value } is = kind::constant;
  std::int64_t constant = 0;  // kind::constant; first value of a lane variable
  llvm::value held{};         // kind::index: i64; kind::value: in the type of the variable
  interval bounds{0, 0};
  affine form{};  // kind::form: varies over the lanes
};

/// Where a buffer lives in the function being emitted.
struct place {
  value_ref base = nullptr;
  std::vector<affine> strides;  // [rank], elements
  unsigned alignment = 1;       // bytes, of the base
  dtype type = dtype::f32;
};

/// Emits one function into a module. Use: `emitter(b, f, "entry").run()`.
class emitter {
 public:
  /// @param symbol name of the entry (backend::entry) in the module
  emitter(builder& b, const ir::function& f, std::string symbol);
  /// @throws argument_error for nodes that the lowered form does not have and for unknown
  /// intrinsics
  /// @throws build_error when the unrolled code is too large
  void run();

 private:
  /// State of one LLVM function.
  struct frame {
    value_ref function = nullptr;
    block_ref entry = nullptr, body = nullptr, cancelled = nullptr;
    value_ref call = nullptr, workspace = nullptr, worker_base = nullptr, cancel = nullptr;
    std::vector<value_ref> data;  // one per parameter of the function
    bool streams = false;         // it stores past the caches
    std::unordered_map<const ir::buffer_node*, place> places;
  };
  using bindings = std::unordered_map<const ir::expr_node*, binding>;
  using pointer_key = std::pair<value_ref, affine::terms>;
  /// A strided vector load of a buffer that nothing around it writes.
  struct column_key {
    const ir::buffer_node* buffer;
    value_ref base;
    affine::terms scalars, lane_steps;
    std::int64_t lane_step, constant;
    int lanes;
    friend auto operator<=>(const column_key&, const column_key&) = default;
  };
  /// A quotient or remainder, rounded down, of a sum that no lane changes.
  struct quotient_key {
    ir::op operation;
    affine::terms scalars;
    std::int64_t constant, divisor;
    friend auto operator<=>(const quotient_key&, const quotient_key&) = default;
  };
  /// What was computed in this function, each until the scope ends in which it was.
  struct computed_values {
    scoped_values<pointer_key> pointers;  // variable parts of addresses
    scoped_values<column_key> columns;
    scoped_values<quotient_key> quotients;
  };
  /// Where the lanes of a vector of indices were loaded from, side by side.
  struct loaded_indices {
    place from;
    affine first;
  };
  /// Pairs of loads in a statement, and the values of those that were loaded, with the block in which they were.
  struct gathered_pairs {
    struct loaded {
      block_ref in;
      value_ref front, behind;
    };
    std::optional<load_pairs> found;
    std::unordered_map<std::size_t, loaded> values;
  };
  struct lane_state {
    int lanes = 1;
    value_ref mask = nullptr;  // lanes that are on; null: all
    bool nontemporal = false;  // whole aligned vectors are stored past the caches
  };

  // affine.ipp
  interval bounds(const ir::expr& e);
  std::optional<bool> decided(const ir::expr& condition);
  affine index(const ir::expr& e);
  affine opaque_index(const ir::expr& e);
  affine quotient_index(const ir::expr& e);
  affine add(affine a, const affine& b, std::int64_t scale);
  affine multiply(const affine& a, const affine& b);
  value_ref scalar_sum(const affine& a);
  value_ref lane_sum(const affine& a);
  value integer_of(const affine& a, dtype type);

  // expr.ipp
  value emit(const ir::expr& e);
  value_ref widen(const value& v, bool vector) {
    return vector && !v.vector ? b.splat(v.v, lane.lanes) : v.v;
  }
  int lanes_of(bool vector) const { return vector ? lane.lanes : 1; }
  value emit_var(const ir::expr& e);
  value emit_float_binary(const ir::expr& e);
  value emit_contracted(const ir::expr& e);
  value emit_division(const ir::expr& e);
  std::optional<value> divide_unsigned(ir::op o, const ir::expr& e, value x, std::int64_t divisor);
  value_ref divide(ir::op o, dtype type, value_ref x, value_ref y, bool vector,
                   std::optional<std::int64_t> by);
  value emit_compare(const ir::expr& e);
  value emit_select(const ir::expr& e);
  /// A condition: terms that hold for all lanes or for none, and those that differ between lanes. Null: none.
  struct split_condition {
    value_ref uniform = nullptr, varying = nullptr;
  };
  split_condition emit_condition(const ir::expr& e);
  value_ref both(const split_condition& condition);
  value emit_choice(const ir::expr& e);
  value lane_choice(const ir::expr& e, value_ref condition);
  value branch_choice(dtype type, value_ref condition, support::function_ref<value()> yes,
                      support::function_ref<value()> no);
  bool safe_everywhere(const ir::expr& e);

  // call.ipp
  value emit_call(const ir::expr& e);
  value_ref call_integer(const std::string& name, dtype type, const std::vector<value_ref>& a,
                         int lanes);
  value_ref integer_power(dtype type, value_ref x, value_ref y, int lanes);

  // external.ipp
  value emit_external(const ir::expr& e, const ir::external_function& function);
  value_ref emit_pointer(const ir::expr& e);
  value_ref emit_packed_call(const std::vector<value_ref>& values, const std::vector<dtype>& types,
                             const std::string& name);

  // dot.ipp
  struct dot_operands {
    value_ref sum, x, y;  // factors: four bytes per element
    bool x_unsigned, y_unsigned;
    int lanes;
  };
  value emit_packed(const ir::expr& e, std::size_t first, std::size_t count);
  value load_packed(const ir::expr& e, std::size_t first, std::size_t count);
  value load_moved(const ir::expr& e, std::size_t first, std::size_t count);
  value emit_packed_bits(const ir::expr& e, std::size_t first, std::size_t count);
  value emit_dot4(const ir::expr& e);
  value_ref dot4_of_neon(const dot_operands& o);
  value_ref dot4_of_target(const dot_operands& o);
  value_ref dot4_of_pairs(const dot_operands& o);
  value_ref dot4_of_shifts(const dot_operands& o);
  value emit_dot2(const ir::expr& e);
  value emit_sad8(const ir::expr& e);
  value_ref sad8_of_target(value_ref x, value_ref y, int lanes);
  value_ref sad8_of_shifts(value_ref x, value_ref y, int lanes);

  // memory.ipp
  place& place_of(const ir::buffer& buffer);
  affine offset(const place& p, const ir::buffer& buffer, const std::vector<ir::expr>& indices);
  bool in_bounds(const ir::buffer& buffer, const std::vector<ir::expr>& indices);
  value_ref pointer(const place& p, const affine& at);
  unsigned alignment(const place& p, const affine& at) const;
  value_ref lane_pointers(const place& p, const affine& at);
  value_ref lane_pointer(const place& p, const affine& at, int lane_number);
  void note_indices(const ir::expr& load, value_ref wide);
  value_ref lane_index(value_ref indices, int lane_number);
  value emit_load(const ir::expr& e);
  void emit_prefetch(const ir::expr& e);
  bool gathers(const place& p, const affine& a) const;
  value_ref load_lanes(const place& p, const affine& at, bool safe);
  std::int64_t behind_neighbours(const place& p, const affine& a, std::int64_t phase);
  static column_key beside_key(const place& of, const affine& lanes);
  void find_neighbours();
  value_ref load_overlapping(const place& p, const affine& a);
  value_ref load_neighbours(const ir::expr& e, const place& p, const affine& at);
  value_ref load_table(const ir::expr& e, const place& p);
  std::vector<value> emit_whole(const std::vector<ir::expr>& all);
  void emit_store(const ir::store_node& s);
  void emit_stream(const ir::loop_node& l, const pass::stream& how);
  value_ref elements_before(const place& p, const affine& at, std::int64_t width);
  void emit_ahead(const ir::loop_node& l, const affine& position, std::int64_t distance);
  void bind_position(const ir::loop_node& l, affine position);
  void store_lanes(const place& p, const affine& at, value_ref stored);

  // near_lanes.ipp
  std::vector<std::int64_t> lane_distances(const affine& at) const;
  affine with_even_steps(affine at) const;
  value_ref load_near(const place& p, const affine& at, bool safe);
  value_ref load_pair(const ir::expr& e, const place& p, const affine& at);

  // near_bytes.ipp
  /// One byte of each lane's group: loaded, or 0 outside of a condition, where there is one.
  struct byte_part {
    const ir::expr_node* load = nullptr;
    ir::expr condition;
  };
  struct byte_groups;
  static std::vector<byte_part> byte_parts(const ir::expr& e, std::size_t first);
  std::optional<byte_groups> find_byte_groups(const std::vector<byte_part>& parts, const place& p);
  bool has_bytes_behind(const std::vector<byte_part>& parts, const place& p, std::int64_t count);
  value_ref wanted_bytes(const std::vector<byte_part>& parts);
  value_ref load_near_bytes(const ir::expr& e, std::size_t first);
  value_ref bytes_asked_for(const std::vector<std::int64_t>& distances, std::int64_t begin,
                            value_ref wanted);

  // transpose.ipp
  void note_written(const ir::stmt& s);
  bool stays_in_loop(const ir::expr& e) const;
  int columns_at_once(const ir::buffer& buffer);
  bool reads_rows(const ir::loop_node& l);
  value_ref load_column(const ir::expr& e, const place& p, const affine& at);
  std::vector<value_ref> load_rows(const place& p, const affine& at, int columns);
  std::vector<value_ref> transposed(const std::vector<value_ref>& rows, int columns);
  std::optional<std::int64_t> lane_value(const ir::expr& e, int lane_number);
  std::vector<std::int64_t> lane_elements(const ir::expr& load, const place& p);
  value_ref load_shuffled(const ir::expr& e, const place& p);

  // store_squares.ipp
  bool emit_squares(const ir::loop_node& l, std::int64_t first, std::int64_t extent);
  void emit_rows_of_squares(const ir::loop_node& l, std::int64_t first, std::int64_t extent,
                            const ir::loop_node& lanes, const ir::store_node& store);
  void emit_square(const ir::loop_node& l, const ir::loop_node& lanes, const ir::store_node& store,
                   const affine& from, interval range);

  // store_interleaved.ipp
  bool emit_channels(const ir::loop_node& l, std::int64_t first, std::int64_t extent);
  void emit_pixels(const ir::loop_node& l, std::int64_t first, std::int64_t extent,
                   const std::vector<const ir::loop_node*>& unrolled, const ir::loop_node& lanes,
                   const ir::if_node* guard, const ir::store_node& store);
  std::vector<value_ref> interleaved(const std::vector<value_ref>& channels);

  // running_lanes.hpp
  bool emit_running(const ir::loop_node& l, std::int64_t first, std::int64_t extent);
  value_ref combine_steps(const ir::store_node& store, std::size_t position, value_ref before,
                          value_ref term);
  value_ref running_start(const ir::loop_node& l, const ir::expr& before, std::int64_t first,
                          std::int64_t lanes);
  value_ref moved(value_ref vector, value_ref other, const std::vector<std::int64_t>& from);
  value_ref running_terms(const ir::store_node& store, std::size_t position, bool falls);

  // stmt.ipp
  void emit(const ir::stmt& s);
  void emit_loop(const ir::loop_node& l);
  void emit_serial(const ir::loop_node& l, value_ref first, value_ref end, interval range,
                   bool never_empty);
  value_ref emit_counted(const std::string& name, value_ref first, value_ref end, bool never_empty,
                         double inside, support::function_ref<void(value_ref)> emit_body);
  void emit_repeated(const ir::loop_node& l, std::int64_t first, std::int64_t extent);
  void emit_by_four(const ir::loop_node& l, std::int64_t first, std::int64_t extent);
  void emit_vectorized(const ir::loop_node& l, std::int64_t first, std::int64_t extent);
  void emit_if(const ir::if_node& s);
  void emit_masked(const ir::if_node& s, value_ref condition);
  void emit_branch(value_ref condition, support::function_ref<void()> yes,
                   support::function_ref<void()> no);
  bool leaves_buffers(const ir::stmt& s);
  void emit_while(const ir::while_node& s);
  void emit_let(const ir::let_node& s);
  void emit_allocate(const ir::allocate_node& s);
  void poll_cancel();
  double work(const ir::stmt& s);
  bool is_loaded(const ir::expr& e);

  // function.ipp
  /// What a parallel region takes from the function around it.
  struct captures {
    struct captured {
      const ir::expr_node* var;
      binding known;
    };
    std::vector<std::pair<const ir::expr_node*, binding>> constants;
    std::vector<captured> values;
    std::vector<std::pair<const ir::buffer_node*, place>> slots;
  };
  void emit_entry();
  void emit_parallel(const ir::loop_node& l, value_ref first, value_ref extent, interval range);
  captures capture(const ir::loop_node& l);
  value_ref emit_region(const ir::loop_node& l, const captures& outside, interval range);
  void emit_chunk(const ir::loop_node& l, const std::string& name, value_ref inner,
                  const captures& outside);
  std::vector<value_ref> call_arguments(value_ref call);
  void bind_parameters();
  value_ref begin_function(const std::string& name, const std::vector<type_ref>& more);
  void finish_function();
  std::int64_t attribute(const char* name) const;

  /// Forgets what was computed inside when it ends.
  class scope {
   public:
    explicit scope(emitter& e)
        : e_(e),
          pointers_(e.computed.pointers.size()),
          columns_(e.computed.columns.size()),
          quotients_(e.computed.quotients.size()) {}
    ~scope() {
      e_.computed.pointers.keep_first(pointers_);
      e_.computed.columns.keep_first(columns_);
      e_.computed.quotients.keep_first(quotients_);
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

   private:
    emitter& e_;
    std::size_t pointers_, columns_, quotients_;
  };

  /// Says what is written, and which variables change, while the body of a loop is emitted.
  class body_of {
   public:
    body_of(emitter& e, const ir::stmt& body, const ir::expr_node* counter = nullptr)
        : e_(e),
          around_(std::exchange(e.written, {})),
          changing_around_(std::exchange(e.changing_, {})) {
      e_.note_written(body);
      if (counter) e_.changing_.insert(counter);
      ir::for_each_stmt(body, [&](const ir::stmt& s) {
        if (const auto* let = ir::as_let(s)) e_.changing_.insert(let->var.get());
      });
    }
    ~body_of() {
      e_.written = std::move(around_);
      e_.changing_ = std::move(changing_around_);
    }
    body_of(const body_of&) = delete;
    body_of& operator=(const body_of&) = delete;

   private:
    emitter& e_;
    std::unordered_set<const ir::buffer_node*> around_;
    std::unordered_set<const ir::expr_node*> changing_around_;
  };

  builder& b;
  const ir::function& f;
  std::string symbol;
  bool rounds_products;  // before they are added, as the function asks for
  shared_quotients shared;
  frame at;
  bindings bound;
  lane_state lane;
  computed_values computed;
  const ir::expr* beside_ = nullptr;  // where the next strided load looks for its neighbours
  std::map<column_key, std::vector<interval>> neighbours_;  // constants of loads side by side
  std::unordered_map<value_ref, loaded_indices> indices_in_memory_;  // until the next store
  std::vector<ir::expr> whole_;  // that lanes compute, where a load looks for the one beside it
  gathered_pairs pairs_;         // of this statement
  std::unordered_map<value_ref, std::vector<std::int64_t>> lane_numbers_;  // of constant vectors
  std::unordered_set<const ir::buffer_node*> written;  // by the innermost loop around, or by all
  std::unordered_set<const ir::expr_node*> changing_;  // variables of the innermost loop around
  std::unordered_map<const ir::stmt_node*, double> work_of;
  std::vector<ir::stmt> made_;  // statements that are emitted and stand nowhere in the function
  std::unordered_map<const ir::buffer_node*, interval> offset_bounds;  // of their elements
  int regions = 0;
  bool in_region = false;    // inside a parallel loop: further ones run serially
  std::int64_t emitted = 0;  // statements, against explosion by unrolling
};

}  // namespace tilewright::backend::llvm
