// Prepared statements of a database file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/search/database/record.hpp>
#include <tilewright/search/database/sqlite.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/files/file_size_signal.hpp>

namespace tilewright::search {

/// A prepared statement with positional values.
class store_statement {
 public:
  store_statement(const store& s, const char* sql) : store_(s) {
    const int code = s.api_->prepare_v2(s.db_, sql, -1, &statement_, nullptr);
    if (code != sqlite_api::ok) s.fail(code, sql);
  }
  ~store_statement() { store_.api_->finalize(statement_); }
  store_statement(const store_statement&) = delete;
  store_statement& operator=(const store_statement&) = delete;

  store_statement& text(const std::string& v) {
    return check(
        api().bind_text(statement_, ++bound_, v.data(), static_cast<int>(v.size()), transient()));
  }
  store_statement& blob(const std::vector<std::byte>& v) {
    return check(
        api().bind_blob(statement_, ++bound_, v.data(), static_cast<int>(v.size()), transient()));
  }
  store_statement& number(std::int64_t v) {
    return check(api().bind_int64(statement_, ++bound_, v));
  }
  store_statement& real(double v) { return check(api().bind_double(statement_, ++bound_, v)); }
  store_statement& key(const record_key& k) {
    return text(k.workload).text(k.isa).text(store_.key_values(k)[2]).number(k.threads);
  }

  /// True while there is a row.
  bool step() {
    const int code = api().step(statement_);
    if (code != sqlite_api::row && code != sqlite_api::done)
      store_.fail(code, "reading or writing");
    return code == sqlite_api::row;
  }
  std::string column(int i) const {
    const auto* s = reinterpret_cast<const char*>(api().column_text(statement_, i));
    return s ? std::string(s, static_cast<std::size_t>(api().column_bytes(statement_, i)))
             : std::string();
  }
  std::int64_t column_number(int i) const { return api().column_int64(statement_, i); }
  std::vector<std::byte> column_blob(int i) const {
    const auto* p = static_cast<const std::byte*>(api().column_blob(statement_, i));
    const int n = api().column_bytes(statement_, i);
    return p ? std::vector<std::byte>(p, p + n) : std::vector<std::byte>();
  }

 private:
  const sqlite_api& api() const { return *store_.api_; }
  // SQLITE_TRANSIENT: the value is copied at once
  static sqlite_api::destructor transient() { return reinterpret_cast<sqlite_api::destructor>(-1); }
  store_statement& check(int code) {
    if (code != sqlite_api::ok) store_.fail(code, "binding a value");
    return *this;
  }
  const support::file_size_signal_block limit_;
  const store& store_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// Several statements of which all count or none.
class store_transaction {
 public:
  enum class access { read, write };
  store_transaction(store& s, access how) : store_(s) {
    s.execute(how == access::read ? "begin" : "begin immediate");
  }
  ~store_transaction() {
    if (!done_) store_.api_->exec(store_.db_, "rollback", nullptr, nullptr, nullptr);
  }
  store_transaction(const store_transaction&) = delete;
  store_transaction& operator=(const store_transaction&) = delete;

  void commit() {
    store_.execute("commit");
    done_ = true;
  }

 private:
  const support::file_size_signal_block limit_;
  store& store_;
  bool done_ = false;
};

}  // namespace tilewright::search
