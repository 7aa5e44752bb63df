// Is a file of another kind named, with what to do about it?
#include "gguf/file_magic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

void expect_named(const std::string& start, const char* message) {
  const auto checked = check_magic(std::as_bytes(std::span(start)));
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr(message));
}

TEST(FileMagic, OtherKindsAreNamed) {
  expect_named("\x40\x01\0\0\0\0\0\0{\"__metadata__\":{}}"s, "safetensors");
  expect_named("PK\x03\x04rest", "zip archive");
  expect_named("\x80\x02}q", "python pickle");
  expect_named("FUGG\0\0\0\3"s, "big-endian");
  expect_named("tjgg\3\0\0\0"s, "ggjt");
  expect_named("<!DOCTYPE html>", "web page");
  expect_named("version https://git-lfs.github.com/spec/v1", "git lfs pull");
  expect_named("{\"error\":\"not found\"}", "json");
  expect_named("\x1f\x8b\x08", "gzip");
  expect_named("", "empty");
}

TEST(FileMagic, AnythingElseShowsItsBytes) {
  expect_named("GG", "expected the first bytes 47 47 55 46, found 47 47");
  expect_named("\xfeold\x01", "found fe 6f 6c 64");
}

TEST(FileMagic, GgufIsAccepted) { EXPECT_TRUE(check_magic(std::as_bytes(std::span("GGUF\3")))); }

}  // namespace
}  // namespace ferrox
