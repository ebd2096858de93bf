// The parser of scripts. Its members are defined in parse.ipp (functions), parse_module.ipp (what
// stands around them), parse_buffer.ipp, parse_block.ipp, parse_stmt.ipp, parse_scope.ipp,
// parse_expr.ipp, parse_value.ipp, parse_call.ipp, parse_opaque.ipp, parse_sparse.ipp and comm_reducer.ipp.
//
// A script is Python; what Python would compute while it builds a program (numbers, strings,
// tuples, attributes such as A.shape) is computed here, and nothing else of Python is known.
//
// Bounds against hostile input: `nesting_` limits the recursion of the parser, `operand::depth` and
// `layers_` the depth of the expressions and statements that it builds, which other code walks
// recursively.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/text/tokenize.hpp>

namespace tilewright::ir::detail {

/// Expression under construction. A bare literal has no type yet and takes that of its
/// surroundings; until then a float is held as f64. A tuple has items and no value.
struct operand {
  expr value{};
  bool bare = false;
  int depth = 1;
  bool tuple = false;
  std::vector<operand> items{};
};

/// What a name stands for.
struct entity {
  enum class kind { variable, tensor, handle, constant, thread, alias };
  entity::kind is = kind::variable;
  expr variable{};
  range domain{};  // of a loop variable; else null
  ir::buffer tensor{};
  std::size_t param = 0;  // of a handle
  operand constant{};
  std::string thread{};  // axis of a T.env_thread
  bool implied = false;  // a variable that a string introduced; its declaration may follow
  bool scalar = false;   // a tensor of one element: its name stands for that
};

/// Arguments of a call of which the parser knows little.
struct call_args {
  std::vector<operand> list;
  std::vector<std::pair<token, operand>> named;
  const operand* find(std::string_view name) const {
    for (const auto& [key, value] : named)
      if (key.text == name) return &value;
    return nullptr;
  }
};

/// Block, or the top of a function, whose header lines are being read.
struct block_frame {
  bool top = false;  // the function itself
  block_node node{};
  std::vector<expr> values{};
  expr predicate = boolean(true);
  bool has_reads = false;
  bool has_writes = false;
  bool has_predicate = false;
};

/// Lines after a let, an allocation and the like belong to it; it is closed where its suite ends.
struct open_scope {
  std::size_t first = 0;              // statement of the suite with which its body begins
  std::function<stmt(stmt)> close{};  // null for a line that opens nothing
};

class parser {
 public:
  explicit parser(std::string_view text) : in_(text) {}
  explicit parser(token_stream in) : in_(std::move(in)) {}
  function run(std::string_view name);                    // parse_module.ipp
  std::vector<std::string> names_of_functions();          // parse_module.ipp
  sparse_function run_sparse();                           // parse_sparse.ipp
  expr expression_of(const std::vector<var>& variables);  // parse.ipp
  token_stream release() { return std::move(in_); }

 private:
  /// Counts one level of recursion.
  class level {
   public:
    explicit level(parser& p) : p_(p) {
      if (++p_.nesting_ > max_nesting) p_.in_.fail("at most 256 levels of nesting");
    }
    ~level() { --p_.nesting_; }
    level(const level&) = delete;
    level& operator=(const level&) = delete;

   private:
    parser& p_;
  };

  /// @name Expressions (parse_expr.ipp)
  /// @{
  operand expression();  // one value
  operand any();         // one value or a tuple
  operand binary(int weakest);
  operand unary();
  operand combine(const token& at, op o, operand a, operand b);
  operand bitwise(const token& at, std::string_view name, operand a, operand b);
  operand power(const token& at, operand base, operand exponent);
  operand true_division(const token& at, const operand& a, const operand& b);
  operand choose(const token& at, op o, const operand& condition, operand yes, operand no);
  void unify(const token& at, operand& a, operand& b) const;
  void unify_lanes(const token& at, operand& a, operand& b) const;
  expr retype(const token& at, const operand& bare, dtype type) const;
  expr settle(const operand& o) const;                                  // a bare float becomes f32
  expr converted(const token& at, const operand& o, dtype type) const;  // with a cast if need be
  operand deeper(const token& at, expr value, int depth) const;
  void need_value(const token& at, const operand& o) const;
  expr integer_expr(std::string_view what);
  expr condition();
  /// @}

  /// @name Leaves and attributes (parse_value.ipp)
  /// @{
  operand atom();
  operand number(bool negative);
  operand string();
  operand named();
  operand python_call(const token& name);
  operand sequence(std::string_view close);
  operand postfix(operand o);
  operand tensor_value(const token& name, const buffer& b);
  operand tensor_attribute(const buffer& b);
  expr offset_of(const buffer& b) const;
  operand access_pointer(const token& at, const buffer& b);
  operand vector_load(const token& at, const buffer& b);
  expr ramp_from(const token& at, const expr& base, dtype value, const buffer& b) const;
  operand subscript(const token& at, const operand& of);
  std::vector<expr> indices(const buffer& b, int& depth);
  void index(std::vector<expr>& out, int& depth);
  operand tuple_of(const std::vector<expr>& list) const;
  std::int64_t constant_integer(const token& at, const operand& o) const;
  /// @}

  /// @name Functions of T (parse_call.ipp)
  /// @{
  bool at_namespace(std::size_t ahead = 0) const;
  void enter_namespace();
  operand intrinsic();
  operand typed(const token& name, dtype type);
  operand special_float(dtype type);
  operand pointer_type();
  operand called_binary(const token& name, op o);
  operand conversion(const token& name);
  operand choice(const token& name, op o);
  operand all_or_any(const token& name);
  operand known_call(const token& name, std::string_view canonical);
  operand limit_value(const token& name);
  operand let_expression(const token& name);
  void skip_argument(std::string_view what);
  operand ceiling_division(const token& name);
  dtype type_name();  // of a string token
  dtype type_argument();
  dtype type_of(const token& t) const;
  /// @}

  /// @name Calls that only a machine or a library understands (parse_opaque.ipp)
  /// @{
  call_args arguments();
  operand external_call(const token& name);
  operand intrinsic_by_name(const token& name);
  operand opaque_call(const token& name);
  operand opaque(const token& at, std::string name, const call_args& args, bool typed_first);
  operand reinterpretation(const token& name);
  operand vector_value(const token& name);
  dtype lanes_type(const token& at, const expr& count, dtype scalar) const;
  expr argument(const operand& o) const;
  /// @}

  /// @name Reducers (comm_reducer.ipp)
  /// @{
  operand reducer(const token& name);
  void reducer_parameters(const std::vector<token>& names, const std::vector<expr>& identities);
  /// @}

  /// @name Statements (parse_stmt.ipp)
  /// @{
  stmt suite();
  stmt nested_suite();  // one that is not a block's or the function's own
  stmt statements(bool on_one_line = false);
  stmt statement(open_scope& opened);
  stmt for_loop();
  std::vector<token> loop_names(std::size_t& star);
  stmt nest(std::vector<token> names, std::size_t star, const token& at);
  stmt single_loop(const std::vector<token>& names, loop_kind kind);
  stmt stepped(const token& name, const expr& start, const expr& stop, const expr& step,
               loop_kind kind, annotations notes, std::string thread);
  stmt branch();
  stmt while_loop();
  stmt assertion();
  stmt command(open_scope& opened);
  stmt named_statement(open_scope& opened);
  stmt store(const token& name);
  stmt stored(const token& name, const buffer& to, std::vector<expr> at, int depth);
  stmt vector_store(const token& name);
  /// @}

  /// @name Scopes and definitions (parse_scope.ipp)
  /// @{
  stmt with();
  stmt block_statement();
  void init(const token& at);
  void let_scope(const token& name, open_scope& opened);
  void attribute_scope(open_scope& opened);
  void attribute_scopes(open_scope& opened);
  void thread_scope(const token* name, open_scope& opened);
  void allocation_scope(const token& name, const token& call, open_scope& opened);
  stmt closed(open_scope& opened, stmt body);
  bool defines_by_call() const;
  void assignment(const std::vector<token>& names, open_scope& opened);
  void assign_values(const std::vector<token>& names, open_scope& opened);
  void annotated(const token& name, open_scope& opened);
  bool assigned_below(std::string_view name) const;
  buffer define_scalar(const token& name, dtype type, std::string scope);
  bool view(const token& name, open_scope& opened);
  void open_let(const token& name, expr value, open_scope& opened);
  bool variable_call(const token& name, const token& call);
  /// @}

  /// @name Buffers (parse_buffer.ipp)
  /// @{
  buffer layout(const token& name, std::string_view close, bool allocated = false);
  void layout_field(const token& key, buffer_node& node);
  buffer allocation(const token& name);
  buffer constant_allocation(const token& name, std::vector<expr>& values);
  void match(const token& name, const token& call);
  std::vector<expr> dims(dtype unknown = dtype::i64);
  operand quoted(const token& at, const std::string& text, dtype unknown);
  std::size_t assigned_value(std::size_t start, std::string_view name) const;
  dtype declared_type(std::string_view name, dtype unknown) const;
  std::vector<int> separators();
  int small_integer(const token& key);
  buffer_region region();
  range slice(const expr& extent);
  void region_list(std::vector<buffer_region>& out);
  /// @}

  /// @name Headers of blocks (parse_block.ipp)
  /// @{
  void header_command(const token& name);
  void axis(const std::vector<token>& names, const token& at);
  void remap(const std::vector<token>& names);
  void one_axis(const token& name, const token& kind);
  void add_axis(const token& name, iter_var axis);
  range axis_domain(bool& bare);
  annotations dictionary();
  block_frame& block_here(const token& at, std::string_view what);
  stmt finish_block(block_frame& frame, stmt body);
  /// @}

  /// @name Functions (parse.ipp)
  /// @{
  function function_definition();
  void parameters();
  void announce_scalars();
  void parameter();
  stmt finish_function(stmt body);
  void define(const token& name, entity e);
  void define_variable(const token& name, expr variable, range domain = {});
  void define_tensor(const token& name, buffer b);
  void define_constant(const token& name, operand value);
  const entity* find(std::string_view name) const;
  const entity& lookup(const token& name) const;
  void leave_scope(std::size_t mark);
  /// @}

  /// @name Lines of sparse programs (parse_sparse.ipp)
  /// @{
  bool defines_sparse(std::string_view call) const;
  void sparse_definition(const token& name, const token& call);
  void axis_option(sparse_axis_node& axis);
  void same_type(dtype known);
  void sparse_axis_definition(const token& name, const token& call);
  void sparse_buffer_definition(const token& name, const token& call);
  stmt sparse_iteration_statement(const token& at);
  sparse_axis axis_name();
  void iterated_axis(std::vector<sparse_iter>& to);
  buffer pattern_array();
  /// @}

  /// @name Macros (parse_macro.ipp)
  /// @{
  struct macro;
  void note_macro(bool hygienic);
  entity macro_argument();
  stmt expand(const macro& called);
  /// @}

  /// @name What stands around functions (parse_module.ipp)
  /// @{
  struct candidate {
    std::size_t at;  // token of its `def`
    std::string_view name;
  };
  void outline(bool inside_class);
  void import_line();
  struct macro {
    std::size_t at = 0;  // token of its `def`
    bool hygienic = true;
  };
  enum class decorated { nothing, function, macro, unhygienic_macro };
  decorated decorators();
  bool module_statement();
  void skip_line();
  void skip_definition();
  void skip_brackets();
  /// @}

  static constexpr int max_nesting = 256;
  static constexpr int max_depth = 1000;
  static constexpr int max_expansions = 1000;

  token_stream in_;
  std::unordered_map<std::string_view, std::vector<entity>> names_;
  std::vector<std::string_view> scope_;  // names in order of definition
  block_frame* here_ = nullptr;          // whose own suite is read; null inside loops and branches
  block_frame* around_ = nullptr;        // innermost block or the top
  function* function_ = nullptr;
  sparse_function* sparse_ = nullptr;  // where one is read
  std::unordered_map<std::string_view, sparse_axis> axes_;
  using iterated_axes = std::vector<sparse_iter>;          // without variables and kinds
  std::vector<std::pair<block, iterated_axes>> iterated_;  // blocks of T.sp_iter
  std::vector<std::string_view> param_names_;
  std::deque<std::string> texts_;  // of strings that were read as expressions
  std::vector<candidate> functions_;
  std::unordered_map<std::string_view, macro> macros_;
  std::size_t module_scope_ = 0;  // names that the module defines
  int expansions_ = 0;
  std::vector<std::string_view> namespaces_;  // further spellings of T
  bool bare_root_reads_ = false;  // the last block without iterations had no T.reads, ...
  bool bare_root_writes_ = false;
  int nesting_ = 0;
  int layers_ = 0;
};

inline std::string type_text(dtype t) { return std::string(name(t)); }

/// Element type by any of its spellings: "float32", "float", "f32"; "handle" and "void" are
/// pointers.
std::optional<dtype> type_from_text(std::string_view text);

}  // namespace tilewright::ir::detail
