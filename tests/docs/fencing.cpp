// The examples of docs/fencing.md, and the schedule that its table shows.

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "check.hpp"

using namespace std::chrono_literals;

namespace {

/// Just enough of a database: one shop with one item.
class Shop {
 public:
  Shop() {
    check(sqlite3_open(":memory:", &handle_) == SQLITE_OK);
    run("CREATE TABLE stock (item INTEGER PRIMARY KEY, n INTEGER, fence INTEGER DEFAULT 0)");
    run("INSERT INTO stock (item, n) VALUES (42, 10)");
    run(std::string(holdfast::fence_sql::create_table));
  }
  ~Shop() { sqlite3_close(handle_); }
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  void run(const std::string& sql) {
    check(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  [[nodiscard]] std::int64_t value(const std::string& sql) {
    auto statement = prepare(sql);
    check(sqlite3_step(statement.get()) == SQLITE_ROW);
    return sqlite3_column_int64(statement.get(), 0);
  }

  // [admit]
  /// True if no newer holder has been here. Call it inside the transaction that does the work.
  bool admit(const std::string& resource, std::uint64_t token) {
    auto statement = prepare(holdfast::fence_sql::admit);
    sqlite3_bind_text(statement.get(), 1, resource.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(statement.get(), 2, static_cast<sqlite3_int64>(token));
    return sqlite3_step(statement.get()) == SQLITE_DONE && sqlite3_changes(handle_) == 1;
  }
  // [/admit]

  // [transaction]
  /// Reads with the fence up: from here on, nobody with an older token can write.
  std::int64_t read(std::uint64_t token) {
    run("BEGIN IMMEDIATE");
    if (!admit("stock:item:42", token)) {
      run("ROLLBACK");
      throw holdfast::Error(holdfast::errc::lost, "a newer holder has been here");
    }
    const auto n = value("SELECT n FROM stock WHERE item = 42");
    run("COMMIT");
    return n;
  }

  void write(std::int64_t n, std::uint64_t token) {
    run("BEGIN IMMEDIATE");
    if (!admit("stock:item:42", token)) {
      run("ROLLBACK");
      throw holdfast::Error(holdfast::errc::lost, "a newer holder has been here");
    }
    run("UPDATE stock SET n = " + std::to_string(n) + " WHERE item = 42");
    run("COMMIT");
  }
  // [/transaction]

  // What many tutorials show: the token is looked at when writing, and only then.
  std::int64_t naive_read() { return value("SELECT n FROM stock WHERE item = 42"); }
  bool naive_write(std::int64_t n, std::uint64_t token) {
    run("UPDATE stock SET n = " + std::to_string(n) + ", fence = " + std::to_string(token) +
        " WHERE item = 42 AND fence <= " + std::to_string(token));
    return sqlite3_changes(handle_) == 1;
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement,
                             nullptr) == SQLITE_OK);
    return std::unique_ptr<sqlite3_stmt, Finalize>(statement);
  }
  sqlite3* handle_ = nullptr;
};

/// Two holders, of whom the first has lost the lease by the time that the second has it.
struct Holders {
  holdfast::Client client{"memory:shop"};
  holdfast::Mutex mutex = client.mutex("stock:item:42", {.ttl = 100ms, .auto_renew = false});
  holdfast::Lease a = mutex.acquire();

  holdfast::Lease take_over() {
    auto b = mutex.acquire();  // waits until the lease of A has expired
    check(a.state() == holdfast::LeaseState::lost && b.token() > a.token());
    return b;
  }
};

void the_schedule_that_breaks_a_check_at_the_write() {
  Shop shop;
  Holders holders;
  const auto a_saw = shop.naive_read();
  const auto b = holders.take_over();  // A is paused
  const auto b_saw = shop.naive_read();
  check(shop.naive_write(a_saw - 1, holders.a.token()));  // accepted: B has written nothing yet
  check(shop.naive_write(b_saw - 1, b.token()));
  check(shop.naive_read() == 9);  // two were sold, and one is missing
}

void the_same_with_the_fence_up_before_the_read() {
  Shop shop;
  Holders holders;
  const auto a_saw = shop.read(holders.a.token());
  const auto b = holders.take_over();
  const auto b_saw = shop.read(b.token());
  check(error_of([&] { return shop.write(a_saw - 1, holders.a.token()), 0; }) ==
        holdfast::errc::lost);
  shop.write(b_saw - 1, b.token());
  check(shop.naive_read() == 9);  // one was sold, and A knows that it was not A
}

void in_memory() {
  holdfast::Client client("memory:buffer");
  auto mutex = client.mutex("buffer");
  std::string buffer;
  // [fence]
  holdfast::Fence fence;  // one for each resource, beside it
  const auto append = [&](char letter, std::uint64_t token) {
    if (!fence.admit(token)) return false;  // a newer holder has been here
    buffer += letter;
    return true;
  };
  // [/fence]
  const auto old_token = mutex.acquire().token();
  const auto token = mutex.acquire().token();
  check(append('a', old_token) && append('b', token) && append('c', token));
  check(!append('d', old_token) && buffer == "abc");
}

}  // namespace

int main() {
  the_schedule_that_breaks_a_check_at_the_write();
  the_same_with_the_fence_up_before_the_read();
  in_memory();
}
