// Kernels made at run time, from attributes that no C++ type knows:
//
//     kernel_builder b("scale");
//     const auto X = b.in("X", dtype::f32, {"N", 64}), Y = b.out("Y", dtype::f32, {"N", 64});
//     const auto i = b.axis("i"), j = b.axis("j");
//     b.define(Y(i, j) = X(i, j) * factor);
//     any_kernel k = b.build();          // goes wherever a kernel goes: reify, tuned, ...
//
// A built kernel is checked as a lambda with captures is, and one of equal content has the same key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/runtime_expression.hpp>

namespace tilewright {
namespace dsl {

/// Definitions made at run time.
struct runtime_definitions {
  std::vector<node> nodes;
};

/// Definitions in program order; those of expression templates may stand among them.
template <class... D>
requires(std::is_same_v<D, runtime_definitions> || ...) runtime_definitions
    blocks(const D&... definition) {
  runtime_definitions out;
  const auto append = [&](const auto& d) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(d)>, runtime_definitions>)
      out.nodes.insert(out.nodes.end(), d.nodes.begin(), d.nodes.end());
    else
      out.nodes.insert(out.nodes.end(), d.nodes, d.nodes + d.length);
  };
  (append(definition), ...);
  return out;
}

/// A read of a tensor; assigning to it defines the tensor there.
class runtime_access : public runtime_expression {
 public:
  explicit runtime_access(runtime_expression e) : runtime_expression(std::move(e)) {}
  runtime_access(const runtime_access&) = default;

  /// @throws argument_error for an input, or a value of another element type
  runtime_definitions operator=(const runtime_expression& assigned) const;
  // Without this one `C(i, j) = A(i, j)` would copy the access.
  runtime_definitions operator=(const runtime_access& assigned) const {
    return *this = static_cast<const runtime_expression&>(assigned);
  }
};

/// @cond
inline void append_index(index_list& to, const index_list& some) {
  to.insert(to.end(), some.begin(), some.end());
}
inline void append_index(index_list& to, const runtime_expression& one) { to.push_back(one); }

template <class... Index>
index_list make_index_list(const Index&... at) {
  index_list out;
  (append_index(out, at), ...);
  return out;
}
/// @endcond

/// Parameter or temporary of a kernel under construction. Its description lives as long as the
/// builder and the kernels that it built.
class runtime_tensor {
 public:
  runtime_tensor(const tensor_info* info, border edge) : info_(info), edge_(edge) {}

  const tensor_info& info() const { return *info_; }
  int rank() const { return info_->rank; }
  /// Extent of a static dimension, 0 of a named one.
  std::int64_t extent(int d) const { return info_->dims[d].extent; }
  /// The tensor with reads beyond its edge as `edge` says.
  runtime_tensor outside(border edge) const { return {info_, edge}; }

  /// The element at indices: expressions, axes, integers, and lists of them.
  /// @throws argument_error naming the tensor when there are more or fewer than its rank
  template <class... Index>
  runtime_access operator()(const Index&... at) const {
    return read(make_index_list(at...));
  }

 private:
  runtime_access read(const index_list& at) const;

  const tensor_info* info_;
  border edge_;
};

inline runtime_tensor zero_outside(const runtime_tensor& x) { return x.outside(border::zero); }
inline runtime_tensor clamp_outside(const runtime_tensor& x) { return x.outside(border::clamp); }
inline runtime_tensor mirror_outside(const runtime_tensor& x) { return x.outside(border::mirror); }

/// A dimension: a name that the call binds, or an extent.
struct runtime_dim {
  std::string name;                                   // empty when static
  std::int64_t extent = 0;                            // elements; 0 when named
  runtime_dim(const char* n) : name(n) {}             // NOLINT
  runtime_dim(std::string n) : name(std::move(n)) {}  // NOLINT
  template <class T>
  requires std::is_integral_v<T> runtime_dim(T elements)
      : extent(static_cast<std::int64_t>(elements)) {}  // NOLINT
};

/// @cond
struct kernel_storage;
/// @endcond

}  // namespace dsl

/// Builds one kernel.
class kernel_builder {
 public:
  /// @throws argument_error when the name is no identifier
  explicit kernel_builder(std::string name);

  /// A parameter, in the order of the call, or a temporary.
  /// It requires: 1) a name that is an identifier; 2) an element type that machines compute with; 3)
  /// at most 8 dimensions; 4) positive static extents.
  /// @throws argument_error naming the tensor
  dsl::runtime_tensor tensor(dsl::role role, std::string name, dtype type,
                             const std::vector<dsl::runtime_dim>& dims);
  dsl::runtime_tensor in(std::string name, dtype type, const std::vector<dsl::runtime_dim>& dims) {
    return tensor(dsl::role::in, std::move(name), type, dims);
  }
  dsl::runtime_tensor out(std::string name, dtype type, const std::vector<dsl::runtime_dim>& dims) {
    return tensor(dsl::role::out, std::move(name), type, dims);
  }
  dsl::runtime_tensor inout(std::string name, dtype type,
                            const std::vector<dsl::runtime_dim>& dims) {
    return tensor(dsl::role::inout, std::move(name), type, dims);
  }
  dsl::runtime_tensor temp(std::string name, dtype type,
                           const std::vector<dsl::runtime_dim>& dims) {
    return tensor(dsl::role::temp, std::move(name), type, dims);
  }
  dsl::runtime_tensor weight(std::string name, dtype type,
                             const std::vector<dsl::runtime_dim>& dims) {
    return tensor(dsl::role::weight, std::move(name), type, dims);
  }

  /// An axis; with an extent it runs over that, whatever it indexes.
  dsl::runtime_expression axis(std::string_view name, std::int64_t extent = 0);
  /// The extent of a named dimension.
  dsl::runtime_expression extent(std::string_view name);

  /// Adds definitions after those that are there.
  void define(const dsl::runtime_definitions& d);
  /// A condition on extents that each call has to meet.
  void expects(const dsl::runtime_expression& condition);

  /// The kernel as it stands; the builder may go on.
  /// @throws argument_error that names kernel, tensor and axis for any mistake that the compiler
  /// would find in an expression template
  any_kernel build() const;

 private:
  std::string_view keep(std::string_view text);

  std::shared_ptr<dsl::kernel_storage> storage_;
  std::string name_;
  std::vector<const dsl::tensor_info*> params_;
  std::vector<dsl::node> nodes_;
};

}  // namespace tilewright
