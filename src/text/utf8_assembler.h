// How do bytes that arrive in any pieces become whole UTF-8 text?
#pragma once

#include <string>
#include <string_view>

namespace ferrox {

/// Emits only whole, valid UTF-8. A character that straddles pushes is held until its last byte; bytes that can't be
/// part of any character become U+FFFD, one per maximal subpart (WHATWG). What comes out in all doesn't depend on
/// where the pushes were cut.
class Utf8Assembler {
 public:
  /// Takes more bytes; returns the text they complete, which may be empty.
  std::string push(std::string_view bytes);

  /// Ends the stream: U+FFFD for a character left incomplete, else nothing. Ready for another stream afterwards.
  std::string flush();

  /// Bytes held back, 0 to 3.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  std::string pending_;
};

}  // namespace ferrox
