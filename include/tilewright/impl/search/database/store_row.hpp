// Rows of a database file as records and failures.
#pragma once

#include <tilewright/impl/search/database/store_statement.hpp>
#include <tilewright/search/database/record.hpp>

namespace tilewright::search::detail {

inline record read_record(const store_statement& q) {
  record r;
  r.key = {q.column(0), q.column(1), q.column(2), static_cast<int>(q.column_number(3))};
  r.family = q.column(4);
  r.extents = read_integers(q.column(5));
  r.trace = q.column(6);
  r.seconds = read_reals(q.column(7));
  r.from = {q.column(8), q.column(9), q.column(10), static_cast<int>(q.column_number(11))};
  r.chosen = q.column_number(12) != 0;
  r.checked = q.column(13);
  return r;
}

inline failed_candidate read_failed(const store_statement& q) {
  failed_candidate f;
  f.key = {q.column(0), q.column(1), q.column(2), static_cast<int>(q.column_number(3))};
  f.trace = q.column(4);
  f.kind = q.column(5);
  f.detail = q.column(6);
  f.from = {q.column(7), q.column(8), q.column(9), static_cast<int>(q.column_number(10))};
  return f;
}

}  // namespace tilewright::search::detail
