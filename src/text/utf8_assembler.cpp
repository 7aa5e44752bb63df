// How do bytes that arrive in any pieces become whole UTF-8 text?
#include "text/utf8_assembler.h"

#include "text/utf8.h"

namespace ferrox {

std::string Utf8Assembler::push(std::string_view bytes) {
  pending_.append(bytes);
  std::string text;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const size_t n_valid = valid_utf8_prefix(rest);
    text.append(rest.substr(0, n_valid));
    rest.remove_prefix(n_valid);
    if (rest.empty()) break;
    const Utf8Step step = next_utf8(rest);
    if (step.kind == Utf8Kind::kIncomplete) break;
    text.append(kReplacementCharacter);
    rest.remove_prefix(step.length);
  }
  pending_ = std::string(rest);
  return text;
}

std::string Utf8Assembler::flush() {
  std::string text(pending_.empty() ? std::string_view() : kReplacementCharacter);
  pending_.clear();
  return text;
}

}  // namespace ferrox
