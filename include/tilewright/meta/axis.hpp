// Axes: iteration variables of a definition. An axis is its name.
#pragma once

#include <type_traits>

#include <tilewright/meta/dim.hpp>
#include <tilewright/meta/loop_level.hpp>

namespace tilewright {

// The front end's namespace: argument-dependent lookup finds its operators for axes.
namespace dsl {

/// An axis; with a Dim (see meta/dim.hpp) it runs over that extent whatever it indexes.
template <class Name, class... Dim>
struct axis_of {
  static_assert(sizeof...(Dim) <= 1, "tilewright: an axis has at most one extent");
  static_assert(meta::is_identifier(meta::text_of<Name>),
                "tilewright: the name of an axis is an identifier");
  using name = Name;
  using tilewright_operand = void;
  constexpr axis_of() {}
  /// A loop that the axis became by tiling, 0 outermost.
  constexpr meta::loop_level operator[](int level) const { return {meta::text_of<Name>, level}; }
};

template <class T>
inline constexpr bool is_axis = false;
template <class Name, class... Dim>
inline constexpr bool is_axis<axis_of<Name, Dim...>> = true;

}  // namespace dsl

/// `constexpr axis<"co"> co;` or, where no plain index tells the extent, `constexpr axis<"r", 3>
/// r;`.
template <fixed_string Name, dim... Extent>
using axis = dsl::axis_of<meta::to_name<Name>, meta::to_dim<Extent>...>;

/// Ready-made axes; take single ones (`using axes::i;`), never the whole namespace.
namespace axes {
inline constexpr axis<"a"> a;
inline constexpr axis<"b"> b;
inline constexpr axis<"c"> c;
inline constexpr axis<"d"> d;
inline constexpr axis<"e"> e;
inline constexpr axis<"f"> f;
inline constexpr axis<"g"> g;
inline constexpr axis<"h"> h;
inline constexpr axis<"i"> i;
inline constexpr axis<"j"> j;
inline constexpr axis<"k"> k;
inline constexpr axis<"l"> l;
inline constexpr axis<"m"> m;
inline constexpr axis<"n"> n;
inline constexpr axis<"o"> o;
inline constexpr axis<"p"> p;
inline constexpr axis<"q"> q;
inline constexpr axis<"r"> r;
inline constexpr axis<"s"> s;
inline constexpr axis<"t"> t;
inline constexpr axis<"u"> u;
inline constexpr axis<"v"> v;
inline constexpr axis<"w"> w;
inline constexpr axis<"x"> x;
inline constexpr axis<"y"> y;
inline constexpr axis<"z"> z;
inline constexpr axis<"ci"> ci;
inline constexpr axis<"co"> co;
inline constexpr axis<"kh"> kh;
inline constexpr axis<"kw"> kw;
inline constexpr axis<"kd"> kd;
inline constexpr axis<"oh"> oh;
inline constexpr axis<"ow"> ow;
inline constexpr axis<"od"> od;
inline constexpr axis<"ih"> ih;
inline constexpr axis<"iw"> iw;
inline constexpr axis<"head"> head;
inline constexpr axis<"batch"> batch;
inline constexpr axis<"row"> row;
inline constexpr axis<"col"> col;
}  // namespace axes

}  // namespace tilewright
