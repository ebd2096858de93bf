// Lists of numbers that rise strictly, as the numbers of rows that are stored do.
#pragma once

#include <string>
#include <variant>

#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// What a block says of the lists that it reads (`ir::rising_annotation`). Two numbers of such a list are the same
/// where their places are, and only there: what is written at numbers is apart where the places are.
class rising_numbers {
 public:
  rising_numbers() = default;  // no list is known to rise
  explicit rising_numbers(const ir::block_node& block) {
    if (const ir::attr* note = ir::find_note(block.annotations, ir::rising_annotation))
      lists_ = std::get_if<ir::attr::list>(&note->value);
  }

  /// The place in its list of a number; any other expression as it stands.
  const ir::expr& place(const ir::expr& number) const {
    const ir::expr* e = &number;
    while ((*e)->op == ir::op::cast && bits((*e).type()) >= bits((*e)->args[0].type()))
      e = &(*e)->args[0];
    return (*e)->op == ir::op::load && (*e)->args.size() == 1 && rises((*e)->buffer->name)
               ? (*e)->args[0]
               : number;
  }

 private:
  bool rises(const std::string& name) const {
    return lists_ && support::any(*lists_, [&](const ir::attr& one) {
             const auto* list = std::get_if<std::string>(&one.value);
             return list && *list == name;
           });
  }

  const ir::attr::list* lists_ = nullptr;
};

}  // namespace tilewright::dependence
