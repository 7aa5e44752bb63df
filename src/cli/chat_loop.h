// How is a conversation held line by line? Messages are answered, lines that begin with a slash are commands.
#pragma once

#include <functional>
#include <string>

#include "cli/chat_session.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/line_editor.h"

namespace ferrox {

class ChatLoop {
 public:
  ChatLoop(ChatSession& session, LineEditor& editor, InterruptGuard& interrupts)
      : session_(session), editor_(editor), interrupts_(interrupts) {}

  /// Until /quit, the end of input, or Ctrl-C twice at the prompt. kFailed when input is a pipe and an answer failed.
  ExitCode run();

 private:
  enum class Next { kGoOn, kQuit };

  Next handle(const std::string& line);
  Next handle_command(const std::string& line);
  void show(const Result<Answer>& answer);

  ChatSession& session_;
  LineEditor& editor_;
  InterruptGuard& interrupts_;
  ExitCode exit_code_ = ExitCode::kSuccess;
};

}  // namespace ferrox
