// Does every template source parse and render, or fail with a message, within its limits?
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/jinja/template.h"

namespace {

/// Values of every kind, so that operators, filters and methods have something to work on.
const nlohmann::ordered_json& variables() {
  static const auto json = nlohmann::ordered_json::parse(R"({
    "messages": [
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": [{"type": "text", "text": "a\u00e9\ud83d\ude00"}]},
      {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}]}
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
    "s": "Hello, W\u00f6rld", "n": 7, "f": 2.5, "big": 18446744073709551615, "yes": true, "nil": null,
    "xs": [3, 1, 2], "d": {"a": 1, "b": [1, 2]}, "add_generation_prompt": true
  })");
  return json;
}

ferrox::RenderOptions options() {
  ferrox::RenderOptions result;
  result.now = *ferrox::parse_clock("2025-03-14 09:26:53");
  result.limits.max_steps = 200'000;
  result.limits.max_work_bytes = size_t{16} << 20;
  result.limits.max_text_bytes = size_t{1} << 20;
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ferrox::RenderOptions kOptions = options();
  const auto parsed = ferrox::JinjaTemplate::parse({reinterpret_cast<const char*>(data), size});
  if (!parsed) return 0;
  const auto rendered = parsed->render(variables(), kOptions);
  if (!rendered) return 0;
  bool first = true;
  bool last_kind = false;
  for (const auto& segment : rendered->segments()) {
    if (segment.text.empty() || (!first && segment.is_template == last_kind)) std::abort();
    first = false;
    last_kind = segment.is_template;
  }
  return 0;
}
