// Are a file's bytes there as long as the map is, and is everything that isn't a file refused?
#include "base/file_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "support/temp_folder.h"

namespace ferrox {
namespace {

class FileMapTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  testing::TempFolder folder_;
};

std::string text_of(const FileMap& map) {
  return {reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()};
}

TEST_F(FileMapTest, HoldsTheFilesBytes) {
  const std::string text(10000, 'x');
  const auto map = FileMap::open(write("a", text + "end"));
  ASSERT_TRUE(map);
  EXPECT_EQ(text_of(*map), text + "end");
  map->advise_will_need();
}

TEST_F(FileMapTest, OutlivesTheName) {
  const auto path = write("a", "still here");
  const auto map = FileMap::open(path);
  ASSERT_TRUE(map);
  std::filesystem::remove(path);
  EXPECT_EQ(text_of(*map), "still here");
}

TEST_F(FileMapTest, EmptyFilesAreEmpty) {
  const auto map = FileMap::open(write("a", ""));
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->bytes().empty());
  map->advise_will_need();
  EXPECT_TRUE(FileMap().bytes().empty());
}

TEST_F(FileMapTest, Moves) {
  auto first = FileMap::open(write("a", "first"));
  auto second = FileMap::open(write("b", "second"));
  ASSERT_TRUE(first && second);
  FileMap moved(std::move(*first));
  EXPECT_EQ(text_of(moved), "first");
  moved = std::move(*second);
  EXPECT_EQ(text_of(moved), "second");
}

void expect_refused(const std::filesystem::path& path, ErrorCode code, const std::string& words) {
  const auto map = FileMap::open(path);
  ASSERT_FALSE(map) << path;
  EXPECT_EQ(map.error().code, code);
  EXPECT_NE(map.error().message.find(path.string()), std::string::npos) << map.error().message;
  EXPECT_NE(map.error().message.find(words), std::string::npos) << map.error().message;
}

TEST_F(FileMapTest, WhatIsNoFileIsRefusedByName) {
  expect_refused(folder_ / "absent", ErrorCode::kNotFound, "can't open");
  expect_refused(folder_.path(), ErrorCode::kInvalidArgument, "found a directory");
  expect_refused("/dev/null", ErrorCode::kInvalidArgument, "found a pipe, device or socket");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_refused(folder_ / "pipe", ErrorCode::kInvalidArgument, "found a pipe");
  expect_refused(write("a", "x") / "below", ErrorCode::kIo, "can't open");
}

TEST_F(FileMapTest, AFileWithoutPermissionIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto path = write("a", "secret");
  ::chmod(path.c_str(), 0);
  expect_refused(path, ErrorCode::kIo, "can't open");
}

}  // namespace
}  // namespace ferrox
