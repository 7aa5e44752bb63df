#include "server/answer/answer_piece.h"

namespace ferrox {

AnswerPiece next_piece(App& app, const Generation& generation, AnswerWriter& writer,
                       const std::vector<ChoiceEvent>& events) {
  AnswerPiece piece;
  for (const ChoiceEvent& event : events) {
    if (const auto* error = std::get_if<Error>(&event.event)) {
      piece.failure = app.run_failure(*error);
      piece.is_last = true;
      return piece;
    }
    piece.bytes += writer.events_of(event);
  }
  piece.is_last = generation.finished();
  if (piece.is_last) piece.bytes += writer.closing_events();
  return piece;
}

}  // namespace ferrox
