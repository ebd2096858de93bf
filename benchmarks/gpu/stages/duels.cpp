#include "duels.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include <tilewright/support/error.hpp>

#include "../result_file.hpp"
#include "../written.hpp"

namespace gpu_duels {
namespace {

using namespace tilewright;
using gpu_case::case_memory;
using gpu_results::json_text, gpu_results::number;
using gpu_time::duel, gpu_time::starter;

constexpr double least_seconds = 1, most_to_prepare = 90, most_of_a_round = 30;

std::string fields_of(const std::string& peer, const duel& d) {
  return ", " + number((peer + "_seconds").c_str(), d.second) + ", " +
         number(("of_" + peer).c_str(), d.ratio) + ", \"" + peer +
         "_in_graphs\": " + (d.in_graphs ? "true" : "false");
}

std::string missing(const std::string& peer, const std::string& why) {
  return ", \"" + peer + "\": " + json_text(why);
}

}  // namespace

std::vector<starter> starters_of(const gpu_cublas::product& product, void* const* data) {
  std::vector<starter> out;
  for (std::size_t i = 0; i < product.algorithms(); ++i)
    out.push_back([&product, data, i](cu::stream_ref on) {
      product.start(i, data[0], data[1], data[2], on);
    });
  return out;
}

std::string duels::against_written(const gpu_workloads::workload& w, case_memory& memory,
                                   const gpu_candidates::packed_code& packed, double tolerance,
                                   const std::function<double()>& seconds_left) const {
  std::string out;
  const std::vector<void*> data = memory.addresses();
  for (const gpu_written::entry& e : gpu_written::all()) {
    if (e.workload != w.name || e.in_groups != (stage_ == "hopper") || !packed.has(e.name) ||
        !packed.has("0"))
      continue;
    if (seconds_left() < least_seconds) {
      out += missing(e.name, "no time is left");
      continue;
    }
    const auto first = packed.load("0"), second = packed.load(e.name);
    const starter ours = first->starter(data), theirs = second->starter(data);
    memory.poison();
    theirs(nullptr);
    clock_.settle();
    const double off = memory.difference_in_double();
    out += off <= tolerance ? fields_of(e.name, gpu_time::in_turns(clock_, ours, theirs))
                            : missing(e.name, "its result is wrong") + ", " +
                                  number((e.name + "_max_rel_err").c_str(), off);
  }
  return out;
}

std::string duels::against_all(const gpu_workloads::workload& w, case_memory& memory,
                               const starter& winner, const std::function<double()>& seconds_left) {
  std::string out;
  if (w.peer.type != gpu_cublas::element::none) out += against_cublas(w, memory, winner);
  if (!w.convolution.input.empty()) out += against_cudnn(w, memory, winner);
  if (seconds_left() < least_seconds) return out + missing("python", "no time is left");
  const std::vector<std::string> names = python_.names();
  if (names.empty()) return out + missing("python", python_.missing());
  for (const std::string& peer : names)
    out += seconds_left() < least_seconds
               ? missing(peer, "no time is left")
               : against_python(w.name, peer, winner, std::min(seconds_left(), most_to_prepare));
  return out;
}

/// On the same memory; the library's result is checked as well.
std::string duels::against_cublas(const gpu_workloads::workload& w, case_memory& memory,
                                  const starter& winner) const {
  try {
    const gpu_cublas::product product(on_, w.peer);
    const std::vector<void*> data = memory.addresses();
    const std::vector<starter> all = starters_of(product, data.data());
    const starter& peer = all[gpu_time::fastest_of(clock_, all)];
    std::string out;
    if (w.peer.type != gpu_cublas::element::i8) {  // which has B in another layout
      memory.poison();
      peer(nullptr);
      clock_.settle();
      out = ", " + number("cublas_max_rel_err", memory.difference_in_double());
    }
    return out + fields_of("cublas", gpu_time::in_turns(clock_, winner, peer));
  } catch (const gpu_time::hang&) {
    throw;
  } catch (const build_error& e) {
    return missing("cublas", e.what());
  }
}

/// With channels first and with channels last, each in memory of its own; the faster one counts.
std::string duels::against_cudnn(const gpu_workloads::workload& w, case_memory& memory,
                                 const starter& winner) const {
  std::vector<const float*> operands;
  for (const gpu_case::argument& a : memory.all())
    operands.push_back(reinterpret_cast<const float*>(a.host.data()));
  std::vector<std::unique_ptr<gpu_cudnn::convolution>> layouts;
  std::vector<starter> all;
  std::vector<const gpu_cudnn::convolution*> owners;  // [starter]
  std::string why;
  for (const int layout : {gpu_cudnn::channels_first, gpu_cudnn::channels_last}) {
    try {
      layouts.push_back(std::make_unique<gpu_cudnn::convolution>(on_, w.convolution, layout));
    } catch (const build_error& e) {
      why = e.what();
      continue;
    }
    const gpu_cudnn::convolution& c = *layouts.back();
    c.put(operands);
    for (std::size_t i = 0; i < c.algorithms(); ++i) {
      all.push_back([&c, i](cu::stream_ref on) { c.start(i, on); });
      owners.push_back(&c);
    }
  }
  if (all.empty()) return missing("cudnn", why);
  try {
    const std::size_t fastest = gpu_time::fastest_of(clock_, all);
    const starter& peer = all[fastest];
    peer(nullptr);
    clock_.settle();
    const gpu_case::argument& y = memory.all().back();
    const std::vector<float> result = owners[fastest]->result();
    on_.copy_in(y.device.get(), result.data(), y.host.size());
    const double off = memory.difference_in_double();
    return ", " + number("cudnn_max_rel_err", off) +
           fields_of("cudnn", gpu_time::in_turns(clock_, winner, peer));
  } catch (const gpu_time::hang&) {
    throw;
  } catch (const build_error& e) {
    return missing("cudnn", e.what());
  }
}

std::string duels::against_python(const std::string& name, const std::string& peer,
                                  const starter& winner, double seconds) {
  if (const std::string why = python_.prepare(stage_, name, peer, seconds); !why.empty())
    return missing(peer, why);
  try {
    const duel d =
        gpu_time::in_turns(clock_, winner, [&] { return python_.round(most_of_a_round); });
    const std::string note = python_.note();
    python_.drop();
    return fields_of(peer, d) + (note.empty() ? "" : missing(peer + "_note", note));
  } catch (const gpu_peers::peer_lost& e) {
    return missing(peer, e.what());
  }
}

}  // namespace gpu_duels
