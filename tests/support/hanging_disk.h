// How does a test make a disk hang? The file that the tiers write next is a pipe that is full.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

namespace ferrox::testing {

/// Must outlive the folder's writer, which must have opened the folder before.
class HangingDisk {
 public:
  explicit HangingDisk(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "writing.tmp1";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    pipe_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    while (::write(pipe_, buffer_.data(), buffer_.size()) > 0) {
    }
  }
  HangingDisk(const HangingDisk&) = delete;
  HangingDisk& operator=(const HangingDisk&) = delete;
  ~HangingDisk() {
    release();
    is_over_ = true;
    reader_.join();
    ::close(pipe_);
  }

  /// What is written is taken from now on.
  void release() {
    if (reader_.joinable()) return;
    reader_ = std::thread([this] {
      constexpr int kLongestMs = 10;
      while (!is_over_) {
        pollfd readable{pipe_, POLLIN, 0};
        if (::poll(&readable, 1, kLongestMs) > 0 && ::read(pipe_, buffer_.data(), buffer_.size()) <= 0) return;
      }
    });
  }

 private:
  std::array<char, 1024> buffer_{};
  int pipe_ = -1;
  std::atomic<bool> is_over_ = false;
  std::thread reader_;
};

}  // namespace ferrox::testing
