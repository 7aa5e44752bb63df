// How are headers found, and bodies let go?
#include "server/http/message.h"

#include <algorithm>
#include <cctype>

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

void HttpRequest::drop_body() {
  std::string().swap(body);
  body_share.reset();
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace ferrox
