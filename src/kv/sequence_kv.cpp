#include "kv/sequence_kv.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "kv/paged_store.h"

namespace ferrox {

SequenceKv::SequenceKv(PageGroups& groups, int32_t page_rows) : groups_(&groups), page_rows_(page_rows) {
  for (int kind = 0; kind < groups.n_attention_kinds(); ++kind) tables_.emplace_back(groups.pool(kind), page_rows);
  if (groups.has_state()) state_.emplace(groups.state_pool());
  views_.resize(tables_.size());
}

int64_t SequenceKv::capacity() const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const KindTable& table : tables_) least = std::min(least, table.capacity());
  return least;
}

int64_t SequenceKv::n_held() const {
  int64_t n = 0;
  for (const KindTable& table : tables_) n += table.n_held();
  return n + (state_ ? state_->n_held() : 0);
}

bool SequenceKv::reserve(int64_t n) {
  CHECK(n >= 0, "a number of rows is not negative");
  if (n > std::numeric_limits<int64_t>::max() - length_) return false;
  std::vector<int64_t> missing;
  for (const KindTable& table : tables_) missing.push_back(table.n_missing(length_ + n));
  if (state_) missing.push_back(state_->n_held() > 0 ? 0 : 1);
  return reserve_pages(missing);
}

bool SequenceKv::reserve_pages(std::span<const int64_t> n) {
  if (!groups_->fits(n)) return false;
  for (size_t kind = 0; kind < tables_.size(); ++kind) {
    CHECK(tables_[kind].reserve_pages(n[kind]), "what was counted as free can be taken");
  }
  if (state_) CHECK(state_->reserve(n.back()), "what was counted as free can be taken");
  return true;
}

void SequenceKv::return_pages(std::span<const int64_t> n) {
  for (size_t kind = 0; kind < tables_.size(); ++kind) tables_[kind].return_pages(n[kind]);
  if (state_) state_->give_back(n.back());
}

std::span<const PageTable> SequenceKv::cover(int64_t n) {
  for (size_t kind = 0; kind < tables_.size(); ++kind) {
    tables_[kind].cover(length_ + n);
    views_[kind] = tables_[kind].pages();
  }
  return views_;
}

void SequenceKv::advance(int64_t n) {
  CHECK(n >= 0, "a number of rows is not negative");
  for (const KindTable& table : tables_)
    CHECK(n <= table.covered() - length_, "rows are written where they are reserved");
  length_ += n;
}

void SequenceKv::adopt(std::span<const PageTable> pages, int64_t n_positions) {
  CHECK(length_ == 0 && n_positions % page_rows_ == 0, "a prefix of whole pages comes first");
  for (size_t kind = 0; kind < tables_.size(); ++kind) {
    CHECK(static_cast<int64_t>(pages[kind].size()) * page_rows_ == n_positions, "each kind's pages cover the prefix");
    tables_[kind].adopt(pages[kind]);
  }
  length_ = n_positions;
}

std::optional<SequenceKv> SequenceKv::fork(PagedStore& store, std::span<const int64_t> n_pages) {
  SequenceKv twin(*groups_, page_rows_);
  if (!groups_->fits(n_pages)) return std::nullopt;
  const int64_t n_shared = length_ / page_rows_;
  const auto n_tail_rows = static_cast<int32_t>(length_ % page_rows_);
  for (size_t kind = 0; kind < tables_.size(); ++kind) {
    KindTable& table = twin.tables_[kind];
    table.share(tables_[kind], n_shared);
    CHECK(table.reserve_pages(n_pages[kind]), "what was counted as free can be taken");
    table.cover(length_);
    if (n_tail_rows > 0) {
      store.copy_rows(static_cast<int>(kind), tables_[kind].pages()[static_cast<size_t>(n_shared)],
                      table.pages().back(), n_tail_rows);
    }
  }
  if (state_) {
    CHECK(twin.state_->reserve(n_pages.back()), "what was counted as free can be taken");
    store.copy_state(state_page(), twin.state_page());
  }
  twin.length_ = length_;
  return twin;
}

void SequenceKv::release() {
  for (KindTable& table : tables_) table.release();
  if (state_) state_->release();
  length_ = 0;
}

void SequenceKv::check_integrity() const {
  for (const KindTable& table : tables_) table.check_integrity();
}

}  // namespace ferrox
