// Is a caller found by its key alone, and is a keys file read strictly?
#include "server/keys/key_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex.h"
#include "server/keys/keys_file.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;

/// Of the standard's example: SHA-256 of "abc".
constexpr const char* kHashOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

ApiKey named_key(const std::string& name, const std::string& key) {
  ApiKey entry;
  entry.name = name;
  entry.sha256 = digest_of(key);
  return entry;
}

HttpRequest with_headers(std::vector<HttpHeader> headers) {
  HttpRequest request;
  request.headers = std::move(headers);
  return request;
}

TEST(KeyRing, AKeyMatchesWholeOrNotAtAll) {
  const KeyRing ring = KeyRing::make({named_key("a", "alpha"), named_key("b", "beta")}).value();
  EXPECT_EQ(ring.find("alpha"), &ring.keys()[0]);
  EXPECT_EQ(ring.find("beta"), &ring.keys()[1]);
  for (const char* wrong : {"", "a", "alph", "alphaa", "alphaalpha", "ALPHA", "betb", "b"}) {
    EXPECT_EQ(ring.find(wrong), nullptr) << wrong;
  }
  EXPECT_EQ(ring.find(hex_of(digest_of("alpha"))), nullptr) << "a hash is no key";
  EXPECT_EQ(KeyRing::make({named_key("a", "")}).value().find(""), nullptr);
  EXPECT_EQ(KeyRing().find("alpha"), nullptr);
}

TEST(KeyRing, ACallerComesWithEitherHeader) {
  const KeyRing ring = KeyRing::make({named_key("a", "alpha"), named_key("b", "beta")}).value();
  EXPECT_EQ(ring.find_caller(with_headers({{"Authorization", "Bearer alpha"}})), &ring.keys()[0]);
  EXPECT_EQ(ring.find_caller(with_headers({{"x-api-key", "beta"}})), &ring.keys()[1]);
  EXPECT_EQ(ring.find_caller(with_headers({{"authorization", "Bearer x"}, {"x-api-key", "beta"}})), &ring.keys()[1]);
  EXPECT_EQ(ring.find_caller(with_headers({{"authorization", "Basic alpha"}})), nullptr);
  EXPECT_EQ(ring.find_caller(with_headers({})), nullptr);
}

TEST(KeyRing, ANameAndAKeyStandOnce) {
  EXPECT_THAT(KeyRing::make({named_key("a", "x"), named_key("a", "y")}).error().message, HasSubstr("each name once"));
  EXPECT_THAT(KeyRing::make({named_key("a", "x"), named_key("b", "x")}).error().message, HasSubstr("each key once"));
}

TEST(KeyRing, AKeyOfTheCommandLineMayDoEverything) {
  const ApiKey key = unlimited_key("abc");
  EXPECT_EQ(hex_of(key.sha256), kHashOfAbc);
  EXPECT_EQ(key.name, "key-ba7816bf8f01");
  EXPECT_TRUE(key.is_admin);
  EXPECT_EQ(key.priority, kFirstPriority);
  EXPECT_FALSE(key.max_requests || key.tokens_per_minute);
  EXPECT_EQ(key.weight, 1);
}

TEST(KeyRing, RandomKeysDiffer) {
  const std::string key = make_random_key().value();
  EXPECT_EQ(key.size(), 3u + 64u);
  EXPECT_NE(key, make_random_key().value());
}

std::string file_of(const std::string& entries) { return "{\"keys\": [" + entries + "]}"; }

std::string entry_of(const std::string& more) {
  return std::string(R"({"name": "a", "sha256": ")") + kHashOfAbc + "\"" + more + "}";
}

TEST(KeysFile, EveryMemberReachesItsPlace) {
  const auto keys = parse_keys_file(
      file_of(
          entry_of(R"(, "weight": 2.5, "max_requests": 3, "tokens_per_minute": 600, "priority": -7, "admin": true)")),
      "keys.json");
  ASSERT_TRUE(keys) << keys.error().message;
  ASSERT_EQ(keys->size(), 1u);
  const ApiKey& key = keys->front();
  EXPECT_EQ(key.name, "a");
  EXPECT_EQ(key.sha256, digest_of("abc"));
  EXPECT_EQ(key.weight, 2.5);
  EXPECT_EQ(key.max_requests, 3);
  EXPECT_EQ(key.tokens_per_minute, 600);
  EXPECT_EQ(key.priority, -7);
  EXPECT_TRUE(key.is_admin);
}

TEST(KeysFile, WhatIsAbsentHasNoLimitAndNoRight) {
  const ApiKey key = parse_keys_file(file_of(entry_of("")), "keys.json").value().front();
  EXPECT_EQ(key.weight, 1);
  EXPECT_FALSE(key.max_requests || key.tokens_per_minute || key.is_admin);
  EXPECT_EQ(key.priority, 0);
}

TEST(KeysFile, ANewEntryIsReadBack) {
  const auto keys = parse_keys_file(file_of(new_key_entry("alice", "secret").value()), "keys.json");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->front().sha256, digest_of("secret"));
  EXPECT_THAT(new_key_entry("no spaces", "secret").error().message, HasSubstr("letters, digits"));
}

struct BadKeys {
  std::string text;
  std::string message;  ///< a part of it
};

TEST(KeysFile, FaultsAreToldWithTheirPlace) {
  const std::string entry = entry_of("");
  const BadKeys all[] = {
      {"", "json: "},
      {"[]", "one member \"keys\""},
      {R"({"keys": {}})", "one member \"keys\""},
      {R"({"keys": [], "more": 1})", "one member \"keys\""},
      {R"({"keys": []})", "at least one entry"},
      {file_of("7"), "keys[0]: entry: expected an object, found 7"},
      {file_of("{}"), "keys[0]: name: expected a string, found none"},
      {file_of(R"({"name": "a"})"), "keys[0]: sha256: expected 64 hexadecimal digits in lower case, found none"},
      {file_of(R"({"name": "", "sha256": "x"})"), "name: expected a string with a length from 1 to 64 bytes"},
      {file_of(R"({"name": "a\nb", "sha256": "x"})"), "name: expected letters, digits"},
      {file_of(R"({"name": "a", "sha256": "x"})"), "sha256: expected 64 hexadecimal digits in lower case, found \"x\""},
      {file_of(entry_of(R"(, "key": "abc")")), "key: expected a member that entries have"},
      {file_of(entry_of(R"(, "weight": 0)")), "weight: expected a number from 0.001 to 1000, found 0"},
      {file_of(entry_of(R"(, "max_requests": 0)")), "max_requests: expected an integer from 1 to 1000000, found 0"},
      {file_of(entry_of(R"(, "tokens_per_minute": 1.5)")), "tokens_per_minute: expected an integer from 1"},
      {file_of(entry_of(R"(, "tokens_per_minute": 1e300)")), "tokens_per_minute: expected an integer from 1"},
      {file_of(entry_of(R"(, "priority": -101)")), "priority: expected an integer from -100 to 100, found -101"},
      {file_of(entry_of(R"(, "admin": 1)")), "admin: expected true or false, found 1"},
      {file_of(entry_of(R"(, "max_requests": null)")), "max_requests: expected a value or no such member"},
      {file_of(entry_of(R"(, "admin": true, "admin": false)")), "'admin' twice"},
      {file_of(entry + "," + entry), "expected each name once, found that of 'a' twice"},
      {file_of(R"({"name": "a", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})"),
       "the hash of a key and not of nothing"},
  };
  for (const BadKeys& bad : all) {
    const auto keys = parse_keys_file(bad.text, "keys.json");
    ASSERT_FALSE(keys) << bad.text;
    EXPECT_EQ(keys.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(keys.error().message, ::testing::StartsWith("keys.json: ")) << bad.text;
    EXPECT_THAT(keys.error().message, HasSubstr(bad.message)) << bad.text;
  }
}

}  // namespace
}  // namespace ferrox
