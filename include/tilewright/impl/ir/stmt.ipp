#pragma once

#include <atomic>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE attr::attr() : value(std::int64_t{0}) {}
TILEWRIGHT_INLINE attr::attr(int v) : value(std::int64_t{v}) {}
TILEWRIGHT_INLINE attr::attr(std::int64_t v) : value(v) {}
TILEWRIGHT_INLINE attr::attr(double v) : value(v) {}
TILEWRIGHT_INLINE attr::attr(const char* v) : value(std::string(v)) {}
TILEWRIGHT_INLINE attr::attr(std::string v) : value(std::move(v)) {}
TILEWRIGHT_INLINE attr::attr(list v) : value(std::move(v)) {}
TILEWRIGHT_INLINE attr::attr(dict v) : value(std::move(v)) {}
TILEWRIGHT_INLINE attr::attr(const attr&) = default;
TILEWRIGHT_INLINE attr::attr(attr&&) noexcept = default;
TILEWRIGHT_INLINE attr& attr::operator=(const attr&) = default;
TILEWRIGHT_INLINE attr& attr::operator=(attr&&) noexcept = default;
TILEWRIGHT_INLINE attr::~attr() = default;
TILEWRIGHT_INLINE bool operator==(const attr& a, const attr& b) { return a.value == b.value; }

TILEWRIGHT_INLINE stmt make_loop(var v, expr min, expr extent, stmt body, loop_kind kind,
                                 annotations notes, std::string thread_tag) {
  auto* node = new loop_node;
  node->var = std::move(v);
  node->min = std::move(min);
  node->extent = std::move(extent);
  node->body = std::move(body);
  node->loop = kind;
  node->annotations = std::move(notes);
  node->thread_tag = std::move(thread_tag);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt with_body(const loop_node& like, stmt body) {
  auto* node = new loop_node;  // paths are rebuilt often: the body that goes is not even counted
  stmt out(node);
  node->var = like.var;
  node->min = like.min;
  node->extent = like.extent;
  node->loop = like.loop;
  // most loops have neither, and assigning nothing has its price
  if (!like.thread_tag.empty()) node->thread_tag = like.thread_tag;
  if (!like.annotations.empty()) node->annotations = like.annotations;
  node->body = std::move(body);
  return out;
}

TILEWRIGHT_INLINE stmt make_realize(std::vector<expr> values, expr predicate, block b) {
  if (values.size() != b->iters.size())
    throw internal_error("block " + b->name + " has " + std::to_string(b->iters.size()) +
                         " iteration variables, bound to " + std::to_string(values.size()) +
                         " values");
  auto* node = new block_realize_node;
  node->values = std::move(values);
  node->predicate = std::move(predicate);
  node->block = std::move(b);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt make_seq(std::vector<stmt> stmts) {
  auto* node = new seq_node;
  stmt owner(node);
  node->stmts.reserve(stmts.size());
  for (stmt& s : stmts) {
    if (!s) continue;
    if (const seq_node* inner = as_seq(s))
      node->stmts.insert(node->stmts.end(), inner->stmts.begin(), inner->stmts.end());
    else
      node->stmts.push_back(std::move(s));
  }
  if (node->stmts.size() == 1) return node->stmts.front();
  return owner;
}

TILEWRIGHT_INLINE stmt make_store(buffer to, std::vector<expr> indices, expr value) {
  if (indices.size() != to->shape.size())
    throw internal_error("store to " + to->name + " with " + std::to_string(indices.size()) +
                         " indices; its rank is " + std::to_string(to->shape.size()));
  if (value.type() != access_type(to, indices))
    throw internal_error("store of " + std::string(name(value.type())) + " to " + to->name +
                         " of " + std::string(name(to->type)));
  auto* node = new store_node;
  node->buffer = std::move(to);
  node->indices = std::move(indices);
  node->value = std::move(value);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt make_if(expr condition, stmt then_body, stmt else_body) {
  auto* node = new if_node;
  node->condition = std::move(condition);
  node->then_body = std::move(then_body);
  node->else_body = std::move(else_body);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt make_let(var v, expr value, stmt body) {
  auto* node = new let_node;
  node->var = std::move(v);
  node->value = std::move(value);
  node->body = std::move(body);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt make_evaluate(expr value) {
  auto* node = new evaluate_node;
  node->value = std::move(value);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt make_allocate(buffer b, stmt body) {
  auto* node = new allocate_node;
  node->buffer = std::move(b);
  node->body = std::move(body);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt make_while(expr condition, stmt body) {
  auto* node = new while_node;
  node->condition = std::move(condition);
  node->body = std::move(body);
  return stmt(node);
}

TILEWRIGHT_INLINE stmt make_attribute(expr about, std::string key, expr value, stmt body) {
  auto* node = new attribute_node;
  node->node = std::move(about);
  node->key = std::move(key);
  node->value = std::move(value);
  node->body = std::move(body);
  return stmt(node);
}

TILEWRIGHT_INLINE std::uint64_t fresh_block_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

TILEWRIGHT_INLINE block make_block(block_node node) {
  if (node.id == 0) node.id = fresh_block_id();
  return block(new block_node(std::move(node)));
}

TILEWRIGHT_INLINE stmt make_root(stmt body, std::vector<buffer> alloc_buffers) {
  block_node root;
  root.name = "root";
  root.body = std::move(body);
  root.alloc_buffers = std::move(alloc_buffers);
  return make_realize({}, boolean(true), make_block(std::move(root)));
}

TILEWRIGHT_INLINE const block& root_block(const function& f) {
  const block_realize_node* realize = as_realize(f.body);
  if (!realize)
    throw internal_error("the body of function " + f.name + " is not the realize of a root block");
  return realize->block;
}

TILEWRIGHT_INLINE std::vector<range> point_box(const std::vector<expr>& indices) {
  std::vector<range> box;
  box.reserve(indices.size());
  for (const expr& i : indices) box.push_back({i, integer(i.type(), 1)});
  return box;
}

TILEWRIGHT_INLINE buffer_region full_region(const buffer& b) {
  buffer_region region{b, {}};
  region.box.reserve(b->shape.size());
  for (const expr& e : b->shape) region.box.push_back({integer(e.type(), 0), e});
  return region;
}

}  // namespace tilewright::ir
