// The names that a space expression mentions, as the compiler sees them.
#pragma once

#include <string_view>
#include <type_traits>

#include <tilewright/space/expression.hpp>

namespace tilewright::space::detail {

/// A block, or an axis of one, that an expression names.
struct name_use {
  std::string_view block;  // named by the innermost `on` around; empty: the last of the program
  std::string_view axis;   // empty: the block itself is what is named
};

template <class Expression>
struct names_of {
  template <class Visit>
  static constexpr void visit(std::string_view block, Visit& found) {
    if constexpr (requires { Expression::axis; }) found({block, Expression::axis});
    if constexpr (requires { Expression::operands_of::record; }) {
      constexpr const auto& of = Expression::operands_of::record;
      for (std::size_t n = 0; n < of.operands.size; ++n)
        if (of.operands[n].is == operand::role::level) found({block, of.operands[n].view()});
      if (of.primitive == "get_block" && of.operands.size > 0) found({of.operands[0].view(), {}});
    }
  }
};

template <class... Part>
struct names_of_parts {
  template <class Visit>
  static constexpr void visit(std::string_view block, Visit& found) {
    (names_of<Part>::visit(block, found), ...);
  }
};
template <class First, class Next>
struct names_of<then_step<First, Next>> : names_of_parts<First, Next> {};
template <class... Steps>
struct names_of<choice<Steps...>> : names_of_parts<Steps...> {};
template <class Predicate, class Step>
struct names_of<when_step<Predicate, Step>> : names_of_parts<Step> {};
template <class Step>
struct names_of<weighted<Step>> : names_of_parts<Step> {};

template <fixed_string Block, class Step>
struct names_of<on_step<Block, Step>> {
  template <class Visit>
  static constexpr void visit(std::string_view, Visit& found) {
    found({Block.view(), {}});
    names_of<Step>::visit(Block.view(), found);
  }
};

}  // namespace tilewright::space::detail
