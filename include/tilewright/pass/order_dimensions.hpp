// Lays out allocated buffers the way vectors walk through them.
//
//   allocate P[16, 256]                               allocate P[256, 16]
//   for k in range(256):                        ->    for k in range(256):
//     for i in vectorized(16): P[i, k] = ...            for i in vectorized(16): P[k, i] = ...
//
// The dimension that most of the vectorized work moves along becomes the last one, where its
// elements lie side by side. Buffers that the function allocates have no other users; parameters,
// and buffers with strides of their own, stay as they are.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on a function without blocks.
ir::function order_dimensions(const ir::function& f);

}  // namespace tilewright::pass
