// What happens at a bug of ours? CHECK names it and ends the process. No input can reach one; fuzzers prove it.
#pragma once

namespace ferrox {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);

}  // namespace ferrox

/// CHECK(condition, why): `why` is a string literal that says which promise was broken.
#define CHECK(condition, why) \
  (static_cast<bool>(condition) ? void(0) : ::ferrox::check_failed(__FILE__, __LINE__, #condition, why))
