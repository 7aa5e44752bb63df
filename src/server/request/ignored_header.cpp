// How do names from a client become a header's value?
#include "server/request/ignored_header.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ferrox {
namespace {

constexpr size_t kMaxHeaderListBytes = 1024;

char harmless(char c) {
  const bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_alphanumeric || std::string_view("_.-[]").find(c) != std::string_view::npos ? c : '?';
}

}  // namespace

std::string header_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    if (list.size() + name.size() > kMaxHeaderListBytes) return list + (list.empty() ? "..." : ", ...");
    if (!list.empty()) list += ", ";
    std::transform(name.begin(), name.end(), std::back_inserter(list), harmless);
  }
  return list;
}

void add_ignored_header(const std::vector<std::string>& names, std::vector<HttpHeader>& headers) {
  if (!names.empty()) headers.push_back({"x-ferrox-ignored", header_list(names)});
}

}  // namespace ferrox
