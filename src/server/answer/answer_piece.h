// What do some events add to a stream?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/answer/answer_writer.h"
#include "server/app.h"
#include "server/generation.h"

namespace ferrox {

struct AnswerPiece {
  std::string bytes;
  std::optional<ApiError> failure;  ///< what ended it, behind the bytes
  bool is_last = false;             ///< nothing follows
};

/// The bytes of events that `generation` gave last, and the closing ones when it has finished.
AnswerPiece next_piece(App& app, const Generation& generation, AnswerWriter& writer,
                       const std::vector<ChoiceEvent>& events);

}  // namespace ferrox
