#include "driver/record/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/fake_store.hpp"

namespace holdfast::driver {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Record full_record() {
  Record record;
  record.token = 1'800'000'000'000'016;
  record.last = id_of(9);
  record.ended = Predecessor::expired;
  record.holders.push_back({.lease = id_of(1),
                            .client = id_of(2),
                            .owner = "größte",
                            .label = "host:1",
                            .note = std::string("a\0b", 3),
                            .mode = {ModeKind::permits, 2, 5},
                            .token = 1'800'000'000'000'001,
                            .token_block = 16,
                            .since = std::chrono::system_clock::time_point(1'800'000'000'123'456us),
                            .expires = Instant(1234567890123ns),
                            .ttl = 30s,
                            .predecessor = Predecessor::revoked});
  record.waiters.push_back({.lease = id_of(3),
                            .client = id_of(4),
                            .owner = "",
                            .label = "host:2",
                            .note = "",
                            .mode = {},
                            .ttl = 10s,
                            .token_block = 1,
                            .ticket = 7,
                            .alive_until = Instant(99s),
                            .names = {"a", "b"}});
  record.waiters.push_back(record.waiters.front());
  record.waiters.back().ticket = 8;
  record.waiters.back().names.clear();
  return record;
}

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size();) {
    if (hex[i] == ' ' || hex[i] == '\n') {
      ++i;
      continue;
    }
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    i += 2;
  }
  return bytes;
}

std::string words_of(std::string_view bytes) {
  const auto record = decode_record(bytes);
  if (record.ok()) return "valid";
  EXPECT_EQ(record.failure().code, errc::misconfigured);
  return record.failure().words;
}

// The example of docs/record-format.md.
constexpr std::string_view documented =
    "01"
    "05 00 00 00 00 00 00 00"
    "11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11"
    "01"
    "01 00 00 00"
    "22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22"
    "33 33 33 33 33 33 33 33 33 33 33 33 33 33 33 33"
    "03 00 61 6e 6e"
    "06 00 68 6f 73 74 3a 31"
    "00 00"
    "00 01 00 00 00 01 00 00 00"
    "05 00 00 00 00 00 00 00"
    "01 00 00 00"
    "00 ca 9a 3b 00 00 00 00"
    "00 94 35 77 00 00 00 00"
    "00 ac 23 fc 06 00 00 00"
    "01"
    "00 00 00 00";

TEST(Codec, IsAsDocumented) {
  Record record;
  record.token = 5;
  record.last = id_of(0x11);
  record.ended = Predecessor::released;
  record.holders.push_back({.lease = id_of(0x22),
                            .client = id_of(0x33),
                            .owner = "ann",
                            .label = "host:1",
                            .note = "",
                            .mode = {},
                            .token = 5,
                            .token_block = 1,
                            .since = std::chrono::system_clock::time_point(1s),
                            .expires = Instant(2s),
                            .ttl = 30s,
                            .predecessor = Predecessor::released});
  EXPECT_EQ(encode(record), bytes_of(documented));
  EXPECT_EQ(decode_record(bytes_of(documented)).take(), record);
}

TEST(Codec, KeepsEveryField) {
  EXPECT_EQ(decode_record(encode(full_record())).take(), full_record());
  EXPECT_EQ(decode_record(encode(Record{})).take(), Record{});

  CellRecord cell{.value = std::string("\0\xff", 2), .version = 3, .watchers = {}};
  cell.watchers.push_back({id_of(1), id_of(2), Instant(5s)});
  EXPECT_EQ(decode_cell(encode(cell)).take(), cell);
  EXPECT_EQ(decode_cell(encode(CellRecord{})).take(), CellRecord{});
}

TEST(Codec, HintIsKindAndSubject) {
  EXPECT_EQ(encode(Hint{id_of(1), Hint::Kind::wanted, id_of(2)}),
            std::string(1, '\x02') + std::string(16, '\x02'));
}

TEST(Codec, RefusesWhatIsCutShortOrHasAnEnd) {
  const std::string bytes = encode(full_record());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(words_of(bytes.substr(0, size)), "valid") << size;
  EXPECT_THAT(words_of(bytes + '\0'), HasSubstr("bytes after its end"));
}

TEST(Codec, SaysWhatIsWrong) {
  std::string bytes = encode(full_record());
  bytes[0] = 2;
  EXPECT_THAT(words_of(bytes), HasSubstr("newer version of Holdfast"));
  bytes[0] = 'S';
  EXPECT_THAT(words_of(bytes), HasSubstr("not the format"));
  bytes[0] = 1;
  bytes[8] = '\x80';
  EXPECT_THAT(words_of(bytes), HasSubstr("2^63"));
  bytes[8] = 0;
  bytes[25] = 4;
  EXPECT_THAT(words_of(bytes), HasSubstr("unknown way to end"));
  bytes[25] = 0;
  bytes[29] = '\x7f';  // two thousand million holders
  EXPECT_THAT(words_of(bytes), HasSubstr("longer than the record"));

  Record record = full_record();
  std::swap(record.waiters[0], record.waiters[1]);
  EXPECT_THAT(words_of(encode(record)), HasSubstr("out of order"));
  record = full_record();
  record.holders[0].ttl = -1s;
  EXPECT_THAT(words_of(encode(record)), HasSubstr("TTL out of range"));
  record = full_record();
  record.waiters[0].alive_until = Instant(-1s);
  EXPECT_THAT(words_of(encode(record)), HasSubstr("before the machine was started"));
  record = full_record();
  record.holders[0].mode.kind = static_cast<ModeKind>(3);
  EXPECT_THAT(words_of(encode(record)), HasSubstr("unknown mode"));
  EXPECT_EQ(decode_cell("\x02").failure().code, errc::misconfigured);
}

TEST(Codec, RefusesTextsThatDoNotFit) {
  Record record = full_record();
  record.holders[0].note.assign(70'000, 'x');
  EXPECT_THROW((void)encode(record), Error);
}

TEST(Codec, SurvivesAnyBytes) {
  std::mt19937 random(1);
  const std::string good = encode(full_record());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (std::size_t n = 1 + random() % 4; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (const auto record = decode_record(bytes); record.ok()) {
      EXPECT_EQ(encode(record.value()), bytes);
    }
    (void)decode_cell(bytes);
  }
}

}  // namespace
}  // namespace holdfast::driver
