// Tensors of a kernel and their accesses.
//
// A tensor is an empty object whose type says everything; `A(i, k)` is a read of it, and on the
// left of `=` a write.
#pragma once

#include <tilewright/expr/definition.hpp>
#include <tilewright/meta/name_set.hpp>

namespace tilewright::dsl {

/// @name Predicates of compile-time errors: false for the offenders they name
/// @{
template <class... T>
inline constexpr bool has_one_index_per_dimension = false;
template <class... T>
inline constexpr bool is_an_index = false;
template <class... T>
inline constexpr bool may_be_assigned = false;
template <class... T>
inline constexpr bool takes_element_type = false;
template <class... T>
inline constexpr bool may_be_sparse = false;
template <class... T>
inline constexpr bool has_rows_before_compressed = false;
template <class... T>
inline constexpr bool absent_is_an_element = false;
template <class... T>
inline constexpr bool counts_absent_at_last = false;
template <class... T>
inline constexpr bool is_dense = false;
template <class... T>
inline constexpr bool is_stored_in_part = false;
template <int N>
struct indices_given {};
template <int N>
struct rank_needed {};
/// @}

template <class T, class U>
inline constexpr bool assigns = std::is_same_v<T, U> ||
                                (std::is_same_v<U, index> && is_integer_element<T>);

/// A read of Tensor with N nodes; assigning to it defines the tensor there.
template <class Tensor, int N>
struct access : expression<typename Tensor::element, N> {
  using base = expression<typename Tensor::element, N>;
  constexpr access() = default;
  constexpr access(const access&) = default;
  constexpr explicit access(const base& e) : base(e) {}

  template <class V>
  requires(operand<V> || literal<V>) constexpr auto operator=(const V& value) const {
    return define(value);
  }
  // Without this one `C(i, j) = A(i, j)` with equal types would copy the access.
  constexpr auto operator=(const access& value) const { return define(value); }

  template <class V>
  requires(operand<V> || literal<V>) constexpr auto operator+=(const V& value) const {
    return define(*this + value);
  }

  constexpr const base& target() const { return *this; }
  constexpr operator double() const {  // NOLINT: implicit, for std::exp(A(i))
    return no_value<meta::shown<typename Tensor::name>>();
  }

 private:
  template <class V>
  constexpr auto define(const V& value) const {
    using T = typename Tensor::element;
    if constexpr (Tensor::tensor_role == role::in || Tensor::tensor_role == role::weight) {
      TILEWRIGHT_MISTAKE(may_be_assigned,
                         "tilewright: an input cannot be assigned; declare it out or inout",
                         meta::shown<typename Tensor::name>);
    } else if constexpr (literal<V>) {
      return make_definition(literal_expression<T>(value), target());
    } else if constexpr (!assigns<T, element_of<V>>) {
      TILEWRIGHT_MISTAKE(
          takes_element_type,
          "tilewright: a value of another element type is assigned to a tensor; write "
          "cast<T>(value)",
          meta::shown<typename Tensor::name>, T, element_of<V>);
    } else {
      return make_definition(to_expression(value), target());
    }
  }
};

template <class Tensor, int N>
constexpr const expression<typename Tensor::element, N>& to_expression(const access<Tensor, N>& a) {
  return a;
}

/// What a message says of an operand: the tensor that is read, or else the element type.
template <class X>
struct told {
  using type = element_of<X>;
};
template <class Tensor, int N>
struct told<access<Tensor, N>> {
  using type = meta::shown<typename Tensor::name>;
};

/// True for what may index a tensor.
template <class X>
constexpr bool indexes() {
  using T = std::remove_cvref_t<X>;
  if constexpr (literal<T>)
    return std::is_integral_v<T> && !std::is_same_v<T, bool>;
  else if constexpr (operand<T>)
    return std::is_same_v<element_of<T>, index> || is_integer_element<element_of<T>>;
  else
    return false;
}

/// The load of Tensor at `at`, which are index expressions.
template <class Tensor, int... N>
constexpr auto make_access(border edge, const expression<index, N>&... at) {
  node n;
  n.kind = node_kind::load;
  n.edge = edge;
  n.tensor = &Tensor::info;
  return access<Tensor, (1 + ... + N)>(make_expression<typename Tensor::element>(n, at...));
}

template <class Tensor, class... Index>
constexpr auto read_at(border edge, const Index&... at) {
  if constexpr (sizeof...(Index) != Tensor::rank) {
    TILEWRIGHT_MISTAKE(has_one_index_per_dimension,
                       "tilewright: a tensor needs one index per dimension",
                       meta::shown<typename Tensor::name>, indices_given<sizeof...(Index)>,
                       rank_needed<Tensor::rank>);
  } else if constexpr (!(indexes<Index>() && ...)) {
    TILEWRIGHT_MISTAKE(is_an_index,
                       "tilewright: a tensor is indexed by axes, integer expressions and integers; "
                       "write cast<int>(x) where x is a float",
                       meta::shown<typename Tensor::name>);
  } else {
    return make_access<Tensor>(edge, as_expression<index>(at)...);
  }
}

/// A tensor read beyond its edge; see zero_outside.
template <class Tensor, border Edge>
struct bordered {
  template <class... Index>
  constexpr auto operator()(const Index&... at) const {
    if constexpr (Tensor::is_sparse)
      TILEWRIGHT_MISTAKE(is_dense,
                         "tilewright: a sparse tensor has no border to read beyond; read it as "
                         "A(i, k)",
                         meta::shown<typename Tensor::name>);
    // a copy of the base: what lies outside cannot be assigned
    const auto read = read_at<Tensor>(Edge, at...);
    return read.target();
  }
};

/// A sparse tensor read where it stores something; see where_stored.
template <class Tensor>
struct stored_elements {
  template <class... Index>
  constexpr auto operator()(const Index&... at) const {
    if constexpr (!Tensor::is_sparse)
      TILEWRIGHT_MISTAKE(is_stored_in_part,
                         "tilewright: where_stored(A) reads a tensor with a compressed dimension; "
                         "read a dense one as A(i, k)",
                         meta::shown<typename Tensor::name>);
    auto read = read_at<Tensor>(border::none, at...).target();
    read.nodes[read.length - 1].stored = stored_read::alone;  // the load stands behind its indices
    return read;
  }
};

/// A sparse tensor read anywhere; see looked_up.
template <class Tensor>
struct looked_up_elements {
  template <class... Index>
  constexpr auto operator()(const Index&... at) const {
    if constexpr (!Tensor::is_sparse)
      TILEWRIGHT_MISTAKE(
          is_stored_in_part,
          "tilewright: looked_up(A) reads a tensor with a compressed dimension; read "
          "a dense one as A(i, k)",
          meta::shown<typename Tensor::name>);
    auto read = read_at<Tensor>(border::none, at...).target();
    read.nodes[read.length - 1].stored = stored_read::looked_up;
    return read;
  }
};

/// The same expression, with its reads of sparse tensors as `how`.
template <class T, int N>
constexpr expression<T, N> with_reads(expression<T, N> e, stored_read how) {
  for (node& n : e.nodes)
    if (n.kind == node_kind::load && n.tensor->sparse() && n.stored == stored_read::walked)
      n.stored = how;
  return e;
}

/// Base of tensors of rank 0, which are operands themselves: `alpha` reads as alpha().
template <class Tensor, class T>
struct scalar_base {
  using tilewright_operand = void;
  constexpr auto read() const { return make_access<Tensor>(border::none).target(); }
  constexpr operator double() const {  // NOLINT: implicit, for std::exp(alpha)
    return no_value<meta::shown<typename Tensor::name>>();
  }
};
struct no_base {};

/// Whether dimensions are those of a sparse tensor: a dense one and one of some format; or a dense one and
/// compressed ones, of a tensor in compressed fibres; or a dense one, a ragged one and dense ones.
constexpr bool has_stored_form(const dim_info* dims, int rank) {
  if (rank < 2 || dims[0].compressed() || !dims[1].compressed()) return false;
  for (int d = 2; d < rank; ++d) {
    const bool fibres = dims[1].storage == dim_storage::compressed &&
                        dims[d].storage == dim_storage::compressed &&
                        dims[d].index_bits == dims[1].index_bits;
    const bool inner =
        (dims[1].storage == dim_storage::ragged || dims[1].storage == dim_storage::stored_like) &&
        !dims[d].compressed();
    if (!fibres && !inner) return false;
  }
  return true;
}

/// Whether a dimension before the last stored one says what is absent.
constexpr bool says_absent_before_last(const dim_info* dims, int rank) {
  bool later = false;
  for (int d = rank; d-- > 0;) {
    if (later && dims[d].absent != 0) return true;
    later = later || dims[d].compressed();
  }
  return false;
}

/// Parameter or temporary of a kernel. Dim: see meta/dim.hpp.
template <dsl::role Role, class Name, class T, class... Dim>
struct tensor : std::conditional_t<sizeof...(Dim) == 0,
                                   scalar_base<tensor<Role, Name, T, Dim...>, T>, no_base> {
  static_assert(
      dsl::element<T>,
      "tilewright: a tensor holds bool, 8 to 64 bit integers, float16, bfloat16, float or "
      "double");
  static_assert(meta::is_identifier(meta::text_of<Name>),
                "tilewright: the name of a tensor is an identifier");
  static_assert(sizeof...(Dim) <= 8, "tilewright: a tensor has at most 8 dimensions");
  using name = Name;
  using element = T;
  static constexpr dsl::role tensor_role = Role;
  static constexpr int rank = sizeof...(Dim);
  static constexpr dim_info dims[rank + 1] = {
      dim_info{Dim::text, Dim::extent, Dim::storage, Dim::index_bits, Dim::group, Dim::pattern,
               Dim::parts, Dim::absent}...,
      dim_info{}};
  static constexpr tensor_info info{meta::text_of<Name>, dtype_of<T>, Role, rank, dims};
  static constexpr bool is_sparse = ((Dim::storage != dim_storage::dense) || ...);
  /// How the elements of a sparse one are stored.
  static constexpr dim_storage storage = info.storage();
  /// The last dimension of which only some are.
  static constexpr dim_info stored_dim = dims[is_sparse ? info.stored_rank() - 1 : 0];
  /// Its elements are those that another tensor stores.
  static constexpr bool on_pattern = storage == dim_storage::stored_like;
  /// Arrays that a call hands over for it; on the pattern of another tensor its values.
  static constexpr int array_count = !is_sparse || on_pattern ? 1
                                     : storage == dim_storage::compressed && rank > 2
                                         ? 2 * rank - 1
                                         : matrix_arrays(storage, stored_dim.parts);

  constexpr tensor() {
    if constexpr (is_sparse && !on_pattern && Role != role::in) {
      TILEWRIGHT_MISTAKE(may_be_sparse,
                         "tilewright: a compressed dimension is for inputs; declare the tensor in, "
                         "or stored_like<\"N\", \"A\"> where an input A is stored",
                         meta::shown<Name>);
    } else if constexpr (on_pattern && Role == role::weight) {
      TILEWRIGHT_MISTAKE(may_be_sparse,
                         "tilewright: a weight is dense; declare a tensor on the pattern of "
                         "another one in, out, inout or temp",
                         meta::shown<Name>);
    } else if constexpr (is_sparse && !has_stored_form(dims, rank)) {
      TILEWRIGHT_MISTAKE(has_rows_before_compressed,
                         "tilewright: a compressed dimension stands after one dense dimension, "
                         "whose elements it belongs to; write in<\"A\", T, \"M\", "
                         "compressed<\"K\">>",
                         meta::shown<Name>);
    } else if constexpr (is_sparse && !has_element_value<T>(info.absent())) {
      TILEWRIGHT_MISTAKE(absent_is_an_element,
                         "tilewright: what absent_as<..> says is no value of the element type; an "
                         "infinity stands for its highest or lowest one",
                         meta::shown<Name>, T);
    } else if constexpr (is_sparse && says_absent_before_last(dims, rank)) {
      TILEWRIGHT_MISTAKE(counts_absent_at_last,
                         "tilewright: absent_as<..> stands around the last dimension of which only "
                         "some elements are stored",
                         meta::shown<Name>);
    }
  }

  template <class... Index>
  constexpr auto operator()(const Index&... at) const {
    return read_at<tensor>(border::none, at...);
  }
};

template <class T>
inline constexpr bool is_tensor = false;
template <dsl::role Role, class Name, class T, class... Dim>
inline constexpr bool is_tensor<tensor<Role, Name, T, Dim...>> = true;

template <dsl::role Role, fixed_string Name, class T, dim... D>
using tensor_named = tensor<Role, meta::to_name<Name>, canonical<T>, meta::to_dim<D>...>;

}  // namespace tilewright::dsl

namespace tilewright {

/// Parameter that a kernel reads: `in<"A", float, "M", 64> A`. Dimensions are names, bound at the
/// call and checked across arguments, or static extents. Without dimensions it is a scalar.
template <fixed_string Name, class T, dim... D>
using in = dsl::tensor_named<dsl::role::in, Name, T, D...>;
/// Parameter that a kernel writes in full; its content before the call is not read.
template <fixed_string Name, class T, dim... D>
using out = dsl::tensor_named<dsl::role::out, Name, T, D...>;
/// Parameter that a kernel updates in place.
template <fixed_string Name, class T, dim... D>
using inout = dsl::tensor_named<dsl::role::inout, Name, T, D...>;
/// Stage between definitions, owned by the kernel.
template <fixed_string Name, class T, dim... D>
using temp = dsl::tensor_named<dsl::role::temp, Name, T, D...>;
/// Parameter that stays the same over many calls; it may be bound once and packed.
template <fixed_string Name, class T, dim... D>
using weight = dsl::tensor_named<dsl::role::weight, Name, T, D...>;

/// Reads of `x` beyond its edge give zero.
template <class Tensor>
requires dsl::is_tensor<Tensor>
constexpr dsl::bordered<Tensor, dsl::border::zero> zero_outside(Tensor) { return {}; }
/// Reads of `x` beyond its edge give the nearest element.
template <class Tensor>
requires dsl::is_tensor<Tensor>
constexpr dsl::bordered<Tensor, dsl::border::clamp> clamp_outside(Tensor) { return {}; }
/// Reads of `x` beyond its edge are mirrored at the edge element, which is not repeated: -1
/// reads 1.
template <class Tensor>
requires dsl::is_tensor<Tensor>
constexpr dsl::bordered<Tensor, dsl::border::mirror> mirror_outside(Tensor) { return {}; }

/// Reductions over `where_stored(A)(i, k)` are over what is stored of row i alone: what is absent counts
/// for nothing, not as zero, so that they may be of any kind. `max<k>(where_stored(A)(i, k))` is the
/// largest stored element of the row.
template <class Tensor>
requires dsl::is_tensor<Tensor>
constexpr dsl::stored_elements<Tensor> where_stored(Tensor) { return {}; }

/// `looked_up(A)(i, k)` is an element of the compressed tensor A wherever it is read: it is searched for
/// among what row i stores, and zero, or what `absent_as` says, when it is not there. A reduction around it walks whatever else
/// says its extent; over k alone, all of k.
template <class Tensor>
requires dsl::is_tensor<Tensor>
constexpr dsl::looked_up_elements<Tensor> looked_up(Tensor) { return {}; }

/// A reduction of `intersect(x)` is over what all compressed tensors in x store: their rows are walked side
/// by side. `sum<k>(intersect(A(i, k) * B(j, k)))` is a product of two sparse rows. It may be of any kind.
template <dsl::operand X>
constexpr auto intersect(const X& x) {
  return dsl::with_reads(dsl::to_expression(x), dsl::stored_read::intersected);
}

/// A reduction of `unite(x)` is over what at least one compressed tensor in x stores; the others are zero
/// there, or what `absent_as` says. `sum<k>(unite(abs(A(i, k) - B(i, k))))` is a distance of two sparse rows.
template <dsl::operand X>
constexpr auto unite(const X& x) {
  return dsl::with_reads(dsl::to_expression(x), dsl::stored_read::united);
}

}  // namespace tilewright
