// The members of `schedule` that make and take apart blocks.
#pragma once

#include <tilewright/impl/schedule/trace/member_kinds.hpp>
#include <tilewright/schedule/primitive/padding/decompose_padding.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright {

TILEWRIGHT_INLINE block_rv schedule::rfactor(loop_rv loop, int factor_axis) {
  static constinit detail::named_kind kind("rfactor");
  return {apply(kind, {rv(loop), std::int64_t{factor_axis}})[0].number};
}

TILEWRIGHT_INLINE void schedule::fuse_reduction_epilogue(block_rv reduction, block_rv epilogue) {
  static constinit detail::named_kind kind("fuse_reduction_epilogue");
  apply(kind, {rv(reduction), rv(epilogue)});
}

TILEWRIGHT_INLINE void schedule::pad_einsum(block_rv block, std::vector<std::int64_t> padding) {
  static constinit detail::named_kind kind("pad_einsum");
  apply(kind, {rv(block), std::move(padding)});
}

TILEWRIGHT_INLINE void schedule::rolling_buffer(block_rv block, int write_buffer_index) {
  static constinit detail::named_kind kind("rolling_buffer");
  apply(kind, {rv(block), std::int64_t{write_buffer_index}});
}

TILEWRIGHT_INLINE block_rv schedule::blockize(loop_rv loop, bool preserve_unit_iters) {
  static constinit detail::named_kind kind("blockize");
  return {apply(kind, {rv(loop), preserve_unit_iters})[0].number};
}
TILEWRIGHT_INLINE block_rv schedule::blockize(const std::vector<block_rv>& blocks,
                                              bool preserve_unit_iters) {
  static constinit detail::named_kind kind("blockize");
  const std::vector<rv> list(blocks.begin(), blocks.end());
  return {apply(kind, {list, preserve_unit_iters})[0].number};
}
TILEWRIGHT_INLINE void schedule::tensorize(loop_rv loop, std::string intrinsic,
                                           bool preserve_unit_iters) {
  static constinit detail::named_kind kind("tensorize");
  apply(kind, {rv(loop), std::move(intrinsic), preserve_unit_iters});
}
TILEWRIGHT_INLINE void schedule::tensorize(block_rv block, std::string intrinsic) {
  static constinit detail::named_kind kind("tensorize");
  apply(kind, {rv(block), std::move(intrinsic), true});
}

TILEWRIGHT_INLINE block_rv schedule::decompose_padding(block_rv block, loop_rv loop) {
  static constinit detail::named_kind kind("decompose_padding");
  return {apply(kind, {rv(block), rv(loop)})[0].number};
}
TILEWRIGHT_INLINE bool schedule::can_decompose_padding(block_rv block, loop_rv loop) const {
  return primitive::can_decompose_padding(state_.function, state_.block(block), state_.loop(loop));
}

}  // namespace tilewright
