#include "cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/output.h"

namespace ferrox {
namespace {

constexpr int kBarCells = 30;

int descriptor(Stream stream) {
  if (stream == Stream::kIn) return STDIN_FILENO;
  return stream == Stream::kOut ? STDOUT_FILENO : STDERR_FILENO;
}

}  // namespace

bool is_terminal(Stream stream) { return isatty(descriptor(stream)) == 1; }

ProgressBar::ProgressBar(std::string label) : label_(std::move(label)), enabled_(is_terminal(Stream::kErr)) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::update(double fraction) {
  const int percent = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 100);
  if (!enabled_ || percent == percent_) return;
  percent_ = percent;
  const int n_full = percent * kBarCells / 100;
  print_err("\r{} [{:#<{}}{:.<{}}] {:3}%", label_, "", n_full, "", kBarCells - n_full, percent);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (percent_ < 0) return;
  percent_ = -1;
  print_err("\r\033[K");
  std::fflush(stderr);
}

}  // namespace ferrox
