// How are keys hashed and compared?
#include "text/jinja/dict.h"

#include <algorithm>
#include <functional>

#include "text/jinja/failure.h"

namespace ferrox::jinja {
namespace {

constexpr size_t kNowhere = static_cast<size_t>(-1);
constexpr size_t kLinearSize = 8;    // below it, comparing all keys is faster than hashing
constexpr size_t kMaxTupleKey = 64;  // bounds the cost of one look-up

bool is_scalar(const Value& value) { return value.is_none() || value.is_number() || value.is_text(); }

bool same_scalar(const Value& a, const Value& b) {
  if (a.is_text() || b.is_text()) return a.is_text() && b.is_text() && a.bytes() == b.bytes();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.is_integral() && b.is_integral()) return a.integer() == b.integer();
  return a.number() == b.number();
}

bool same_key(const Value& a, const Value& b) {
  if (a.is(Kind::kSequence) != b.is(Kind::kSequence)) return false;
  if (!a.is(Kind::kSequence)) return same_scalar(a, b);
  return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), same_scalar);
}

size_t hash_key(const Value& key) {
  if (key.is_text()) return std::hash<std::string_view>()(key.bytes());
  if (key.is_number()) return std::hash<double>()(key.number());
  if (!key.is(Kind::kSequence)) return 0;
  size_t hash = 1;
  for (const Value& item : key.items()) hash = hash * 1000003 + hash_key(item);
  return hash;
}

}  // namespace

bool is_hashable(const Value& value) {
  if (is_scalar(value)) return true;
  return value.is_sequence(SequenceKind::kTuple) && value.items().size() <= kMaxTupleKey &&
         std::all_of(value.items().begin(), value.items().end(), is_scalar);
}

size_t Dict::locate(const Value& key, size_t hash) const {
  if (index_.empty()) {
    const auto same = [&key](const Entry& entry) { return same_key(entry.first, key); };
    const auto found = std::find_if(entries_.begin(), entries_.end(), same);
    return found == entries_.end() ? kNowhere : static_cast<size_t>(found - entries_.begin());
  }
  for (auto [at, end] = index_.equal_range(hash); at != end; ++at) {
    if (same_key(entries_[at->second].first, key)) return at->second;
  }
  return kNowhere;
}

const Value* Dict::find(const Value& key) const {
  if (!is_hashable(key)) return nullptr;
  const size_t at = locate(key, index_.empty() ? 0 : hash_key(key));
  return at == kNowhere ? nullptr : &entries_[at].second;
}

const Value* Dict::find(std::string_view key) const { return find(template_text(std::string(key))); }

void Dict::set(Value key, Value value) {
  if (!is_hashable(key)) fail("unhashable type: '{}'", type_name(key));
  depth_ = std::max({depth_, 1 + depth_of(value), 1 + depth_of(key)});
  const size_t hash = hash_key(key);
  if (const size_t at = locate(key, hash); at != kNowhere) {
    entries_[at].second = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (!index_.empty()) {
    index_.emplace(hash, entries_.size() - 1);
  } else if (entries_.size() > kLinearSize) {
    for (size_t i = 0; i < entries_.size(); ++i) index_.emplace(hash_key(entries_[i].first), i);
  }
}

}  // namespace ferrox::jinja
