#include "cli/metadata_view.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>

#include "text/utf8.h"

namespace ferrox {
namespace {

constexpr size_t kLineBytes = 100;
constexpr size_t kLineElements = 6;

template <class T>
std::string element_text(const T& element) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return fmt::format("\"{}\"", printable(element, kLineBytes / 4));
  } else {
    return fmt::format("{}", element);
  }
}

template <class T>
std::string array_line(const std::vector<T>& array) {
  std::string line = "[";
  const size_t n_shown = std::min(array.size(), kLineElements);
  for (size_t i = 0; i < n_shown; ++i) line += (i > 0 ? ", " : "") + element_text<T>(array[i]);
  if (n_shown < array.size()) line += fmt::format(", ... {} in all", array.size());
  return line + "]";
}

template <class T>
nlohmann::ordered_json array_json(const std::vector<T>& array, size_t most_elements) {
  auto list = nlohmann::ordered_json::array();
  const size_t n_shown = std::min(array.size(), most_elements);
  for (size_t i = 0; i < n_shown; ++i) list.push_back(static_cast<T>(array[i]));
  if (n_shown == array.size()) return list;
  return {{"count", array.size()}, {"first", std::move(list)}};
}

/// Marks that change the direction of what stands around them, so that a line reads otherwise than it is.
bool is_direction_mark(std::string_view character) {
  constexpr std::string_view kMarks[] = {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c",
                                         "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"};
  return std::find(std::begin(kMarks), std::end(kMarks), character) != std::end(kMarks);
}

bool is_control(std::string_view character) {
  const auto byte = static_cast<unsigned char>(character[0]);
  const bool c1 = byte == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return byte < 0x20 || byte == 0x7F || c1 || is_direction_mark(character);
}

void append_escaped(std::string& out, std::string_view bytes) {
  if (bytes == "\n") {
    out += "\\n";
    return;
  }
  if (bytes == "\t") {
    out += "\\t";
    return;
  }
  for (const char byte : bytes) fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
}

}  // namespace

std::string printable(std::string_view text, size_t most_bytes) {
  const std::string_view whole = text;
  std::string out;
  while (!text.empty() && out.size() < most_bytes) {
    const Utf8Step step = next_utf8(text);
    const std::string_view bytes = text.substr(0, step.length);
    if (step.kind == Utf8Kind::kCharacter && !is_control(bytes)) {
      out += bytes;
    } else {
      append_escaped(out, bytes);
    }
    text.remove_prefix(step.length);
  }
  if (!text.empty()) out += fmt::format("... {} bytes in all", whole.size());
  return out;
}

std::string metadata_line(const MetaValue& value) {
  const auto show = [](const auto& held) -> std::string {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Held, MetaArray>) {
      return std::visit([](const auto& array) { return array_line(array); }, held);
    } else if constexpr (std::is_same_v<Held, std::string>) {
      return printable(held, kLineBytes);
    } else {
      return fmt::format("{}", held);
    }
  };
  return std::visit(show, value);
}

nlohmann::ordered_json metadata_json(const MetaValue& value, size_t most_elements) {
  const auto convert = [most_elements](const auto& held) -> nlohmann::ordered_json {
    if constexpr (std::is_same_v<std::decay_t<decltype(held)>, MetaArray>) {
      return std::visit([&](const auto& array) { return array_json(array, most_elements); }, held);
    } else {
      return held;
    }
  };
  return std::visit(convert, value);
}

}  // namespace ferrox
