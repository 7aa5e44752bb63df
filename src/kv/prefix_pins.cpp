#include "kv/prefix_pins.h"

#include <algorithm>

namespace ferrox {
namespace {

/// Tokens of the pin behind which a longer prompt goes on.
int64_t n_usable(const PrefixTree& tree, const PrefixPin& pin) {
  return tree.match(pin.space, pin.tokens, static_cast<int64_t>(pin.tokens.size())).n_usable;
}

}  // namespace

Result<PrefixPin> PrefixPins::add(std::string_view space, std::span<const int32_t> tokens,
                                  std::optional<PrefixPin::Time> end, std::string_view spaces) {
  const auto rows = static_cast<size_t>(page_rows_);
  const auto whole = tokens.first(tokens.size() / rows * rows);
  if (whole.empty()) {
    return make_error(ErrorCode::kInvalidArgument, "pin: expected at least a page of {} tokens, found {}", page_rows_,
                      tokens.size());
  }
  auto pin = std::ranges::find_if(
      pins_, [&](const PrefixPin& each) { return each.space == space && std::ranges::equal(each.tokens, whole); });
  if (pin == pins_.end()) {
    if (size(spaces) >= kMost) {
      return make_error(ErrorCode::kInvalidArgument, "pin: expected at most {} pins, found as many: remove one", kMost);
    }
    pins_.push_back({next_id_++, std::string(space), {whole.begin(), whole.end()}, {}});
    pin = std::prev(pins_.end());
  }
  pin->end = end;
  tree_.pin(pin->id, space, whole);
  PrefixPin added = *pin;
  added.n_cached = n_usable(tree_, added);
  return added;
}

size_t PrefixPins::size(std::string_view spaces) const {
  return static_cast<size_t>(
      std::ranges::count_if(pins_, [&](const PrefixPin& pin) { return pin.space.starts_with(spaces); }));
}

bool PrefixPins::remove(std::string_view spaces, uint64_t id) {
  const auto pin = std::ranges::find(pins_, id, &PrefixPin::id);
  if (pin == pins_.end() || !pin->space.starts_with(spaces)) return false;
  tree_.unpin(id, pin->space, pin->tokens);
  pins_.erase(pin);
  return true;
}

std::vector<PrefixPin> PrefixPins::list(std::string_view spaces) const {
  std::vector<PrefixPin> pins;
  for (const PrefixPin& pin : pins_) {
    if (!pin.space.starts_with(spaces)) continue;
    pins.push_back(pin);
    pins.back().n_cached = n_usable(tree_, pin);
  }
  return pins;
}

void PrefixPins::note_cached(std::string_view space, std::span<const int32_t> tokens) {
  for (const PrefixPin& pin : pins_) {
    if (pin.space == space && pin.tokens.front() == tokens.front()) tree_.pin(pin.id, space, pin.tokens);
  }
}

void PrefixPins::expire(PrefixPin::Time now) {
  std::erase_if(pins_, [&](const PrefixPin& pin) {
    if (!pin.end || now < *pin.end) return false;
    tree_.unpin(pin.id, pin.space, pin.tokens);
    return true;
  });
}

}  // namespace ferrox
