// Does a request hold what it was charged and no more, own what it reads, and give all of it back, whatever happens?
#include "kv/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "kv/paged_memory.h"

namespace ferrox {
namespace {

KvLayout layout_of(std::vector<int> windows, int32_t page_rows) {
  KvLayout layout{{}, page_rows, DType::kF32, DType::kF32};
  for (const int window : windows) layout.layers.push_back({1, 1, 1, window});
  return layout;
}

/// A store with leases that write who and where into each row, and check it when they read a window.
class Store {
 public:
  Store(const KvLayout& layout, KvTerms terms) : memory_(*PagedMemory::create(layout, terms)) {}

  PageGroups& groups() { return memory_->groups(); }
  const KvTerms& terms() const { return memory_->terms(); }
  PagedStore& store() { return memory_->store(); }

  /// One step of n rows: writes them, then reads every row that their windows reach.
  void step(KvLease& lease, int64_t n, const std::vector<float>& values) {
    const int64_t first = lease.length();
    const std::span<const PageTable> tables = lease.begin_step(n);
    for (int64_t i = 0; i < n; ++i) {
      each_cell(tables, first + i, first + i,
                [&](std::byte* cell) { std::memcpy(cell, &values[static_cast<size_t>(first + i)], sizeof(float)); });
    }
    for (int64_t i = 0; i < n; ++i) check_windows(tables, first + i, values);
    lease.end_step();
    lease.check_integrity();
  }

 private:
  /// The cells of `position` in every layer whose window reaches it from `reader`.
  template <class Visit>
  void each_cell(std::span<const PageTable> tables, int64_t position, int64_t reader, const Visit& visit) {
    for (size_t i = 0; i < store().layers().size(); ++i) {
      const KvLayerView& layer = store().layers()[i];
      const int kind = store().kinds().of_layer[i];
      const int window = store().kinds().windows[static_cast<size_t>(kind)];
      if (window > 0 && reader - position >= window) continue;
      const int32_t page = tables[static_cast<size_t>(kind)][static_cast<size_t>(position / layer.page_rows)];
      ASSERT_GT(groups().pool(kind).n_holders(page), 0) << "nobody reads a page that was given back";
      const int row = static_cast<int>(position % layer.page_rows);
      visit(layer.k_row(page, 0, row));
      visit(layer.v_row(page, 0, row));
    }
  }

  void check_windows(std::span<const PageTable> tables, int64_t position, const std::vector<float>& values) {
    for (int64_t read = position; read >= 0; --read) {
      if (position - read > 40 && read % 17 != 0) continue;  // far back in full kinds: a sample
      each_cell(tables, read, position, [&](const std::byte* cell) {
        float value = 0;
        std::memcpy(&value, cell, sizeof value);
        ASSERT_EQ(value, values[static_cast<size_t>(read)]) << "position " << read << " read from " << position;
      });
    }
  }

  std::unique_ptr<PagedMemory> memory_;
};

std::vector<float> values_of(int64_t n, float tag) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = tag * 100000.0f + static_cast<float>(i);
  return values;
}

KvTerms terms_for(const KvLayout& layout, std::vector<int32_t> n_pages, int64_t chunk_rows) {
  KvTerms terms = terms_of(layout);
  terms.n_pages = std::move(n_pages);
  terms.chunk_rows = chunk_rows;
  return terms;
}

/// The pages a window request holds don't grow with its answer; a full one's do.
TEST(KvLease, AWindowModelRunsInAFlatNumberOfPages) {
  const KvLayout layout = layout_of({8}, 4);
  Store store(layout, terms_for(layout, {60}, 16));
  std::optional<KvLease> lease = KvLease::take(store.groups(), store.terms(), 3, 4000);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->n_held(), 48);
  const std::vector<float> values = values_of(4003, 1);
  store.step(*lease, 3, values);
  while (lease->length() < 4003) {
    store.step(*lease, 1, values);
    ASSERT_EQ(lease->n_held(), 48);
  }
  lease.reset();
  EXPECT_EQ(store.groups().n_held(), 0);
}

TEST(KvLease, AlternatingModelsRecycleTheirSlidingPages) {
  const KvLayout layout = layout_of({8, 0, 8, 0}, 4);
  Store store(layout, terms_for(layout, {60, 260}, 16));
  std::optional<KvLease> lease = KvLease::take(store.groups(), store.terms(), 40, 1000);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->sequence().kind(0).n_held(), 54);  // 16 + 8 + 4 of the prompt, 184 + 4 past it
  EXPECT_EQ(lease->sequence().kind(1).n_held(), 260);
  const std::vector<float> values = values_of(1040, 1);
  for (int64_t n : {16, 16, 8}) store.step(*lease, n, values);
  while (lease->length() < 1040) store.step(*lease, 1, values);
}

TEST(KvLease, TakesAllOrNothing) {
  const KvLayout layout = layout_of({8, 0}, 4);
  Store store(layout, terms_for(layout, {10, 2}, 16));
  EXPECT_FALSE(KvLease::take(store.groups(), store.terms(), 8, 1)) << "three pages of the full kind";
  EXPECT_EQ(store.groups().n_held(), 0);
  EXPECT_TRUE(KvLease::take(store.groups(), store.terms(), 8, 0));
}

TEST(KvLeaseDeath, AStepStaysWithinWhatWasPriced) {
  const KvLayout layout = layout_of({0}, 4);
  Store store(layout, terms_for(layout, {10}, 16));
  std::optional<KvLease> lease = KvLease::take(store.groups(), store.terms(), 4, 1);
  EXPECT_DEATH(lease->begin_step(6), "within what was priced");
}

/// Answers to one prompt hold its whole pages once, and what comes after it each for itself.
TEST(KvLease, ChoicesShareThePromptsPages) {
  const KvLayout layout = layout_of({0}, 4);
  Store store(layout, terms_for(layout, {100}, 64));
  std::optional<KvLease> first = KvLease::take(store.groups(), store.terms(), 42, 10, 4);
  ASSERT_TRUE(first);
  EXPECT_EQ(store.groups().n_held(), 10 + 4 * 3) << "ten whole pages, and two rows of the prompt with ten more each";
  const std::vector<float> values = values_of(52, 1);
  store.step(*first, 42, values);
  std::vector<KvLease> others = first->fork_choices(store.store(), 3);
  EXPECT_EQ(store.groups().n_held(), 22);
  for (int32_t page = 0; page < 10; ++page) {
    EXPECT_EQ(store.groups().pool(0).n_holders(first->sequence().kind(0).pages()[static_cast<size_t>(page)]), 4);
  }
  for (int64_t i = 0; i < 10; ++i) {
    store.step(*first, 1, values);
    for (size_t choice = 0; choice < 3; ++choice) {
      std::vector<float> own = values_of(52, 2 + static_cast<float>(choice));
      std::copy_n(values.begin(), 42, own.begin());
      store.step(others[choice], 1, own);
    }
  }
  first.reset();
  EXPECT_EQ(store.groups().n_held(), 10 + 3 * 3) << "the others still read the prompt";
  others.clear();
  EXPECT_EQ(store.groups().n_held(), 0);
}

TEST(KvLease, ChoicesThatAreNotTakenUpGiveTheirPagesBack) {
  const KvLayout layout = layout_of({8, 0}, 4);
  Store store(layout, terms_for(layout, {400, 400}, 16));
  std::optional<KvLease> first = KvLease::take(store.groups(), store.terms(), 42, 300, 4);
  ASSERT_TRUE(first);
  const int64_t n_four = store.groups().n_held();
  const std::vector<float> values = values_of(342, 1);
  for (const int64_t n : {16, 16, 10}) store.step(*first, n, values);
  std::vector<KvLease> others = first->fork_choices(store.store(), 1);
  EXPECT_LT(store.groups().n_held(), n_four);
  EXPECT_EQ(store.groups().pool(1).n_held(), 10 + 2 * 76);
  while (first->length() < 342) store.step(*first, 1, values);
  while (others[0].length() < 342) store.step(others[0], 1, values);
}

/// A request of the fuzz with what its rows must say.
struct Live {
  KvLease lease;
  std::vector<float> values;
  int64_t n_prompt;
  int64_t n_positions;
  int64_t n_choices;  ///< that wait for the end of its prompt, itself included
};

/// Random requests are admitted, stepped, anchored, forked, cancelled and finished, in random shapes of store.
class LeaseFuzz {
 public:
  explicit LeaseFuzz(uint32_t seed) : random_(seed), layout_(random_layout()), store_(layout_, random_terms(layout_)) {}

  /// Adds how often a first kind's window slid, and how many choices took up a prompt.
  void run(int64_t n_operations, int64_t& n_slides, int64_t& n_choices) {
    for (int64_t i = 0; i < n_operations && !::testing::Test::HasFatalFailure(); ++i) {
      operate();
      check_books();
    }
    live_.clear();
    store_.groups().check_integrity();
    ASSERT_EQ(store_.groups().n_held(), 0) << "counts return to the start";
    n_slides += n_slides_;
    n_choices += n_choices_forked_;
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }

  KvLayout random_layout() {
    constexpr int kWindows[] = {0, 1, 5, 8, 16, 33};
    std::vector<int> windows;
    for (int64_t i = below(4); i >= 0; --i) windows.push_back(kWindows[below(6)]);
    constexpr int32_t kPageRows[] = {1, 2, 4, 7, 16};
    return layout_of(windows, kPageRows[below(5)]);
  }

  KvTerms random_terms(const KvLayout& layout) {
    KvTerms terms = terms_of(layout);
    terms.chunk_rows = 1 + below(40);
    terms.slide_interval = below(3) == 0 ? below(4) : 1 + below(60);
    for (size_t kind = 0; kind < terms.windows.size(); ++kind) {
      terms.n_pages.push_back(static_cast<int32_t>(400 / terms.page_rows + below(2000 / terms.page_rows + 2)));
    }
    return terms;
  }

  void operate() {
    const int64_t what = below(100);
    if (live_.empty() || what < 4) return admit();
    Live& chosen = *live_[static_cast<size_t>(below(static_cast<int64_t>(live_.size())))];
    if (what < 6) return finish(chosen);
    if (what < 8) return fork(chosen);
    if (what < 12) return chosen.lease.observe_anchor(chosen.lease.length() + below(2));
    step(chosen);
  }

  void admit() {
    const int64_t n_prompt = 1 + below(100);
    const int64_t max_tokens = below(4) == 0 ? 400 + below(600) : below(100);
    const int64_t n_choices = below(3) == 0 ? 2 + below(3) : 1;
    const std::vector<int64_t> price = choice_pages(store_.terms(), n_prompt, max_tokens, n_choices);
    const bool fits = store_.groups().fits(price);
    const int64_t n_held = store_.groups().n_held();
    std::optional<KvLease> lease = KvLease::take(store_.groups(), store_.terms(), n_prompt, max_tokens, n_choices);
    ASSERT_EQ(lease.has_value(), fits) << "store and ledger agree";
    if (!lease) {
      ASSERT_EQ(store_.groups().n_held(), n_held) << "a refusal changes nothing";
      return;
    }
    for (size_t kind = 0; kind < price.size(); ++kind) {
      ASSERT_EQ(lease->sequence().kind(static_cast<int>(kind)).n_held(), price[kind]);
    }
    const int64_t n = n_prompt + max_tokens;
    live_.push_back(std::make_unique<Live>(Live{std::move(*lease), values_of(n, ++tag_), n_prompt, n, n_choices}));
  }

  void step(Live& live) {
    const int64_t length = live.lease.length();
    const int64_t left = live.n_positions - length;
    if (left == 0) return finish(live);
    const int64_t of_prompt = std::min(live.n_prompt - length, store_.terms().chunk_rows);
    if (of_prompt > 0) {
      store_.step(live.lease, 1 + below(of_prompt), live.values);
      return fork_choices(live);
    }
    for (int64_t n = std::min(left, 1 + below(30)); n > 0; --n) {  // enough tokens to slide
      const int64_t before = live.lease.sequence().kind(0).released();
      store_.step(live.lease, 1, live.values);
      n_slides_ += live.lease.sequence().kind(0).released() > before;
    }
  }

  /// Some of the choices, the others having been cancelled: what was priced for them can't fail.
  void fork_choices(Live& live) {
    if (live.lease.length() < live.n_prompt) return;
    const int64_t n = below(std::exchange(live.n_choices, 1));
    n_choices_forked_ += n;
    for (KvLease& twin : live.lease.fork_choices(store_.store(), n)) {
      std::vector<float> values = values_of(live.n_positions, ++tag_);
      std::copy_n(live.values.begin(), live.n_prompt, values.begin());
      live_.push_back(
          std::make_unique<Live>(Live{std::move(twin), std::move(values), live.n_prompt, live.n_positions, 1}));
    }
  }

  void fork(Live& live) {
    if (live.lease.length() < live.n_prompt || live.lease.length() == 0) return;
    const int64_t n_held = store_.groups().n_held();
    const int64_t max_tokens = below(200);
    std::optional<KvLease> twin = live.lease.fork(store_.store(), max_tokens);
    if (!twin) {
      ASSERT_EQ(store_.groups().n_held(), n_held) << "a fork that finds no room changes nothing";
      return;
    }
    const int64_t length = live.lease.length();
    std::vector<float> values = values_of(length + max_tokens, ++tag_);
    std::copy_n(live.values.begin(), length, values.begin());
    live_.push_back(
        std::make_unique<Live>(Live{std::move(*twin), std::move(values), live.n_prompt, length + max_tokens, 1}));
  }

  void finish(const Live& live) {
    std::erase_if(live_, [&](const auto& each) { return each.get() == &live; });
  }

  /// Free and held pages are all there are, and every page has as many holders as there are leases that hold it.
  void check_books() {
    PageGroups& groups = store_.groups();
    if (++n_checks_ % 64 == 0) groups.check_integrity();
    int64_t n_total = 0;
    for (const int32_t n : store_.terms().n_pages) n_total += n;
    ASSERT_EQ(groups.n_free() + groups.n_held(), n_total);
    int64_t n_references = 0;
    for (const auto& each : live_) n_references += each->lease.n_held();
    ASSERT_GE(n_references, groups.n_held());
  }

  std::mt19937 random_;
  KvLayout layout_;
  Store store_;
  std::vector<std::unique_ptr<Live>> live_;
  float tag_ = 0;
  int64_t n_checks_ = 0;
  int64_t n_slides_ = 0;
  int64_t n_choices_forked_ = 0;
};

/// FERROX_FUZZ_OPERATIONS asks for more than the 100,000 that always run.
TEST(KvLease, BooksBalanceUnderRandomSchedules) {
  const char* asked = std::getenv("FERROX_FUZZ_OPERATIONS");
  const int64_t n_operations = asked == nullptr ? 100'000 : std::atoll(asked);
  constexpr int64_t kOperationsASeed = 1000;
  int64_t n_slides = 0;
  int64_t n_choices = 0;
  for (int64_t seed = 0; seed * kOperationsASeed < n_operations; ++seed) {
    SCOPED_TRACE(seed);
    LeaseFuzz(static_cast<uint32_t>(seed)).run(kOperationsASeed, n_slides, n_choices);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(n_slides, n_operations / 100) << "the schedules reach what is tested";
  EXPECT_GT(n_choices, n_operations / 1000);
  printf("%ld operations, %ld slides, %ld choices\n", static_cast<long>(n_operations), static_cast<long>(n_slides),
         static_cast<long>(n_choices));
}

}  // namespace
}  // namespace ferrox
