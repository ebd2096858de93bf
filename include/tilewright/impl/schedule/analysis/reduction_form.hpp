// The normal form of a reduction's init and update, as rfactor and pad_einsum read it.
#pragma once

#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// `stores[i]` puts `updates[i]` where the init puts `identity[i]`; temporaries are substituted.
/// The order is that of the temporaries.
struct reduction_form {
  std::vector<const ir::store_node*> stores;  // alive as long as the block
  std::vector<ir::expr> updates;
  std::vector<ir::expr> identity;
};

/// Takes a reduction block apart.
/// @returns what is not in normal form, a clause with its number; empty when all is. The numbers:
///  1 the init is no store and no sequence of stores; 2 the init stores one buffer twice;
///  3 the update is no store, no sequence of lets and stores; 4 the numbers of init stores and
///  updates differ; 5 a store's value is none of the temporaries; 6 a temporary is stored twice;
///  7 the number of temporaries differs from that of the stores; 8 two stores to one buffer;
///  9 shapes differ; 10 indices differ; 11 init and update store different buffers;
///  12 a temporary depends on another one; 13 the block has buffers of its own
std::string find_reduction_form(const ir::block_node& b, reduction_form& out);

}  // namespace tilewright::primitive
