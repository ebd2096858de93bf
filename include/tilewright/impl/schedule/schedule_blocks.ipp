// The members of `schedule` that make and take apart blocks.
#pragma once

#include <tilewright/impl/schedule/trace/member_kinds.hpp>
#include <tilewright/schedule/primitive/padding/decompose_padding.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright {

TILEWRIGHT_INLINE block_rv schedule::rfactor(loop_rv loop, int factor_axis) {
  return {apply(detail::named<"rfactor">, {rv(loop), std::int64_t{factor_axis}})[0].number};
}

TILEWRIGHT_INLINE void schedule::fuse_reduction_epilogue(block_rv reduction, block_rv epilogue) {
  apply(detail::named<"fuse_reduction_epilogue">, {rv(reduction), rv(epilogue)});
}

TILEWRIGHT_INLINE void schedule::pad_einsum(block_rv block, std::vector<std::int64_t> padding) {
  apply(detail::named<"pad_einsum">, {rv(block), std::move(padding)});
}

TILEWRIGHT_INLINE void schedule::rolling_buffer(block_rv block, int write_buffer_index) {
  apply(detail::named<"rolling_buffer">, {rv(block), std::int64_t{write_buffer_index}});
}

TILEWRIGHT_INLINE block_rv schedule::blockize(loop_rv loop, bool preserve_unit_iters) {
  return {apply(detail::named<"blockize">, {rv(loop), preserve_unit_iters})[0].number};
}
TILEWRIGHT_INLINE block_rv schedule::blockize(const std::vector<block_rv>& blocks,
                                              bool preserve_unit_iters) {
  const std::vector<rv> list(blocks.begin(), blocks.end());
  return {apply(detail::named<"blockize">, {list, preserve_unit_iters})[0].number};
}
TILEWRIGHT_INLINE void schedule::tensorize(loop_rv loop, std::string intrinsic,
                                           bool preserve_unit_iters) {
  apply(detail::named<"tensorize">, {rv(loop), std::move(intrinsic), preserve_unit_iters});
}
TILEWRIGHT_INLINE void schedule::tensorize(block_rv block, std::string intrinsic) {
  apply(detail::named<"tensorize">, {rv(block), std::move(intrinsic), true});
}

TILEWRIGHT_INLINE block_rv schedule::decompose_padding(block_rv block, loop_rv loop) {
  return {apply(detail::named<"decompose_padding">, {rv(block), rv(loop)})[0].number};
}
TILEWRIGHT_INLINE bool schedule::can_decompose_padding(block_rv block, loop_rv loop) const {
  return primitive::can_decompose_padding(state_.function, state_.block(block), state_.loop(loop));
}

}  // namespace tilewright
