// Which entities stand for the five special characters?
#include "text/jinja/html.h"

#include <algorithm>

namespace ferrox::jinja {
namespace {

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&#34;";
    default:
      return "&#39;";
  }
}

}  // namespace

void add_escaped(TextBuilder& out, const Text& text) {
  text.for_each_run(0, text.size(), [&out](std::string_view bytes, Origin origin) {
    while (!bytes.empty()) {
      const size_t special = std::min(bytes.find_first_of("&<>\"'"), bytes.size());
      out.add(bytes.substr(0, special), origin);
      if (special == bytes.size()) return;
      out.add(entity(bytes[special]), origin);
      bytes.remove_prefix(special + 1);
    }
  });
}

}  // namespace ferrox::jinja
