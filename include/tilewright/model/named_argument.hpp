// Arguments of a network.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <tilewright/config.hpp>
#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/device_array.hpp>

namespace tilewright {

/// An argument of a model by its name in the graph.
struct named_argument {
  std::string name;
  dsl::argument data;
  bool on_device = false;  // its elements lie in the memory of a GPU

  template <class A>
  requires dsl::argument_like<A> named_argument(std::string n,
                                                A&& a)  // NOLINT: {"x", x} reads well
      : name(std::move(n)),
        data(make(a)),
        on_device(dsl::device_form<std::remove_reference_t<A>>) {}
  named_argument(std::string n, const dsl::argument& a) : name(std::move(n)), data(a) {}

 private:
  template <class A>
  static dsl::argument make(A& a) {
    using form = dsl::recognized<std::remove_reference_t<A>>;
    int rank = 0;
    while (!form::has_rank(rank)) ++rank;
    return form::make(a, rank);
  }
};

}  // namespace tilewright
