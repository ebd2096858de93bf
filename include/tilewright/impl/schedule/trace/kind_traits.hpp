// Makes an instruction kind of a primitive: the types of its parameters, the call with arguments
// taken from an instruction, and the shape of what it gives, all read off the function's signature.
#pragma once

#include <array>
#include <initializer_list>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::kind_traits {

/// Parameter types of primitives that are more than one plain value.
struct block_or_loop {
  std::uint64_t block = 0;  // id, when `is_block`
  ir::var loop;
  bool is_block = true;
};
/// A loop, or blocks when the variable is null.
struct loop_or_blocks {
  ir::var loop;
  std::vector<std::uint64_t> blocks;
};
/// A loop or, with a null variable, a marker from sample_compute_location.
struct place {
  ir::var loop;
  std::int64_t marker = 0;
};
/// Result of sampling one integer: the decision and what it selects.
struct chosen {
  std::int64_t decision = 0;
  std::int64_t value = 0;
};

template <class T>
const T& as(const argument& a) {
  const T* value = std::get_if<T>(&a);
  if (!value) throw argument_error("an argument is missing or of the wrong type");
  return *value;
}

/// How a C++ parameter type is written in instructions, and how its value is taken from an
/// argument.
template <class T>
struct slot;

template <>
struct slot<std::uint64_t> {
  static constexpr argument_type type = argument_type::block;
  static std::uint64_t get(const schedule_state& s, const argument& a) {
    return s.block(as<rv>(a));
  }
};
template <>
struct slot<ir::var> {
  static constexpr argument_type type = argument_type::loop;
  static const ir::var& get(const schedule_state& s, const argument& a) {
    return s.loop(as<rv>(a));
  }
};
template <>
struct slot<place> {
  static constexpr argument_type type = argument_type::loop;
  static place get(const schedule_state& s, const argument& a) {
    const rv v = as<rv>(a);
    return {s.loop(v), s.at(v).value};
  }
};
template <>
struct slot<block_or_loop> {
  static constexpr argument_type type = argument_type::block_or_loop;
  static block_or_loop get(const schedule_state& s, const argument& a) {
    const rv v = as<rv>(a);
    if (v.kind == rv_class::block) return {s.block(v), {}, true};
    return {0, s.loop(v), false};
  }
};
template <>
struct slot<std::vector<std::uint64_t>> {
  static constexpr argument_type type = argument_type::blocks;
  static std::vector<std::uint64_t> get(const schedule_state& s, const argument& a) {
    std::vector<std::uint64_t> out;
    for (const rv& v : as<std::vector<rv>>(a)) out.push_back(s.block(v));
    return out;
  }
};
template <>
struct slot<std::vector<ir::var>> {
  static constexpr argument_type type = argument_type::loops;
  static std::vector<ir::var> get(const schedule_state& s, const argument& a) {
    const auto& list = as<std::vector<rv>>(a);
    std::vector<ir::var> out;
    out.reserve(list.size());
    for (const rv& v : list) out.push_back(s.loop(v));
    return out;
  }
};
template <>
struct slot<std::vector<std::optional<std::int64_t>>> {
  static constexpr argument_type type = argument_type::factors;
  static std::vector<std::optional<std::int64_t>> get(const schedule_state& s, const argument& a) {
    const auto& list = as<std::vector<factor>>(a);
    std::vector<std::optional<std::int64_t>> out;
    out.reserve(list.size());
    for (const factor& f : list) {
      const std::int64_t value = s.value(f);
      out.push_back(value == inferred_value ? std::nullopt : std::optional(value));
    }
    return out;
  }
};
template <>
struct slot<loop_or_blocks> {
  static constexpr argument_type type = argument_type::loop_or_blocks;
  static loop_or_blocks get(const schedule_state& s, const argument& a) {
    if (const rv* v = std::get_if<rv>(&a)) return {s.loop(*v), {}};
    return {{}, slot<std::vector<std::uint64_t>>::get(s, a)};
  }
};

/// Value of an expression that must have one.
inline std::int64_t known_value(const schedule_state& s, const factor& f) {
  const std::int64_t value = s.value(f);
  if (value == inferred_value) throw argument_error("an inferred factor has no value here");
  return value;
}

inline ir::attr note_value(const schedule_state& s, const annotation_value& note) {
  if (const ir::attr* constant = std::get_if<ir::attr>(&note.value)) return *constant;
  if (const factor* f = std::get_if<factor>(&note.value)) return known_value(s, *f);
  if (const auto* list = std::get_if<annotation_value::list>(&note.value)) {
    ir::attr::list out;
    for (const annotation_value& item : *list) out.push_back(note_value(s, item));
    return out;
  }
  ir::attr::dict out;
  for (const auto& [key, item] : std::get<annotation_value::dict>(note.value))
    out.emplace(key, note_value(s, item));
  return out;
}

template <>
struct slot<ir::attr> {
  static constexpr argument_type type = argument_type::note;
  static ir::attr get(const schedule_state& s, const argument& a) {
    return note_value(s, as<annotation_value>(a));
  }
};
template <>
struct slot<std::int64_t> {
  static constexpr argument_type type = argument_type::value;
  static std::int64_t get(const schedule_state& s, const argument& a) {
    return known_value(s, as<factor>(a));
  }
};
template <>
struct slot<ir::index_map> {
  static constexpr argument_type type = argument_type::index_map;
  static ir::index_map get(const schedule_state& s, const argument& a) {
    const auto& map = as<map_argument>(a);
    std::vector<std::int64_t> values;
    for (const auto& [v, number] : map.variables) values.push_back(known_value(s, number));
    return bound(map, values);
  }
};
/// One range of every index: the results of the map are begin and end of each in turn.
struct index_ranges {
  ir::index_map map;
};
template <>
struct slot<index_ranges> {
  static constexpr argument_type type = argument_type::index_ranges;
  static index_ranges get(const schedule_state& s, const argument& a) {
    return {slot<ir::index_map>::get(s, a)};
  }
};
template <>
struct slot<padding> {
  static constexpr argument_type type = argument_type::padding;
  static padding get(const schedule_state& s, const argument& a) {
    if (std::holds_alternative<std::monostate>(a)) return {};
    if (const auto* i = std::get_if<std::int64_t>(&a)) return {*i};
    if (const auto* r = std::get_if<double>(&a)) return {*r};
    return {slot<ir::index_map>::get(s, a)};
  }
};

template <class T, argument_type Type>
struct plain_slot {
  static constexpr argument_type type = Type;
  static const T& get(const schedule_state&, const argument& a) { return as<T>(a); }
};
template <>
struct slot<bool> : plain_slot<bool, argument_type::boolean> {};
template <>
struct slot<buffer_selector> : plain_slot<buffer_selector, argument_type::buffer> {};
template <>
struct slot<std::string> : plain_slot<std::string, argument_type::string> {};
template <>
struct slot<std::vector<std::int64_t>>
    : plain_slot<std::vector<std::int64_t>, argument_type::integers> {};
template <>
struct slot<std::vector<double>> : plain_slot<std::vector<double>, argument_type::reals> {};
template <>
struct slot<int> {
  static constexpr argument_type type = argument_type::integer;
  static int get(const schedule_state&, const argument& a) {
    const std::int64_t value = as<std::int64_t>(a);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      throw argument_error("argument " + std::to_string(value) + " does not fit into 32 bits");
    return static_cast<int>(value);
  }
};

/// @name What a primitive returns, as an outcome
/// @{
inline void put(outcome& out, ir::function f) { out.function = std::move(f); }
inline void put(outcome& out, primitive::new_block r) {
  out.function = std::move(r.function);
  out.outputs.push_back(symbol::of_block(r.block));
}
inline void put(outcome& out, const primitive::new_blocks& r) {
  out.function = r.function;
  for (const std::uint64_t id : r.blocks) out.outputs.push_back(symbol::of_block(id));
}
inline void put(outcome& out, primitive::new_loop r) {
  out.function = std::move(r.function);
  out.outputs.push_back(symbol::of_loop(std::move(r.loop)));
}
inline void put(outcome& out, std::vector<ir::var> loops) {
  out.outputs.reserve(loops.size());
  for (ir::var& v : loops) out.outputs.push_back(symbol::of_loop(std::move(v)));
}
inline void put(outcome& out, primitive::new_loops r) {
  out.function = std::move(r.function);
  put(out, std::move(r.loops));
}
inline void put(outcome& out, std::uint64_t block) {
  out.outputs.push_back(symbol::of_block(block));
}
inline void put(outcome& out, const std::vector<std::uint64_t>& blocks) {
  for (const std::uint64_t id : blocks) put(out, id);
}
inline void put(outcome& out, chosen c) {
  out.choice = {c.decision};
  out.outputs.push_back(symbol::of_integer(c.value));
}
inline void put(outcome& out, decision factors) {
  for (const std::int64_t v : factors)
    out.outputs.push_back(symbol::of_integer(v < 0 ? inferred_value : v));
  out.choice = std::move(factors);
}
inline void put(outcome& out, primitive::compute_location where) {
  out.choice = {where.index};
  out.outputs.push_back(where.loop ? symbol::of_loop(std::move(where.loop))
                                   : symbol::of_marker(where.index));
}
/// @}

template <class Result>
void set_shape(instruction_kind& kind) {
  const auto set = [&](output_shape shape, rv_class type, decision_shape choice) {
    kind.outputs = shape;
    kind.output_class = type;
    kind.choice = choice;
  };
  using primitive::compute_location, primitive::new_block, primitive::new_blocks,
      primitive::new_loop, primitive::new_loops;
  constexpr auto is = []<class... T>(std::tuple<T...>*) {
    return (std::is_same_v<Result, T> || ...);
  };
  if constexpr (is(static_cast<std::tuple<new_block, std::uint64_t>*>(nullptr)))
    set(output_shape::one, rv_class::block, decision_shape::none);
  else if constexpr (is(static_cast<std::tuple<std::vector<std::uint64_t>, new_blocks>*>(nullptr)))
    set(output_shape::many, rv_class::block, decision_shape::none);
  else if constexpr (is(static_cast<std::tuple<new_loop>*>(nullptr)))
    set(output_shape::one, rv_class::loop, decision_shape::none);
  else if constexpr (is(static_cast<std::tuple<new_loops, std::vector<ir::var>>*>(nullptr)))
    set(output_shape::many, rv_class::loop, decision_shape::none);
  else if constexpr (is(static_cast<std::tuple<compute_location>*>(nullptr)))
    set(output_shape::one, rv_class::loop, decision_shape::one);
  else if constexpr (is(static_cast<std::tuple<chosen>*>(nullptr)))
    set(output_shape::one, rv_class::integer, decision_shape::one);
  else if constexpr (is(static_cast<std::tuple<decision>*>(nullptr)))
    set(output_shape::many, rv_class::integer, decision_shape::many);
  else
    static_assert(std::is_same_v<Result, ir::function>, "no instruction can give such a result");
}

/// Parameter written "[*?]name[=default]": `*` positional, `?` not printed when empty.
inline parameter make_parameter(std::string_view text, argument_type type) {
  parameter p;
  p.type = type;
  for (; text.front() == '*' || text.front() == '?'; text.remove_prefix(1))
    (text.front() == '*' ? p.positional : p.hidden_when_empty) = true;
  const std::size_t equals = text.find('=');
  p.name = text.substr(0, equals);
  if (equals != text.npos) p.fallback = text.substr(equals + 1);
  return p;
}

using names = std::initializer_list<std::string_view>;

template <class... Args>
void set_parameters(instruction_kind& kind, names list) {
  constexpr std::size_t count = sizeof...(Args);
  if (list.size() != count)
    throw internal_error("instruction kind " + std::string(kind.name) + " needs " +
                         std::to_string(count) + " parameter names");
  constexpr std::array<argument_type, count> types{slot<Args>::type...};
  kind.parameters.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    kind.parameters.push_back(make_parameter(list.begin()[i], types[i]));
}

inline void check_count(const std::vector<argument>& args, std::size_t count) {
  if (args.size() != count)
    throw argument_error("an instruction has " + std::to_string(args.size()) +
                         " arguments; its kind takes " + std::to_string(count));
}

/// A transformation or a query: Result f(const ir::function&, Args...).
template <auto F, class Result, class... Args>
struct transformation {
  static outcome apply(const schedule_state& s, const std::vector<argument>& args,
                       const decision&) {
    check_count(args, sizeof...(Args));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      outcome out;
      put(out, F(s.function, slot<Args>::get(s, args[I])...));
      return out;
    }
    (std::index_sequence_for<Args...>{});
  }
};

/// A random choice: Result f(support::random&, const ir::function&, Args..., const decision&).
template <auto F, class Result, class... Args>
struct sampling {
  static outcome apply(const schedule_state& s, const std::vector<argument>& args,
                       const decision& given) {
    check_count(args, sizeof...(Args));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      outcome out;
      support::random stream = s.random;
      put(out, F(stream, s.function, slot<Args>::get(s, args[I])..., given));
      out.random = stream;
      return out;
    }
    (std::index_sequence_for<Args...>{});
  }
};

template <auto F, class Result, class... Params>
instruction_kind build(std::string_view name, names parameters,
                       Result (*)(const ir::function&, Params...)) {
  instruction_kind kind;
  kind.name = name;
  set_parameters<std::remove_cvref_t<Params>...>(kind, parameters);
  set_shape<Result>(kind);
  kind.apply = &transformation<F, Result, std::remove_cvref_t<Params>...>::apply;
  return kind;
}

template <auto F, class Result, class All, std::size_t... I>
instruction_kind build_sampling(std::string_view name, names parameters,
                                std::index_sequence<I...>) {
  instruction_kind kind;
  kind.name = name;
  set_parameters<std::remove_cvref_t<std::tuple_element_t<I, All>>...>(kind, parameters);
  set_shape<Result>(kind);
  kind.pure = true;
  kind.apply = &sampling<F, Result, std::remove_cvref_t<std::tuple_element_t<I, All>>...>::apply;
  return kind;
}

template <auto F, class Result, class... Params>
instruction_kind build(std::string_view name, names parameters,
                       Result (*)(support::random&, const ir::function&, Params...)) {
  return build_sampling<F, Result, std::tuple<Params...>>(
      name, parameters, std::make_index_sequence<sizeof...(Params) - 1>{});
}

/// A kind that changes the program, or one that draws.
template <auto F>
instruction_kind kind(std::string_view name, names parameters) {
  return build<F>(name, parameters, F);
}

/// A kind that only looks.
template <auto F>
instruction_kind query(std::string_view name, names parameters, std::string_view alias = {}) {
  instruction_kind out = build<F>(name, parameters, F);
  out.pure = true;
  out.alias = alias;
  return out;
}

}  // namespace tilewright::kind_traits
