// Expressions as CUDA C++.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::backend::cuda::detail {

/// What C++ calls an element in memory.
std::string stored_type(dtype t);
/// What C++ calls a value: f16 and bf16 are computed in float.
std::string held_type(dtype t);

/// A loop whose iterations are the lanes of vector accesses, while its body is printed.
struct vector_lanes {
  ir::var lane;
  std::unordered_map<const ir::expr_node*, std::string>
      loaded;  // loads and the vectors that hold them
};

/// A tensor of which a kernel copies boxes, and what its map is called.
struct named_map {
  ir::buffer tensor;
  std::vector<std::int64_t> sides;  // of a box, outermost first, and the bytes of its swizzle
  std::string name;
};

/// Prints expressions in terms of names, with what is known about the variables.
class expression_text {
 public:
  std::string print(const ir::expr& e) const { return print(e, 0); }
  /// A value as an element of memory of that type.
  std::string stored(const ir::expr& value, dtype element) const;
  /// Position of an element, counted from the buffer's data pointer.
  ir::expr position(const ir::buffer& b, const std::vector<ir::expr>& indices) const;

  const std::string& name(const ir::expr& v) const;
  const std::string& name(const ir::buffer& b) const;
  std::string fresh(std::string_view wanted);

  std::unordered_map<const ir::expr_node*, std::string> variables;
  std::unordered_map<const ir::buffer_node*, std::string> buffers;
  std::vector<named_map> maps;
  arith::analyzer known;
  const vector_lanes* lanes = nullptr;

 private:
  std::string print(const ir::expr& e, int around) const;
  std::string literal(const ir::expr& e) const;
  std::string binary(const ir::expr& e, int around) const;
  std::string division(const ir::expr& e, int around) const;
  std::string load(const ir::expr& e) const;
  std::string element(const ir::expr& load) const;
  std::string cast(const ir::expr& e, int around) const;
  std::string narrowed(const ir::expr& e) const;
  std::string call(const ir::expr& e) const;
  std::string call_on_pieces(const ir::expr& e) const;
  std::string call_on_tensors(const ir::expr& e) const;
  void check_row(const ir::expr& first, const ir::expr& at) const;

  std::unordered_map<std::string, int> used_;
};

}  // namespace tilewright::backend::cuda::detail
