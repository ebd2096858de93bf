// Calls that only a machine or a library understands: their names, and how their types are written.
//
// Such a call is a node of op::call whose name starts with "tir."; a T.call_extern keeps the bare
// name of the function.
#pragma once

#include <array>
#include <string_view>

#include <tilewright/ir/expr.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir::detail {

inline constexpr std::string_view opaque_prefix = "tir.";

/// T.comm_reducer(lambda x0, ..., y0, ...: (r0, ...), [i0, ...]) is a call with the arguments r0,
/// ..., i0, ...; parameter k of the lambda is the call of `reducer_parameter` with the literal k.
/// @{
inline constexpr std::string_view reducer_call = "tir.comm_reducer";
inline constexpr std::string_view reducer_parameter = "tir.reducer_parameter";
bool is_reducer(const expr& call);  // comm_reducer.ipp
/// @}

/// What T has besides arithmetic; families of instructions are known by their beginning.
inline constexpr std::array<std::string_view, 65> opaque_names{"Assert",
                                                               "Broadcast",
                                                               "Call",
                                                               "Range",
                                                               "Ramp",
                                                               "Shuffle",
                                                               "TVMBackendAllocWorkspace",
                                                               "TVMBackendFreeWorkspace",
                                                               "address_of",
                                                               "anylist_getitem",
                                                               "anylist_resetitem",
                                                               "anylist_setitem_call_cpacked",
                                                               "anylist_setitem_call_packed",
                                                               "assume",
                                                               "break_loop",
                                                               "call_cpacked",
                                                               "call_cpacked_lowered",
                                                               "call_llvm_intrin",
                                                               "call_llvm_pure_intrin",
                                                               "call_packed",
                                                               "call_packed_lowered",
                                                               "call_spirv_pure_glsl450",
                                                               "comm_reducer",
                                                               "continue_loop",
                                                               "create_barriers",
                                                               "dp4a",
                                                               "end_profile_intrinsic",
                                                               "get_active_lane_mask",
                                                               "handle_add_byte_offset",
                                                               "ignore_loop_partition",
                                                               "isnullptr",
                                                               "iter_var",
                                                               "llvm_lookup_intrinsic_id",
                                                               "lookup_param",
                                                               "make_filled_simdgroup_matrix",
                                                               "masked_load",
                                                               "masked_store",
                                                               "mem_copy",
                                                               "mma_fill",
                                                               "mma_fill_legacy",
                                                               "mma_store",
                                                               "mma_store_legacy",
                                                               "q_multiply_shift",
                                                               "q_multiply_shift_per_axis",
                                                               "ret",
                                                               "simdgroup_load",
                                                               "simdgroup_multiply_accumulate",
                                                               "simdgroup_store",
                                                               "start_profile_intrinsic",
                                                               "static_assert",
                                                               "texture2d_load",
                                                               "texture2d_store",
                                                               "thread_return",
                                                               "type_annotation",
                                                               "undef",
                                                               "vectorcombine",
                                                               "vectorhigh",
                                                               "vectorlow",
                                                               "vscale",
                                                               "wait_barrier",
                                                               "prefetch",
                                                               "Return",
                                                               "Break",
                                                               "Continue",
                                                               "ptr_byte_offset"};
inline constexpr std::array<std::string_view, 12> opaque_families{
    "tvm_",  "ptx_",   "mma_",    "dma_",    "cooperative_tensor_", "cuda_", "hexagon_", "ptx.",
    "cuda.", "metal.", "webgpu.", "nvshmem."};

inline bool is_opaque_name(std::string_view name) {
  const auto starts = [&](std::string_view family) {
    return name.substr(0, family.size()) == family;
  };
  return support::contains(opaque_names, name) || support::any(opaque_families, starts);
}

/// The items of a tuple among the arguments of a call; what is no tuple stands for itself.
inline std::vector<expr> tuple_items(const expr& e) {
  if (e->op == op::call && e->name == "tir.tvm_tuple") return e->args;
  return {e};
}

/// Of T.Shuffle([vectors], [places]): as many lanes as places.
inline dtype shuffled_type(const std::vector<expr>& args) {
  if (args.size() != 2) return dtype::handle;
  const std::vector<expr> vectors = tuple_items(args[0]), places = tuple_items(args[1]);
  if (vectors.empty() || places.empty() || vectors[0].type() == dtype::handle) return dtype::handle;
  return vector_type(vectors[0].type(), static_cast<int>(places.size()));
}

/// What `T.name(args)` gives when the call does not begin with a type.
inline dtype implied_type(std::string_view name, const std::vector<expr>& args) {
  if (name == "vscale" || name == "dp4a") return dtype::i32;
  if (name == "tvm_warp_activemask") return dtype::u32;
  if (name.substr(0, 16) == "tvm_warp_shuffle" && args.size() > 1) return args[1].type();
  if (name == "isnullptr" || name == "assume" || name == "Assert") return dtype::boolean;
  if (name == "Shuffle") return shuffled_type(args);
  const bool follows = name == "q_multiply_shift" || name == "q_multiply_shift_per_axis" ||
                       name == "tvm_thread_invariant" || name == "ret";
  return follows && !args.empty() ? args[0].type() : dtype::handle;
}

}  // namespace tilewright::ir::detail
