// Where in a text do special tokens stand? Leftmost first, the longest there.
#include "text/special_matcher.h"

namespace ferrox {

SpecialMatcher::SpecialMatcher() : nodes_(1) {}

void SpecialMatcher::add(std::string_view text, int32_t id, Trust trust) {
  if (text.empty()) return;
  uint32_t node = 0;
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    const uint32_t next = node == 0 ? first_[byte] : child(node, byte);
    node = next != 0 ? next : append_node(node, byte);
  }
  if (nodes_[node].id >= 0) return;
  nodes_[node].id = id;
  nodes_[node].trust = trust;
}

uint32_t SpecialMatcher::append_node(uint32_t parent, uint8_t byte) {
  const auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  nodes_[node].byte = byte;
  if (parent == 0) {
    first_[byte] = node;
  } else {
    nodes_[node].next_sibling = nodes_[parent].first_child;
    nodes_[parent].first_child = node;
  }
  return node;
}

uint32_t SpecialMatcher::child(uint32_t node, uint8_t byte) const {
  uint32_t at = nodes_[node].first_child;
  while (at != 0 && nodes_[at].byte != byte) at = nodes_[at].next_sibling;
  return at;
}

SpecialMatcher::Match SpecialMatcher::match_at(std::string_view text, size_t at, size_t trusted_end) const {
  Match best;
  size_t end = at + 1;
  for (uint32_t node = first_[static_cast<uint8_t>(text[at])]; node != 0;) {
    const bool allowed = nodes_[node].trust == Trust::kAnyText || end <= trusted_end;
    if (nodes_[node].id >= 0 && allowed) best = {nodes_[node].id, at, end - at};
    if (end == text.size()) break;
    node = child(node, static_cast<uint8_t>(text[end]));
    ++end;
  }
  return best;
}

}  // namespace ferrox
