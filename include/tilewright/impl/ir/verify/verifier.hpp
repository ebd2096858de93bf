// The verifier's walk; verify_expr.ipp and verify.ipp define its members.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/address_map.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir::detail {

class verifier {
 public:
  void check(const function& f);

 private:
  /// What a variable is bound by; block bodies do not see loops and lets outside of them.
  enum class binder : std::uint8_t { parameter, iteration, loop, let };
  struct binding {
    const expr_node* variable;
    binder by;
  };
  /// Buffers that the block around may access.
  struct access_frame {
    const block_node* block = nullptr;                   // null where nothing needs to be listed
    std::vector<const buffer_node*> readable, writable;  // few

    bool may_read(const buffer& b) const { return holds(readable, b); }
    bool may_write(const buffer& b) const { return holds(writable, b); }

   private:
    static bool holds(const std::vector<const buffer_node*>& list, const buffer& b) {
      return support::contains(list, b.get());
    }
  };

  [[noreturn]] void fail(const std::string& what) const;

  // verify_expr.ipp
  void check(const expr& e, const char* what);
  void check_let(const expr& e, const char* what);
  void check_variable(const expr& e) const;
  void check_operands(const expr& e) const;
  void check_load(const expr& e);
  void check_integer(const expr& e, const char* what);
  void check_boolean(const expr& e, const char* what);
  void check_range(const range& r, const char* what);
  void check_region(const buffer_region& r);
  void check_match(const match_buffer& m);
  void check_layout(const buffer& b);
  void need_visible(const buffer& b) const;
  void need_readable(const buffer& b) const;
  void need_writable(const buffer& b) const;

  // verify.ipp
  void check_params(const function& f);
  void check(const stmt& s);
  void check(const loop_node& n);
  void check(const block_realize_node& n);
  void check_iterations(const block_realize_node& n);
  void check_body(const block_node& b, bool root);
  void check_init(const block_node& b);
  void check(const store_node& n);
  void check(const let_node& n);
  void bind(const expr& v, binder by, const char* what);
  void bind_layout_vars(const buffer& b);
  void own(const buffer& b);  // makes an allocated or matched buffer accessible
  void leave(std::size_t variables, std::size_t buffers);

  const function* function_ = nullptr;
  const block_node* block_ = nullptr;  // innermost, for messages
  bool at_top_ = true;                 // nothing but the function is around
  std::size_t visible_from_ = 0;       // first binding that a loop or let inside the block made
  std::vector<binding> bindings_;
  support::address_map<std::size_t> bound_;  // variable -> index in bindings_
  std::vector<const buffer_node*> buffer_scope_;
  support::address_map<bool> buffers_;      // those of `buffer_scope_`
  support::address_map<bool> loop_vars_;    // of all loops so far
  const expr_node* shared_loop_ = nullptr;  // legal only in a function without blocks
  std::unordered_set<std::string_view> block_names_;
  std::unordered_set<std::uint64_t> block_ids_;
  access_frame frame_;
};

}  // namespace tilewright::ir::detail
