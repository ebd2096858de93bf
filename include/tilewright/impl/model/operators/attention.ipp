#pragma once

#include <cmath>
#include <limits>

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/impl/model/operators/heads.hpp>
#include <tilewright/model/operators.hpp>

// Attention: both products, scale, cap, masks and softmax as the blocks of one kernel.
namespace tilewright::network {
namespace detail {

/// What the inputs of a node say in numbers.
struct attention_spec {
  head_spec q, k, v;
  std::int64_t batch;
  std::int64_t past;  // positions of the cache
  std::int64_t keys() const { return past + k.positions; }
};

inline attention_spec attention_of(const node_view& n) {
  const std::int64_t heads = n.what().integer("q_num_heads", 0);
  const std::int64_t groups = n.what().integer("kv_num_heads", 0);
  attention_spec s{heads_of(n, 0, heads, "q_num_heads"), heads_of(n, 1, groups, "kv_num_heads"),
                   heads_of(n, 2, groups, "kv_num_heads"), n.in(0).extents[0], 0};
  if (s.k.heads < 1 || s.q.heads % s.k.heads != 0 || s.v.heads != s.k.heads ||
      s.q.size != s.k.size || s.v.positions != s.k.positions || n.in(1).extents[0] != s.batch ||
      n.in(2).extents[0] != s.batch)
    n.fail("queries " + text_of(n.in(0).extents) + ", keys " + text_of(n.in(1).extents) +
           " and values " + text_of(n.in(2).extents) + " do not go together");
  if (n.what().has_input(4) != n.what().has_input(5))
    n.fail("it needs both past_key and past_value, or none");
  if (n.what().has_input(4)) {
    const shape& key = n.in(4).extents;
    s.past = key.size() == 4 ? key[2] : -1;
    if (key != shape{s.batch, s.k.heads, s.past, s.k.size} ||
        n.in(5).extents != shape{s.batch, s.v.heads, s.past, s.v.size})
      n.fail("its caches have the shapes " + text_of(key) + " and " + text_of(n.in(5).extents));
  }
  return s;
}

inline void infer_attention(inference& n) {
  need_float(n);
  const attention_spec s = attention_of(n);
  const dtype t = n.in(0).type, tv = n.in(2).type;
  if (n.what().has_input(3)) {
    const shape& mask = n.in(3).extents;
    shape whole{s.batch, s.q.heads, s.q.positions, s.keys()};
    if (!mask.empty() && mask.back() < s.keys() && mask.back() > 1) whole.back() = mask.back();
    if (broadcast(n, mask, whole) != whole)
      n.fail("its mask has the shape " + text_of(mask) + ", which is no part of " + text_of(whole));
  }
  if (n.what().has_input(6) && n.in(6).extents != shape{s.batch})
    n.fail("nonpad_kv_seqlen needs one number for each of " + std::to_string(s.batch));
  if (s.q.is_flat)
    n.out(0, {t, {s.batch, s.q.positions, s.q.heads * s.v.size}});
  else
    n.out(0, {t, {s.batch, s.q.heads, s.q.positions, s.v.size}});
  n.out(1, {n.in(1).type, {s.batch, s.k.heads, s.keys(), s.k.size}});
  n.out(2, {tv, {s.batch, s.v.heads, s.keys(), s.v.size}});
  n.out(3, {t, {s.batch, s.q.heads, s.q.positions, s.keys()}});
}

/// Keys or values with those of the cache before them, as [batch, heads, positions, size].
inline element_function with_past(emission& e, const head_spec& now, std::int64_t past,
                                  std::size_t input, std::size_t cache, const char* role,
                                  std::size_t output) {
  if (past == 0) {
    const dsl::runtime_tensor x = e.tensor(input, role);
    const element_function at = [=](const dsl::index_list& i) -> runtime_expression {
      return x(now.at(i[0], i[1], i[2], i[3]));
    };
    e.out(output, at);
    return at;
  }
  const reader x = e.in(input, role), before = e.in(cache, "past");
  const shape all{x.type.extents[0], now.heads, past + now.positions, now.size};
  const dsl::runtime_tensor whole =
      e.what().has_output(output) ? e.store(output) : e.temp("present", x.type.type, all);
  const dsl::index_list c = e.axes("c", before.type.extents);
  e.define(whole(c) = before.at(c));
  const dsl::index_list i = e.axes("n", {all[0], now.heads, now.positions, now.size});
  e.define(whole(i[0], i[1], i[2] + past, i[3]) = x.at(now.at(i[0], i[1], i[2], i[3])));
  return [=](const dsl::index_list& at) -> runtime_expression { return whole(at); };
}

/// What is added to a score before softmax, 0 or -infinity where nothing else is said.
class attention_bias {
 public:
  attention_bias(emission& e, const attention_spec& s, dtype wide) : spec_(s), wide_(wide) {
    if (e.what().has_input(3)) {
      mask_ = e.tensor(3, "mask");
      mask_type_ = e.in(3, "mask").type;
    }
    if (e.what().has_input(6)) used_ = e.in(6, "used");
    causal_ = e.what().integer("is_causal", 0) != 0;
    left_ = e.what().integer("left_window_size", -1);
    right_ = e.what().integer("right_window_size", -1);
  }

  bool is_there() const { return mask_ || used_ || causal_ || left_ >= 0 || right_ >= 0; }

  /// @param at batch, head, query, key
  runtime_expression operator()(const dsl::index_list& at) const {
    const runtime_expression zero = dsl::runtime_literal(wide_, 0);
    const runtime_expression never =
        dsl::runtime_literal(wide_, -std::numeric_limits<double>::infinity());
    const runtime_expression &i = at[2], &j = at[3];
    std::optional<runtime_expression> allowed;
    const auto need = [&](const runtime_expression& condition) {
      allowed = allowed ? *allowed & condition : condition;
    };
    // position of the query among the keys
    const runtime_expression here =
        used_ && spec_.past == 0
            ? cast(i, dtype::i64) + cast((*used_)(at[0]), dtype::i64) - spec_.q.positions
            : cast(i, dtype::i64) + spec_.past;
    const runtime_expression key = cast(j, dtype::i64);
    if (causal_) need(key <= here);
    if (left_ >= 0) need(here - key <= left_);
    if (right_ >= 0) need(key - here <= right_);
    if (used_) need(key < cast((*used_)(at[0]), dtype::i64));
    runtime_expression out = zero;
    if (mask_) {
      const runtime_expression m = masked(at);
      out = mask_type_.type == dtype::boolean ? select(m, zero, never) : cast(m, wide_);
      const std::int64_t extent = mask_type_.extents.back();
      if (extent != 1 && extent < spec_.keys()) need(j < extent);
    }
    return allowed ? select(*allowed, out, never) : out;
  }

 private:
  runtime_expression masked(const dsl::index_list& at) const {
    const shape& s = mask_type_.extents;
    dsl::index_list own;
    for (std::size_t d = 0; d < s.size(); ++d)
      own.push_back(s[d] == 1 ? runtime_expression(0) : at[d + 4 - s.size()]);
    if (s.back() != 1 && s.back() < spec_.keys()) own.back() = own.back() % s.back();
    return (*mask_)(own);
  }

  attention_spec spec_;
  dtype wide_;
  std::optional<dsl::runtime_tensor> mask_;
  tensor_type mask_type_;
  std::optional<reader> used_;  // keys of each batch
  bool causal_ = false;
  std::int64_t left_ = -1, right_ = -1;
};

inline void emit_attention(emission& e) {
  const attention_spec s = attention_of(e);
  const dsl::runtime_tensor q = e.tensor(0, "Q");
  const dtype t = e.in(0, "Q").type.type;
  const std::int64_t precision = e.what().integer("softmax_precision", 0);
  const dtype wide = precision == 11 ? dtype::f64 : sum_type(t);
  const cast_to_type to{wide};
  const element_function key = with_past(e, s.k, s.past, 1, 4, "K", 1);
  const element_function content = with_past(e, s.v, s.past, 2, 5, "V", 2);
  const double scale = e.what().real("scale", 1 / std::sqrt(static_cast<double>(s.q.size)));
  const double cap = e.what().real("softcap", 0);
  const std::int64_t share = s.q.heads / s.k.heads;
  const auto group = [share](const runtime_expression& h) { return share == 1 ? h : h / share; };

  const shape rows{s.batch, s.q.heads, s.q.positions};
  const shape all{s.batch, s.q.heads, s.q.positions, s.keys()};
  const dsl::index_list at = e.axes("i", all), row(at.begin(), at.end() - 1);
  const auto d = e.axis("d", s.q.size), j = e.axis("j", s.keys());
  const dsl::runtime_tensor score = e.temp("score", wide, all);
  const runtime_expression product =
      to(q(s.q.at(at[0], at[1], at[2], d))) * to(key({at[0], group(at[1]), at[3], d}));
  e.define(score(at) = reduce(dsl::reduction::sum, {d}, product));
  const attention_bias bias(e, s, wide);
  const auto capped = [=](const dsl::index_list& i) -> runtime_expression {
    const runtime_expression scaled = score(i) * scale;
    return cap > 0 ? tanh(scaled / cap) * cap : scaled;
  };
  const auto biased = [=](const dsl::index_list& i) {
    return bias.is_there() ? capped(i) + bias(i) : capped(i);
  };
  const dsl::runtime_tensor logit = e.temp("logit", wide, all);
  const dsl::runtime_tensor peak = e.temp("peak", wide, rows), total = e.temp("total", wide, rows);
  const dsl::runtime_tensor exponential = e.temp("e", wide, all);
  e.define(logit(at) = biased(at));
  e.define(peak(row) = reduce(dsl::reduction::max, {j}, logit(row, j)));
  // a row whose keys are all masked has the weights 0
  const double infinity = std::numeric_limits<double>::infinity();
  const runtime_expression top = peak(row);
  const runtime_expression safe = bias.is_there() ? select(top == -infinity, 0.0 * 0, top) : top;
  e.define(exponential(at) = exp(logit(at) - safe));
  e.define(total(row) = reduce(dsl::reduction::sum, {j}, exponential(row, j)));
  const auto weight = [=](const dsl::index_list& r, const runtime_expression& k) {
    const runtime_expression sum = total(r);
    if (!bias.is_there()) return exponential(r, k) / sum;
    return exponential(r, k) / select(sum == 0.0, 1.0, sum);
  };
  const dsl::index_list i = e.axes("y", {s.batch, s.q.heads, s.q.positions, s.v.size});
  const dsl::index_list of{i[0], i[1], i[2]};
  const dsl::runtime_tensor share_of = e.temp("share", wide, all);
  e.define(share_of(at) = weight(row, at[3]));
  const dsl::runtime_tensor mixed =
      s.q.is_flat ? e.temp("mixed", t, {s.batch, s.q.heads, s.q.positions, s.v.size}) : e.store(0);
  const runtime_expression mean =
      reduce(dsl::reduction::sum, {j}, share_of(of, j) * to(content({i[0], group(i[1]), j, i[3]})));
  e.define(mixed(i) = cast(mean, t));
  if (s.q.is_flat)
    e.out(0, [=](const dsl::index_list& k) -> runtime_expression {
      return mixed(k[0], k[2] / s.v.size, k[1], k[2] % s.v.size);
    });
  const std::int64_t mode = e.what().integer("qk_matmul_output_mode", 0);
  e.out(3, [=](const dsl::index_list& k) -> runtime_expression {
    if (mode == 3) return cast(share_of(k), t);
    return cast(mode == 2 ? biased(k) : capped(k), t);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_attention(std::vector<operator_definition>& to) {
  to.push_back({"Attention", op_kind::opaque, detail::infer_attention, detail::emit_attention});
}

}  // namespace tilewright::network
