// How does text leave? A stream that can't be written never stops the work; main asks once whether all has arrived.
#pragma once

#include <cstdio>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"

namespace ferrox {

/// Writes without throwing: a failure stays on the stream, where flush_output and std::ferror see it.
void write_text(std::FILE* stream, std::string_view text);

/// To standard output.
template <class... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  write_text(stdout, fmt::format(format, std::forward<Args>(args)...));
}

/// To standard error, where a failure is nobody's concern.
template <class... Args>
void print_err(fmt::format_string<Args...> format, Args&&... args) {
  write_text(stderr, fmt::format(format, std::forward<Args>(args)...));
}

/// kIo when anything that was printed didn't reach standard output.
Result<void> flush_output();

/// Keeps descriptors 0, 1 and 2 from being given to files: where a caller closed one, what is read or written there
/// fails from now on, and nothing else gets it.
void hold_standard_streams();

}  // namespace ferrox
