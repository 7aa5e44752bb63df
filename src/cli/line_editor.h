// How is a line read from a person? With editing and history on a terminal, plainly from a pipe.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace ferrox {

class LineEditor {
 public:
  /// History is kept in `history_path` between runs; empty: not at all.
  explicit LineEditor(std::string history_path);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Line {
    std::string text;
    bool interrupted = false;  ///< Ctrl-C: what had been typed is gone
  };

  /// The next line without its newline; nothing at the end of input (Ctrl-D).
  std::optional<Line> read(const std::string& prompt);

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;  // absent when input isn't a terminal
};

/// $XDG_STATE_HOME/ferrox/history or ~/.local/state/ferrox/history, its folder made; empty when there is no home.
std::string default_history_path();

}  // namespace ferrox
