#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/ir/text/literal.hpp>
#include <tilewright/search/tvm_workload.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/json.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright::search {
namespace detail {

inline constexpr support::refusal<argument_error> refuse_tvm_workload{
    "workload of TVM: ", "; give the program in script form"};

inline std::string decode_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t digit = digits.find(c);
    if (digit == digits.npos) refuse_tvm_workload("the base64 text is damaged");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((held += 6) < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xff);
  }
  return out;
}

/// Prints the graph of a module. Objects refer to each other by their places in a list.
class tvm_module_printer {
 public:
  explicit tvm_module_printer(const std::string& text) : graph_(support::parse_json(text)) {
    const support::json* nodes = graph_.find("nodes");
    const support::json* root = graph_.find("root_index");
    if (!nodes || !root || nodes->items.empty()) refuse_tvm_workload("there is no graph");
    nodes_ = &nodes->items;
    root_ = root->integer;
  }

  std::string print() {
    const support::json& functions = field(root_, "IRModule", "functions");
    const std::vector<support::json>& entries = items(functions.integer, "Map");
    if (entries.size() != 2) refuse_tvm_workload("the module does not have one function");
    const std::string name = text(field(entries[0].integer, "GlobalVar", "name_hint"));
    const std::int64_t function = entries[1].integer;
    out_ = "@T.prim_func\ndef " + identifier(name) + "(" +
           parameters(field(function, "PrimFunc", "params").integer) + "):\n";
    statement(field(function, "PrimFunc", "body").integer, 1);
    return std::move(out_);
  }

 private:
  // Graphs may share what text must repeat, and a damaged one may hold itself.
  static constexpr std::size_t most_text = 4u << 20;
  static constexpr int most_visits = 1 << 20, most_depth = 300;

  class visit {
   public:
    explicit visit(tvm_module_printer& p) : depth_(++p.depth_) {
      if (depth_ > most_depth || ++p.visits_ > most_visits)
        refuse_tvm_workload("the program is nested too deeply");
    }
    ~visit() { --depth_; }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    int& depth_;
  };

  const support::json& node(std::int64_t at) const {
    if (at < 0 || at >= static_cast<std::int64_t>(nodes_->size()))
      refuse_tvm_workload("a reference leads out of the graph");
    return (*nodes_)[static_cast<std::size_t>(at)];
  }
  /// The type of an object without its namespace, which differs between versions.
  std::string type(std::int64_t at) const {
    const support::json* found = node(at).find("type");
    if (!found) refuse_tvm_workload("an object has no type");
    return found->text.substr(found->text.rfind('.') + 1);
  }
  const support::json& data(std::int64_t at) const {
    const support::json* found = node(at).find("data");
    if (!found) refuse_tvm_workload("an object of type " + type(at) + " is empty");
    return *found;
  }
  const support::json& field(std::int64_t at, const char* wanted, const char* name) const {
    if (type(at) != wanted)
      refuse_tvm_workload("there is a " + type(at) + " in the place of a " + wanted);
    return field(at, name);
  }
  const support::json& field(std::int64_t at, const char* name) const {
    const support::json* found = data(at).find(name);
    if (!found) refuse_tvm_workload("a " + type(at) + " has no " + name);
    return *found;
  }
  const std::vector<support::json>& items(std::int64_t at, const char* wanted) const {
    if (type(at) != wanted)
      refuse_tvm_workload("there is a " + type(at) + " in the place of a list");
    return data(at).items;
  }
  const std::string& text(const support::json& reference) const {
    return data(reference.integer).text;
  }
  bool is_null(std::int64_t at) const { return type(at) == "None"; }

  static std::string identifier(const std::string& name) {
    std::string out;
    for (const char c : name)
      out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "v" + out;
    return out;
  }
  /// The name of a variable or buffer: its own, with its place in the graph where that is taken.
  const std::string& name_of(std::int64_t variable) {
    const auto [at, fresh] = names_.try_emplace(variable);
    if (fresh) {
      at->second = identifier(text(field(variable, "Var", "name")));
      if (at->second == "T" || !taken_.insert(at->second).second)
        taken_.insert(at->second += "_" + std::to_string(variable));
    }
    return at->second;
  }

  /// Ends the scope of a variable: its name is free again.
  void forget(std::int64_t variable) {
    const auto at = names_.find(variable);
    if (at == names_.end()) return;
    taken_.erase(at->second);
    names_.erase(at);
  }

  std::string dtype_of(std::int64_t type_node) const {
    return field(type_node, "PrimType", "dtype").text;
  }
  std::string list(std::int64_t array, const char* between = ", ") {
    std::string out;
    for (const support::json& item : items(array, "Array"))
      out += (out.empty() ? "" : between) + expression(item.integer);
    return out;
  }

  /// `T.Buffer` or `T.alloc_buffer`, shape and type.
  std::string buffer(std::int64_t variable, const char* what) {
    const std::int64_t of = field(variable, "Var", "ty").integer;
    if (type(of) != "BufferType") refuse_tvm_workload("a " + type(of) + " stands for a buffer");
    if (!items(field(of, "strides").integer, "Array").empty())
      refuse_tvm_workload("buffer " + name_of(variable) + " has strides");
    if (expression(field(of, "elem_offset").integer) != "0")
      refuse_tvm_workload("buffer " + name_of(variable) + " has an offset");
    const std::int64_t shape = field(of, "shape").integer;
    const std::string comma = items(shape, "Array").size() == 1 ? "," : "";
    const std::string scope = text(field(of, "storage_scope"));
    return std::string("T.") + what + "((" + list(shape) + comma + "), " +
           ir::quote(dtype_of(field(of, "dtype").integer)) +
           (scope.empty() || scope == "global" ? "" : ", scope=" + ir::quote(scope)) + ")";
  }

  std::string parameters(std::int64_t array) {
    std::string out;
    for (const support::json& item : items(array, "Array")) {
      const std::int64_t of = field(item.integer, "Var", "ty").integer;
      out += (out.empty() ? "" : ", ") + name_of(item.integer) + ": " +
             (type(of) == "PrimType" ? "T." + dtype_of(of) : buffer(item.integer, "Buffer"));
    }
    return out;
  }

  void line(int depth, const std::string& what) {
    out_.append(static_cast<std::size_t>(depth) * 4, ' ').append(what).append("\n");
    if (out_.size() > most_text) refuse_tvm_workload("the program is too large");
  }

  void statement(std::int64_t at, int depth) {
    const visit inside(*this);
    const std::string kind = type(at);
    if (kind == "SeqStmt") {
      for (const support::json& s : items(field(at, "seq").integer, "Array"))
        statement(s.integer, depth);
    } else if (kind == "For") {
      loop(at, depth);
    } else if (kind == "SBlockRealize" || kind == "BlockRealize") {
      block(at, depth);
    } else if (kind == "BufferStore") {
      line(depth, access(field(at, "buffer").integer, field(at, "indices").integer) + " = " +
                      expression(field(at, "value").integer));
    } else {
      refuse_tvm_workload("statements of type " + kind + " are not read");
    }
  }

  void loop(std::int64_t at, int depth) {
    constexpr std::array<const char*, 4> kinds = {"serial", "parallel", "vectorized", "unroll"};
    const std::int64_t kind = field(at, "kind").integer;
    if (kind < 0 || kind > 3 || !is_null(field(at, "thread_binding").integer))
      refuse_tvm_workload("loops of threads are not read");
    if (!items(field(at, "annotations").integer, "Map").empty())
      refuse_tvm_workload("annotated loops are not read");
    const std::string low = expression(field(at, "min").integer),
                      extent = expression(field(at, "extent").integer);
    line(depth, "for " + name_of(field(at, "loop_var").integer) + " in T." +
                    kinds[static_cast<std::size_t>(kind)] + "(" +
                    (low == "0" ? extent : low + ", " + low + " + " + extent) + "):");
    statement(field(at, "body").integer, depth + 1);
    forget(field(at, "loop_var").integer);
  }

  void block(std::int64_t at, int depth) {
    const std::int64_t of = field(at, "block").integer;
    const auto& values = items(field(at, "iter_values").integer, "Array");
    const auto& axes = items(field(of, "iter_vars").integer, "Array");
    if (values.size() != axes.size()) refuse_tvm_workload("a block has an axis without value");
    if (!items(field(of, "match_buffers").integer, "Array").empty())
      refuse_tvm_workload("blocks that match buffers are not read");
    const std::string& name = text(field(of, "name_hint"));
    const bool root = depth == 1 && axes.empty() && name == "root";
    if (!root) line(depth++, "with T.block(" + ir::quote(name) + "):");
    for (std::size_t i = 0; i < axes.size(); ++i) axis(axes[i].integer, values[i].integer, depth);
    const std::string where = expression(field(at, "predicate").integer);
    if (where != "T.bool(True)") line(depth, "T.where(" + where + ")");
    if (!root) {
      line(depth, "T.reads(" + regions(field(of, "reads").integer) + ")");
      line(depth, "T.writes(" + regions(field(of, "writes").integer) + ")");
    }
    if (const auto& notes = items(field(of, "annotations").integer, "Map"); !notes.empty())
      line(depth, "T.block_attr(" + dictionary(notes) + ")");
    for (const support::json& b : items(field(of, "alloc_buffers").integer, "Array"))
      line(depth, name_of(b.integer) + " = " + buffer(b.integer, "alloc_buffer"));
    if (const std::int64_t init = field(of, "init").integer; !is_null(init)) {
      line(depth, "with T.init():");
      statement(init, depth + 1);
    }
    statement(field(of, "body").integer, depth);
    for (const support::json& a : axes) forget(field(a.integer, "var").integer);
  }

  void axis(std::int64_t at, std::int64_t value, int depth) {
    const std::int64_t kind = field(at, "IterVar", "iter_type").integer;
    if (kind != 0 && kind != 2) refuse_tvm_workload("an axis is neither spatial nor reduced");
    const std::int64_t domain = field(at, "dom").integer;
    const std::string low = expression(field(domain, "Range", "min").integer),
                      extent = expression(field(domain, "Range", "extent").integer);
    line(depth, name_of(field(at, "var").integer) + " = T.axis." +
                    (kind == 0 ? "spatial(" : "reduce(") +
                    (low == "0" ? extent : "(" + low + ", " + low + " + " + extent + ")") + ", " +
                    expression(value) + ")");
  }

  std::string regions(std::int64_t array) {
    std::string out;
    for (const support::json& r : items(array, "Array")) {
      std::string ranges;
      for (const support::json& at :
           items(field(r.integer, "TensorRegion", "region").integer, "Array")) {
        const std::string low = expression(field(at.integer, "Range", "min").integer),
                          extent = expression(field(at.integer, "extent").integer);
        ranges +=
            (ranges.empty() ? "" : ", ") + low + (extent == "1" ? "" : ":" + low + " + " + extent);
      }
      out += (out.empty() ? "" : ", ") + name_of(field(r.integer, "source").integer) + "[" +
             (ranges.empty() ? "()" : ranges) + "]";
    }
    return out;
  }

  std::string dictionary(const std::vector<support::json>& entries) {
    std::string out;
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
      out += (out.empty() ? "" : ", ") + ir::quote(text(entries[i])) + ": " +
             annotation(entries[i + 1].integer);
    return "{" + out + "}";
  }
  std::string annotation(std::int64_t at) {
    const std::string kind = type(at);
    if (kind == "String") return ir::quote(data(at).text);
    if (kind == "int") return std::to_string(data(at).integer);
    if (kind == "bool") return data(at).boolean ? "True" : "False";
    if (kind == "IntImm") return std::to_string(data(field(at, "value").integer).integer);
    if (kind == "Array") {
      std::string out;
      for (const support::json& item : data(at).items)
        out += (out.empty() ? "" : ", ") + annotation(item.integer);
      return "[" + out + "]";
    }
    refuse_tvm_workload("annotations of type " + kind + " are not read");
  }

  std::string access(std::int64_t of, std::int64_t indices) {
    const std::string inside = list(indices);
    return name_of(of) + "[" + (inside.empty() ? "()" : inside) + "]";
  }

  std::string number(std::int64_t at, bool real) {
    const std::string of = dtype_of(field(at, "ty").integer);
    if (real) {
      const support::json& value = field(at, "value");
      if (value.is != support::json::kind::number && value.is != support::json::kind::integer)
        refuse_tvm_workload("a constant is no finite number");
      return "T." + of + "(" + support::general_text(value.number, 17) + ")";
    }
    const support::json& value = field(at, "value");  // a reference, as integers are objects
    const std::int64_t v = data(value.integer).integer;
    if (of == "bool") return v != 0 ? "T.bool(True)" : "T.bool(False)";
    if (of == "int32") return std::to_string(v);
    return "T." + of + "(" + std::to_string(v) + ")";
  }

  std::string expression(std::int64_t at) {
    const visit inside(*this);
    std::string out = unbounded(at);
    if (out.size() > most_text) refuse_tvm_workload("an expression is too large");
    return out;
  }

  std::string unbounded(std::int64_t at) {
    static constexpr std::array<std::pair<const char*, const char*>, 14> operators{
        {{"Add", " + "},
         {"Sub", " - "},
         {"Mul", " * "},
         {"Div", " / "},
         {"FloorDiv", " // "},
         {"FloorMod", " % "},
         {"EQ", " == "},
         {"NE", " != "},
         {"LT", " < "},
         {"LE", " <= "},
         {"GT", " > "},
         {"GE", " >= "},
         {"And", " and "},
         {"Or", " or "}}};
    const std::string kind = type(at);
    const auto argument = [&](const char* name) { return expression(field(at, name).integer); };
    for (const auto& [theirs, ours] : operators)
      if (kind == theirs) return "(" + argument("a") + ours + argument("b") + ")";
    if (kind == "Var") return name_of(at);
    if (kind == "IntImm") return number(at, false);
    if (kind == "FloatImm") return number(at, true);
    if (kind == "TensorLoad")
      return access(field(at, "source").integer, field(at, "indices").integer);
    if (kind == "Min" || kind == "Max")
      return (kind == "Min" ? "T.min(" : "T.max(") + argument("a") + ", " + argument("b") + ")";
    if (kind == "Not") return "(not " + argument("a") + ")";
    if (kind == "Cast")
      return "T.Cast(" + ir::quote(dtype_of(field(at, "ty").integer)) + ", " + argument("value") +
             ")";
    if (kind == "Select")
      return "T.Select(" + argument("condition") + ", " + argument("true_value") + ", " +
             argument("false_value") + ")";
    if (kind == "Call") return call(at);
    refuse_tvm_workload("expressions of type " + kind + " are not read");
  }

  std::string call(std::int64_t at) {
    const std::int64_t of = field(at, "op").integer;
    if (type(of) != "Op") refuse_tvm_workload("calls of functions are not read");
    const std::string& name = data(of).text;
    return "T." + identifier(name.substr(name.rfind('.') + 1)) + "(" +
           list(field(at, "args").integer) + ")";
  }

  support::json graph_;
  const std::vector<support::json>* nodes_ = nullptr;
  std::int64_t root_ = 0;
  std::map<std::int64_t, std::string> names_;
  std::set<std::string> taken_;
  std::string out_;
  int depth_ = 0, visits_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE std::string read_tvm_workload(const std::string& line) {
  const support::json pair = support::parse_json(line);
  if (pair.items.size() != 2 || pair.items[1].is != support::json::kind::text)
    detail::refuse_tvm_workload("a line has a hash and a text");
  const std::string bytes = detail::decode_base64(pair.items[1].text);
  // the text carries its length in front, in eight bytes
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(i < bytes.size() ? bytes[i] : 0);
  if (bytes.size() < 9 || length != bytes.size() - 8 || bytes[8] != '{')
    detail::refuse_tvm_workload("the module is in another form");
  return detail::tvm_module_printer(bytes.substr(8)).print();
}

}  // namespace tilewright::search
