#pragma once

#include <limits>
#include <string>
#include <string_view>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail {

inline constexpr std::int64_t comparing_threads = 256, compared_by_thread = 16;

/// The type that the kernel sees: integers are equal where their bits are. Empty: none.
inline std::string_view compared_as(dtype type) {
  switch (type) {
    case dtype::f64: return "float64";
    case dtype::f32: return "float32";
    case dtype::f16: return "float16";
    case dtype::bf16: return "bfloat16";
    default: break;
  }
  if (is_float(type) || is_bit_integer(type)) return {};
  switch (bytes(type)) {
    case 1: return "int8";
    case 2: return "int16";
    case 4: return "int32";
    case 8: return "int64";
    default: return {};
  }
}

/// Whether an expected value and what came out differ, in the words of compare_outputs.
inline std::string difference_text(dtype type, non_finite kinds) {
  if (!is_float(type)) return "E[at] != X[at]";
  const std::string e = "T.cast(E[at], \"float64\")", x = "T.cast(X[at], \"float64\")";
  const bool alike = kinds == non_finite::alike;
  return "not (" + e + " == " + x + " or " + (alike ? "" : "T.isfinite(" + e + ") and ") +
         "T.abs(" + e + " - " + x + ") <= R[0] * T.max(T.abs(" + e + "), R[1])) and " +
         (alike ? "(T.isfinite(" + e + ") or T.isfinite(" + x + "))"
                : "not (T.isnan(" + e + ") and T.isnan(" + x + "))");
}

}  // namespace detail

TILEWRIGHT_INLINE bool has_comparison_kernel(dtype type, std::int64_t elements) {
  constexpr std::int64_t most =  // whose places are 32 bits wide, those beside the last part too
      std::numeric_limits<std::int32_t>::max() -
      detail::comparing_threads * detail::compared_by_thread;
  return !detail::compared_as(type).empty() && elements > 0 && elements <= most;
}

TILEWRIGHT_INLINE std::int64_t comparison_parts(std::int64_t elements) {
  constexpr std::int64_t part = detail::comparing_threads * detail::compared_by_thread;
  return (elements + part - 1) / part;
}

TILEWRIGHT_INLINE ir::function comparison_kernel(dtype type, std::int64_t elements,
                                                 non_finite kinds) {
  if (!has_comparison_kernel(type, elements))
    throw argument_error("comparison_kernel: " + std::to_string(elements) + " elements of " +
                         std::string(name(type)) +
                         " are compared on the host alone (requirement 1)");
  // neighbours are compared by neighbouring threads at the same time
  std::string text = R"script(@T.prim_func
def comparison(E: T.Buffer(({n},), "{type}"), X: T.Buffer(({n},), "{type}"), R: T.Buffer((2,), "float64"), N: T.Buffer(({parts},), "int64"), F: T.Buffer(({parts},), "int64")):
    for b in T.thread_binding({parts}, thread="blockIdx.x"):
        for s in T.unroll({steps}):
            for t in T.thread_binding({threads}, thread="threadIdx.x"):
                with T.block("differences"):
                    part = T.axis.spatial({parts}, b)
                    v = T.axis.reduce({part}, s * {threads} + t)
                    T.where(b * {part} + s * {threads} + t < {n})
                    T.block_attr({"tilewright.reducer": "T.comm_reducer(lambda n0, f0, n1, f1: (n0 + n1, T.min(f0, f1)), [T.int64(0), T.int64({n})])"})
                    with T.init():
                        N[part] = T.int64(0)
                        F[part] = T.int64({n})
                    differs: T.bool = {differs}
                    count: T.int64 = N[part] + T.Select(differs, T.int64(1), T.int64(0))
                    first: T.int64 = T.min(F[part], T.Select(differs, T.cast(at, "int64"), T.int64({n})))
                    N[part] = count
                    F[part] = first
)script";
  const auto put = [&](std::string_view mark, const std::string& what) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + what.size()))
      text.replace(at, mark.size(), what);
  };
  const std::int64_t part = detail::comparing_threads * detail::compared_by_thread;
  put("{differs}", detail::difference_text(type, kinds));
  put("[at]", "[part * {part} + v]");
  put("(at,", "(part * {part} + v,");
  put("{type}", std::string(detail::compared_as(type)));
  put("{parts}", std::to_string(comparison_parts(elements)));
  put("{part}", std::to_string(part));
  put("{steps}", std::to_string(detail::compared_by_thread));
  put("{threads}", std::to_string(detail::comparing_threads));
  put("{n}", std::to_string(elements));
  return ir::parse(text);
}

}  // namespace tilewright::search
