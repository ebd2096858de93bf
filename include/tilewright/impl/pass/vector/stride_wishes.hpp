// What blocks ask of the strides of buffers (`storage_align`), from the passes that take the blocks
// away to the one that lays the buffers out.
//
// A wish travels as a remark around what the allocation holds; whoever decides the shape takes it
// off and follows it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/ir/visit.hpp>

namespace tilewright::pass::detail {

/// `stride[axis] = k * factor + offset` for some k.
struct stride_wish {
  std::int64_t axis = 0, factor = 1, offset = 0;
};
using stride_wishes = std::unordered_map<ir::buffer, std::vector<stride_wish>>;

/// The annotation that asks, and the key of the remark.
inline constexpr const char* stride_note = "buffer_dim_align";

inline void collect_wishes(const ir::block_node& b, stride_wishes& to) {
  const auto note = b.annotations.find(stride_note);
  if (note == b.annotations.end()) return;
  const auto* list = std::get_if<ir::attr::list>(&note->second.value);
  if (!list) return;
  for (const ir::attr& entry : *list) {
    const auto* four = std::get_if<ir::attr::list>(&entry.value);
    if (!four || four->size() != 4) continue;
    std::vector<std::int64_t> n;
    for (const ir::attr& item : *four)
      if (const auto* value = std::get_if<std::int64_t>(&item.value)) n.push_back(*value);
    if (n.size() != 4 || n[0] < 0 || n[0] >= static_cast<std::int64_t>(b.writes.size())) continue;
    const ir::buffer& x = b.writes[static_cast<std::size_t>(n[0])].buffer;
    if (n[1] >= 0 && n[1] < static_cast<std::int64_t>(x->shape.size()) && n[2] > 0)
      to[x].push_back({n[1], n[2], n[3]});
  }
}

inline ir::stmt with_wishes(const ir::buffer& b, const std::vector<stride_wish>& list,
                            ir::stmt body) {
  for (const stride_wish& w : list)
    body = ir::make_attribute(
        ir::data(b), stride_note,
        ir::call(dtype::i64, stride_note,
                 {ir::integer(dtype::i64, w.axis), ir::integer(dtype::i64, w.factor),
                  ir::integer(dtype::i64, w.offset)}),
        std::move(body));
  return body;
}

/// Takes the remarks off the body of an allocation.
inline std::vector<stride_wish> take_wishes(ir::stmt& body) {
  std::vector<stride_wish> out;
  for (const ir::attribute_node* a = ir::as_attribute(body); a && a->key == stride_note;
       a = ir::as_attribute(body)) {
    const std::vector<ir::expr>& n = a->value->args;
    out.push_back({n[0]->integer, n[1]->integer, n[2]->integer});
    body = ir::stmt(a->body);
  }
  return out;
}

/// The smallest strides that follow the wishes; none where the dense layout does, or where an
/// extent that counts is no constant.
inline std::vector<ir::expr> wished_strides(const std::vector<ir::expr>& shape,
                                            const std::vector<stride_wish>& list) {
  std::vector<ir::expr> out(shape.size());
  std::int64_t stride = 1, dense = 1;
  bool wider = false;
  for (std::size_t d = shape.size(); d-- > 0;) {
    for (const stride_wish& w : list) {
      if (w.axis != static_cast<std::int64_t>(d)) continue;
      const std::int64_t short_of = (w.offset - stride) % w.factor;
      stride += short_of < 0 ? short_of + w.factor : short_of;
    }
    out[d] = ir::integer(shape[d].type(), stride);
    wider = wider || stride != dense;
    if (d == 0) break;
    if (!ir::is_int(shape[d])) return {};
    stride *= ir::as_int(shape[d]);
    dense *= ir::as_int(shape[d]);
  }
  return wider ? out : std::vector<ir::expr>{};
}

}  // namespace tilewright::pass::detail
