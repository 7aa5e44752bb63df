#include "kv/contiguous_memory.h"

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/units.h"

namespace ferrox {

int64_t contiguous_rows(const KvLayerShape& shape, int64_t n_positions, int64_t chunk_rows) {
  if (shape.window == 0) return n_positions;
  return std::min(n_positions, KvWindow::with_default_slack(shape.window).max_rows() + chunk_rows);
}

uint64_t contiguous_bytes(const KvLayout& layout, int64_t n_positions, int64_t chunk_rows) {
  uint64_t bytes = 0;
  for (const KvLayerShape& shape : layout.layers) {
    const auto rows = static_cast<uint64_t>(contiguous_rows(shape, n_positions, chunk_rows));
    bytes = saturating_add(bytes, saturating_mul(rows, kv_position_bytes(shape, layout.k_type, layout.v_type)));
  }
  return saturating_add(bytes, static_cast<uint64_t>(layout.state_floats) * sizeof(float));
}

/// One request's use of the caches.
class ContiguousMemory::Run : public RequestKv {
 public:
  explicit Run(ContiguousMemory& memory)
      : memory_(memory),
        caches_(memory.caches_),
        rows_of_(static_cast<size_t>(memory.kinds_.size())),
        tables_(rows_of_.size()) {
    memory.plan_rows();  // a windowed cache gives back what a long prompt took
    std::fill(memory.state_.begin(), memory.state_.end(), 0.0f);
  }

  ~Run() override {
    for (KvCache& cache : caches_) cache.truncate(0);
    memory_.is_taken_ = false;
  }

  int64_t length() const override { return length_; }
  void observe_anchor(int64_t) override {}  // a single run is never rejoined
  std::vector<std::unique_ptr<RequestKv>> fork_choices(int64_t) override { return {}; }

  std::span<const PageTable> begin_step(int64_t n_rows) override {
    for (KvCache& cache : caches_) CHECK(cache.extend(n_rows), "a cache without a pool grows");
    step_rows_ = n_rows;
    for (size_t layer = 0; layer < caches_.size(); ++layer) {
      memory_.views_[layer] = caches_[layer].view();
      name_rows(caches_[layer], static_cast<size_t>(memory_.kinds_.of_layer[layer]));
    }
    for (size_t kind = 0; kind < tables_.size(); ++kind) tables_[kind] = rows_of_[kind];
    return tables_;
  }

  float* state() override { return memory_.state_.empty() ? nullptr : memory_.state_.data(); }

  void end_step(std::span<const int32_t>) override {
    length_ += step_rows_;
    for (KvCache& cache : caches_) cache.evict_behind_window();
  }

 private:
  /// Table of a cache: position p is row p - first_resident; positions before are stale. Layers of a kind agree.
  void name_rows(const KvCache& cache, size_t kind) {
    std::vector<int32_t>& rows = rows_of_[kind];
    const auto first = static_cast<size_t>(cache.first_resident());
    const bool is_named = rows.size() > first && rows[first] == 0;
    const size_t from = is_named ? rows.size() : first;
    rows.resize(static_cast<size_t>(cache.positions()));
    for (size_t position = from; position < rows.size(); ++position) {
      rows[position] = static_cast<int32_t>(position - first);
    }
  }

  ContiguousMemory& memory_;
  std::vector<KvCache>& caches_;
  std::vector<std::vector<int32_t>> rows_of_;  ///< of each kind: the row of each position
  std::vector<PageTable> tables_;
  int64_t length_ = 0;
  int64_t step_rows_ = 0;
};

Result<std::unique_ptr<ContiguousMemory>> ContiguousMemory::create(const KvLayout& layout, int64_t context_length,
                                                                   int64_t chunk_rows) {
  TRY(validate_layout(layout));
  if (context_length < 1 || context_length > std::numeric_limits<int32_t>::max()) {
    return make_error(ErrorCode::kInvalidArgument, "contiguous KV cache: expected 1 to {} positions, found {}",
                      std::numeric_limits<int32_t>::max(), context_length);
  }
  std::unique_ptr<ContiguousMemory> memory(new ContiguousMemory(layout, context_length, chunk_rows));
  if (!memory->plan_caches()) {
    return make_error(ErrorCode::kMemoryBudget, "KV cache: the system refuses {} for {} positions",
                      format_bytes(memory->size_bytes()), context_length);
  }
  return memory;
}

void ContiguousMemory::plan_rows() {
  for (size_t layer = 0; layer < caches_.size(); ++layer) {
    caches_[layer].plan_capacity(contiguous_rows(layout_.layers[layer], terms_.page_rows, terms_.chunk_rows));
  }
}

/// Address space for the longest request; it takes memory as it is touched. False when the system refuses it.
bool ContiguousMemory::plan_caches() {
  try {
    for (const KvLayerShape& shape : layout_.layers) {
      KvCache& cache = caches_.emplace_back(shape, layout_.k_type, layout_.v_type);
      if (shape.window > 0) cache.arm_window(KvWindow::with_default_slack(shape.window));
    }
    plan_rows();
    state_.resize(static_cast<size_t>(layout_.state_floats));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
}

/// New caches in the place of those whose rows nobody reads. Where the system refuses them the old ones stay.
void ContiguousMemory::give_back() {
  if (is_taken_) return;
  std::vector<KvCache> old = std::exchange(caches_, {});
  if (plan_caches()) return;
  caches_ = std::move(old);
}

ContiguousMemory::ContiguousMemory(KvLayout layout, int64_t context_length, int64_t chunk_rows)
    : layout_(std::move(layout)), kinds_(attention_kinds(layout_.layers)), views_(layout_.layers.size()) {
  terms_.windows = {0};
  terms_.n_pages = {1};
  terms_.page_bytes = {contiguous_bytes(layout_, context_length, chunk_rows)};
  terms_.page_rows = static_cast<int32_t>(context_length);
  terms_.chunk_rows = chunk_rows;
}

std::unique_ptr<RequestKv> ContiguousMemory::take(const KvDemand& demand) {
  CHECK(demand.n_choices == 1, "one sequence has one answer");
  if (is_taken_ || !fits_pages(lease_pages(terms_, demand.n_prompt, demand.max_tokens), terms_.n_pages)) return nullptr;
  is_taken_ = true;
  return std::make_unique<Run>(*this);
}

}  // namespace ferrox
