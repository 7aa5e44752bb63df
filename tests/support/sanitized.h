// Does a sanitizer watch this build? It is many times slower then, and its memory isn't the system's to count.
#pragma once

namespace ferrox::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace ferrox::testing
