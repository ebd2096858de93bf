// What a tuning database keeps: the key under which a measurement is valid, and the measurement.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::search {

/// Everything that decides whether a stored schedule may be used. Nothing else does: CPU model and
/// versions are provenance.
struct record_key {
  std::string workload;   // ir::workload_key of the function, 32 hexadecimal digits
  std::string isa;        // target::machine::isa_key()
  std::string arguments;  // class of each argument in order: unit-stride dimension, contiguity
  int threads = 1;
  /// ir::named_workload_key: lookups find records under it too, and records under `workload` first.
  /// No part of the identity; empty where it is unknown.
  std::string named_workload = {};

  friend bool operator==(const record_key& a, const record_key& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const record_key& a, const record_key& b);
};

/// Classes of arguments as keys have them, "r d10", by position: what the arguments are called
/// matters to nobody. Text that names them, "A:r B:d10", as older keys did, is understood.
std::string arguments_by_position(std::string_view text);
record_key by_position(record_key key);
/// The classes of arguments that lie in a GPU's memory, aligned to 16 bytes: each with "@g16" behind
/// it, and a word with the width of indices, "r@g16 d10@g16 i32".
/// @param index_bits 32, or 64 where a position in an argument needs more
std::string on_device(std::string_view arguments, int index_bits);

/// Where a measurement was made. Shown and ranked, never required.
struct provenance {
  std::string cpu;   // model, as the CPU or the GPU calls itself
  std::string llvm;  // version of the code generator; of a GPU "NVRTC 13.0, driver 13.0"
  std::string date;  // "2026-01-31T12:00:00Z"
  int revision = 0;  // backend::lowering_revision

  friend bool operator==(const provenance&, const provenance&) = default;
};

/// One measured schedule of one workload.
struct record {
  record_key key;
  std::string family;                 // equal for one kernel at all extents
  std::vector<std::int64_t> extents;  // of all buffer parameters in order
  std::string trace;            // printed form, as by_position has it; empty: the default schedule
  std::vector<double> seconds;  // [repeats], per call
  provenance from;
  bool chosen = false;  // verified, and the fastest by more than the noise
  /// How a chosen schedule was compared with the program, beside its outputs (search/check/proof.hpp):
  /// "proved ...", or "tested: ..." with the reason why no more is known. Empty where nobody looked:
  /// in records of schemas before 5, and of what was measured and not chosen.
  std::string checked = {};

  double best() const;
  double mean() const;
  /// `checked`, where something is known, or else what is true of every chosen record: "tested".
  std::string check() const;
  /// Digest of all fields; a row whose digest differs was damaged.
  std::string digest() const;
};

/// A candidate that gave no time.
struct failed_candidate {
  record_key key;
  std::string trace;   // printed form
  std::string kind;    // as name(failure) has it
  std::string detail;  // in words
  provenance from;     // what fails in one version of the code generator may work in another

  /// Digest of all fields; a row whose digest differs was damaged.
  std::string digest() const;
};

/// Number of candidates of one key that gave no time.
struct failure_count {
  std::string kind;  // as name(failure) has it
  std::int64_t count = 0;
  std::string detail;  // of the last one
};

/// Distance between the extents of two calls of one kernel: sum of |log2| of the ratios.
double extent_distance(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b);

/// Now, in the form of provenance::date.
std::string date_now();

/// @name Text forms of number lists in database columns
/// The readers return nothing usable (an empty list) on malformed text.
/// @{
std::string write_numbers(const std::vector<double>& values);
std::string write_numbers(const std::vector<std::int64_t>& values);
std::vector<double> read_reals(std::string_view text);
std::vector<std::int64_t> read_integers(std::string_view text);
/// @}

}  // namespace tilewright::search
