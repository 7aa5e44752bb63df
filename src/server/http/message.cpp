// How are header names compared and paths decoded?
#include "server/http/message.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ferrox {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

const HttpHeader* find_header(const std::vector<HttpHeader>& headers, std::string_view name) {
  const auto has_name = [name](const HttpHeader& header) { return equal_ignoring_case(header.name, name); };
  const auto found = std::find_if(headers.begin(), headers.end(), has_name);
  return found == headers.end() ? nullptr : &*found;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const HttpHeader* found = find_header(headers, name);
  return found == nullptr ? std::string_view() : std::string_view(found->value);
}

bool HttpRequest::has_header(std::string_view name) const { return find_header(headers, name) != nullptr; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out.push_back(static_cast<char>(value));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace ferrox
