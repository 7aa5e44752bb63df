#include "cli/line_editor.h"

#include <histedit.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "cli/terminal.h"

namespace ferrox {
namespace {

constexpr int kHistoryLines = 1000;

// libedit decodes by the locale's character set: "C" would mangle everything beyond ASCII.
void use_utf8_locale() {
  const char* current = std::setlocale(LC_CTYPE, "");
  if (current == nullptr || std::strstr(current, "UTF-8") == nullptr) std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

struct LineEditor::Terminal {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string history_path;
  std::string prompt;
  bool interrupted = false;

  explicit Terminal(std::string path) : history_path(std::move(path)) {
    use_utf8_locale();
    editor = el_init("ferrox", stdin, stdout, stderr);
    history = history_init();
    HistEvent event;
    ::history(history, &event, H_SETSIZE, kHistoryLines);
    ::history(history, &event, H_SETUNIQUE, 1);
    if (!history_path.empty()) ::history(history, &event, H_LOAD, history_path.c_str());
    el_set(editor, EL_CLIENTDATA, this);
    el_set(editor, EL_PROMPT, &show_prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_HIST, ::history, history);
    bind_keys();
  }

  ~Terminal() {
    if (!history_path.empty()) {
      HistEvent event;
      ::history(history, &event, H_SAVE, history_path.c_str());
    }
    history_end(history);
    el_end(editor);
  }

  // While a line is edited, Ctrl-C and Ctrl-Z are keys like others, not signals: dropping a line is no interrupt.
  void bind_keys() {
    el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
    el_set(editor, EL_ADDFN, "ferrox-suspend", "stops the program", &suspend);
    el_set(editor, EL_BIND, "^Z", "ferrox-suspend", nullptr);
    el_set(editor, EL_ADDFN, "ferrox-drop-line", "drops the line", &drop_line);
    el_set(editor, EL_BIND, "^C", "ferrox-drop-line", nullptr);
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  }

  static char* show_prompt(EditLine* editor) { return self(editor)->prompt.data(); }

  static unsigned char drop_line(EditLine* editor, int) {
    self(editor)->interrupted = true;
    return CC_EOF;
  }

  static unsigned char suspend(EditLine* editor, int) {
    el_set(editor, EL_PREP_TERM, 0);
    std::raise(SIGTSTP);  // goes on here when the shell continues it
    el_set(editor, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
  }

  static Terminal* self(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return static_cast<Terminal*>(data);
  }

  std::optional<Line> read(const std::string& text) {
    prompt = text;
    interrupted = false;
    int n_bytes = 0;
    el_set(editor, EL_PREP_TERM, 1);  // el_gets does it after the prompt is out: a Ctrl-C in between would be a signal
    const char* line = el_gets(editor, &n_bytes);
    if (interrupted) {
      el_reset(editor);
      std::fputs("^C\n", stdout);
      return Line{"", true};
    }
    if (line == nullptr || n_bytes <= 0) return std::nullopt;
    std::string read(line, static_cast<size_t>(n_bytes));
    if (read.ends_with('\n')) read.pop_back();
    if (!read.empty()) {
      HistEvent event;
      ::history(history, &event, H_ENTER, read.c_str());
    }
    return Line{std::move(read), false};
  }
};

LineEditor::LineEditor(std::string history_path) {
  if (is_terminal(Stream::kIn) && is_terminal(Stream::kOut))
    terminal_ = std::make_unique<Terminal>(std::move(history_path));
}

LineEditor::~LineEditor() = default;

std::optional<LineEditor::Line> LineEditor::read(const std::string& prompt) {
  if (terminal_) return terminal_->read(prompt);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return Line{std::move(line), false};
}

std::string default_history_path() {
  namespace fs = std::filesystem;
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (state != nullptr && *state != '\0') {
    folder = fs::path(state) / "ferrox";
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".local" / "state" / "ferrox";
  } else {
    return "";
  }
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? "" : (folder / "history").string();
}

}  // namespace ferrox
