// The parser of scripts; parse_expr.ipp, parse_stmt.ipp and parse.ipp define its members.
//
// Bounds against hostile input: `nesting_` limits the recursion of the parser, `operand::depth` and
// `layers_` the depth of the expressions and statements that it builds, which other code walks
// recursively.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/tokenize.hpp>

namespace tilewright::ir::detail {

/// Expression under construction. A bare literal has no type yet and takes that of its
/// surroundings; until then a float is held as f64.
struct operand {
  expr value;
  bool bare = false;
  int depth = 1;
};

/// What a name stands for.
struct entity {
  enum class kind { variable, tensor, handle };
  entity::kind is = kind::variable;
  expr variable;
  range domain{};  // of a loop variable; else null
  ir::buffer tensor;
  std::size_t param = 0;  // of a handle
};

/// Block, or the top of a function, whose header lines are being read.
struct block_frame {
  bool top = false;  // the function itself
  block_node node;
  std::vector<expr> values;
  expr predicate = boolean(true);
  bool has_reads = false;
  bool has_writes = false;
};

struct open_scope;

class parser {
 public:
  explicit parser(std::string_view text) : in_(text) {}
  explicit parser(token_stream in) : in_(std::move(in)) {}
  function run();                                         // parse.ipp
  expr expression_of(const std::vector<var>& variables);  // parse_expr.ipp
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
  operand expression();
  operand binary(int weakest);
  operand unary();
  operand atom();
  operand number(bool negative);
  operand named();
  operand combine(const token& at, op o, operand a, operand b);
  operand choose(const token& at, op o, const operand& condition, operand yes, operand no);
  void unify(const token& at, operand& a, operand& b) const;
  expr retype(const token& at, const operand& bare, dtype type) const;
  expr settle(const operand& o) const;  // a bare float becomes f32
  expr settled_as(const token& at, const operand& o, dtype type) const;
  operand deeper(const token& at, expr value, int depth) const;
  expr integer_expr(std::string_view what);
  expr condition();
  dtype type_name();  // of a string token
  dtype type_of(const token& t) const;
  std::vector<expr> indices(const buffer& b, int& depth);
  range slice();
  std::vector<expr> dims();
  buffer_region region();
  /// @}

  /// @name Functions of T (parse_call.ipp)
  /// @{
  operand intrinsic();
  operand typed(const token& name, dtype type);
  operand called_binary(const token& name, op o);
  operand conversion(const token& name);
  operand choice(const token& name, op o);
  operand external_call(const token& name);
  operand known_call(const token& name);
  operand limit_value(const token& name);
  /// @}

  /// @name Statements (parse_stmt.ipp)
  /// @{
  stmt suite();
  stmt nested_suite();  // one that is not a block's or the function's own
  stmt statements();
  stmt statement(open_scope& opened);
  stmt for_loop();
  stmt nest(const std::vector<token>& names);
  stmt single_loop(const std::vector<token>& names, loop_kind kind);
  stmt branch();
  stmt with();
  stmt block_statement();
  void init(const token& at);
  stmt let_scope();
  stmt allocation_scope();
  stmt command();
  stmt named_statement(open_scope& opened);
  bool defines_by_call() const;
  var annotated_let(const token& name, expr& value);
  stmt store(const token& name);
  /// @}

  /// @name Functions, headers of blocks, declarations (parse.ipp)
  /// @{
  void preamble();
  void skip_brackets();
  void parameters();
  void parameter();
  void header_command(const token& name);
  buffer assignment(const std::vector<token>& names);
  void axis(const std::vector<token>& names, const token& at);
  void remap(const std::vector<token>& names);
  void one_axis(const token& name, const token& kind);
  range axis_domain(bool& bare);
  void match(const token& name, const token& call);
  buffer layout(const token& name, std::string_view close);
  int small_integer(const token& key);
  void region_list(std::vector<buffer_region>& out);
  annotations dictionary();
  block_frame& block_here(const token& at, std::string_view what);
  stmt finish_block(block_frame& frame, stmt body);
  stmt finish_function(stmt body);
  /// @}

  void define(const token& name, entity e);
  void define_variable(const token& name, expr variable, range domain = {});
  void define_tensor(const token& name, buffer b);
  const entity* find(std::string_view name) const;
  const entity& lookup(const token& name) const;
  void leave_scope(std::size_t mark);

  static constexpr int max_nesting = 256;
  static constexpr int max_depth = 1000;

  token_stream in_;
  std::unordered_map<std::string_view, std::vector<entity>> names_;
  std::vector<std::string_view> scope_;  // names in order of definition
  block_frame* here_ = nullptr;          // whose own suite is read; null inside loops and branches
  function* function_ = nullptr;
  std::vector<std::pair<token, std::size_t>> handles_;  // parameters that want a T.match_buffer
  bool bare_root_reads_ = false;  // the last block without iterations had no T.reads, ...
  bool bare_root_writes_ = false;
  int nesting_ = 0;
  int layers_ = 0;
};

}  // namespace tilewright::ir::detail
