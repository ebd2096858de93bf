// What becomes of a nest whose result is stored like a matrix in another format than compressed rows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/sparse/converted_nest.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse::detail {

/// Whether the row of each place of a format is known.
inline bool knows_rows(const stored_parameter& f) {
  return !f.rule && f.lanes == 1 && f.diagonals < 0 && !f.by_columns;
}

/// The nest over the places of one part: all of them are computed, those that hold no element, too.
class placed_nest {
 public:
  sparse_iteration iteration;  // its axes are those of the part; others are to be added
  var row, column;             // of the block, which have no place in the iteration

  /// @param b with variables of its own
  /// @param result stored like the matrix of which `a` is part number `part`
  /// @param at the indices of its result
  placed_nest(const block_node& b, const converted_parameter& a, const placed_tensor& result,
              std::size_t part, const std::vector<expr>& at,
              const std::vector<placed_tensor>& placed)
      : row(at[0]), column(at[1]) {
    const store_node* body = as_store(b.body);
    if (!body || (b.init && !as_store(b.init)))
      throw argument_error("with_storage: block \"" + b.name + "\" stores \"" + result.whole->name +
                           "\" otherwise than once");
    const walk to = walk_maker(a, name_of(row), column).make(name_of(column), false);
    const auto moved = [&](const expr& e) { return at_place(e, a, placed, part, to, row, column); };
    iteration.name = b.name;
    iteration.annotations = b.annotations;
    iteration.iters = to.iters;
    for (sparse_iter& i : iteration.iters) i.kind = iter_kind::spatial;
    const buffer& own = result.parts.at(part).coordinates;
    if (b.init) iteration.init = make_store(own, to.at, moved(as_store(b.init)->value));
    iteration.body = make_store(own, to.at, moved(body->value));
  }

 private:
  static std::string name_of(const var& v) {
    const std::string& name = v->name;
    return name.size() > 1 && name[0] == 'v' ? name.substr(1) : name;
  }
};

}  // namespace tilewright::sparse::detail
