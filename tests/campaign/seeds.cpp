#include "seeds.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <laws/program_files.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/specialize.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ops.hpp>
#include <tilewright/search/check/shrink.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/support/error.hpp>
#if defined(CAMPAIGN_READS_NETWORKS)
#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/passes.hpp>
#endif

namespace campaign {
namespace {

constexpr double most_stores = 4000;

std::string text_of(const std::filesystem::path& file) {
  std::stringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

/// The functions of a file, each under its decorator.
std::vector<std::string> functions_of(const std::string& text) {
  constexpr std::string_view decorator = "@T.prim_func";
  std::vector<std::string> out;
  for (std::size_t at = text.find(decorator); at != text.npos;) {
    const std::size_t next = text.find(decorator, at + 1);
    std::string one = text.substr(at, next - at);
    // what follows the function and does not belong to it starts at a line's beginning
    std::size_t end = one.find("\n\n\n");
    out.push_back(one.substr(0, end == one.npos ? one.size() : end + 1));
    at = next;
  }
  return out;
}

class collector {
 public:
  void add(const std::string& family, const std::string& name, const ir::function& f) {
    if (!ir::symbolic_extents(f).empty()) return;
    ir::verify(f);
    std::optional<ir::function> small = f;
    if (search::work_of(f) > most_stores) small = search::shrink(f, most_stores);
    if (small && known_.insert(ir::workload_key(*small).hex()).second)
      all.push_back({family, name, *small});
  }
  /// Functions that another compiler accepts and this one does not are no seeds.
  void add_file(const std::string& family, const std::filesystem::path& file) {
    for (const std::string& text : functions_of(text_of(file))) {
      try {
        const ir::function f = ir::parse(text);
        add(family, file.stem().string() + "." + f.name, f);
      } catch (const argument_error&) {
      }
    }
  }
  std::vector<seed> all;

 private:
  std::set<std::string> known_;
};

void add_operators(collector& to) {
  using extents = std::map<std::string, std::int64_t, std::less<>>;
  const auto add = [&](const auto& kernel, const extents& e) {
    const ir::function f = reify(kernel, e);
    to.add("operator", f.name, f);
  };
  constexpr ops::conv_options strided{.stride = 2, .padding = 1};
  add(ops::matmul<float>, {{"M", 7}, {"N", 9}, {"K", 5}});
  add(ops::matmul<float, float, ops::matmul_options{.transpose_b = true}>,
      {{"M", 6}, {"N", 8}, {"K", 5}});
  add(ops::matvec<double>, {{"M", 13}, {"K", 11}});
  add(ops::softmax<float>, {{"M", 7}, {"N", 9}});
  add(ops::log_softmax<float>, {{"M", 7}, {"N", 9}});
  add(ops::layer_norm<double>, {{"M", 7}, {"N", 9}});
  add(ops::rms_norm<double>, {{"M", 7}, {"N", 9}});
  add(ops::l2_normalize<double>, {{"M", 7}, {"N", 9}});
  add(ops::transpose<float>, {{"M", 7}, {"N", 9}});
  add(ops::concat<float>, {{"M", 3}, {"NA", 4}, {"NB", 2}, {"N", 6}});
  add(ops::conv2d<float, float, strided>,
      {{"N", 1}, {"H", 7}, {"W", 7}, {"C", 3}, {"R", 3}, {"S", 3}, {"K", 4}, {"P", 4}, {"Q", 4}});
  add(ops::global_avg_pool2d<float>, {{"N", 1}, {"H", 5}, {"W", 5}, {"C", 3}});
}

}  // namespace

std::vector<seed> read_seeds(const std::string& root) {
  collector out;
  add_operators(out);
  const auto files = [](const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".py") all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    return all;
  };
  for (const auto& file : files(root + "/tvm/programs")) out.add_file("comparison", file);
  for (const auto& file : files(root + "/campaign/seeds")) out.add_file("model", file);
  for (const laws::program_file& p : laws::read_programs(root + "/laws/programs"))
    if (p.content.data.empty()) {
      try {
        out.add("law", p.name,
                p.content.dims.empty() ? p.content.function
                                       : ir::specialize(p.content.function, p.content.dims));
      } catch (const argument_error&) {
      }
    }
  return out.all;
}

#if defined(CAMPAIGN_READS_NETWORKS)
std::string seeds_of_networks(const std::vector<std::string>& files) {
  std::set<std::string> done;
  std::string out;
  for (const std::string& file : files) {
    network::graph g = interop::read_onnx(file);
    network::extent_values open;
    if (file.find("attention") != file.npos) open["batch"] = 2;
    network::bind_extents(g, open);
    network::infer_types(g);
    network::optimize(g);
    tuned_options options;
    options.mode = mode::off;
    options.database = ":memory:";
    const network::executable program(std::make_shared<const network::graph>(g), options);
    for (std::size_t k = 0; k < program.launches().size(); ++k) {
      const ir::function& f = program.task(k).function;
      const std::optional<ir::function> small =
          search::work_of(f) > most_stores ? search::shrink(f, most_stores) : f;
      if (small && done.insert(ir::workload_key(*small).hex()).second)
        out += (out.empty() ? "" : "\n\n\n") + ir::print(*small);
    }
  }
  return out;
}
#else
std::string seeds_of_networks(const std::vector<std::string>&) {
  throw argument_error("networks are not read: protozero was missing when this was built");
}
#endif

}  // namespace campaign
