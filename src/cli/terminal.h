// Is somebody watching? Progress bars and colours go to terminals only.
#pragma once

#include <string>

namespace ferrox {

enum class Stream { kIn, kOut, kErr };

bool is_terminal(Stream stream);

/// A bar on stderr that redraws itself in place; without a terminal there it does nothing.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws when the percentage changed; `fraction` is cut to [0, 1].
  void update(double fraction);

  /// Wipes the line, so that what follows starts at its left edge.
  void clear();

 private:
  std::string label_;
  bool enabled_;
  int percent_ = -1;
};

}  // namespace ferrox
