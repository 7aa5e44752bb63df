// What does the engine ask of KV memory? Room for a whole request, and where each step's rows go.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kv/kv_terms.h"
#include "kv/prefix_report.h"
#include "tensor/kv_view.h"

namespace ferrox {

class PrefixPins;

/// Everything that a request can ever need, held until this goes away: no step of it can fail for memory.
class RequestKv {
 public:
  virtual ~RequestKv() = default;

  virtual int64_t length() const = 0;  ///< rows computed

  /// Rows that were there when the request was admitted.
  virtual int64_t n_reused() const { return 0; }

  /// The most rows that the next step may have: it ends where a snapshot of the state is due.
  virtual int64_t most_rows() const { return std::numeric_limits<int64_t>::max(); }

  /// Tables of each attention kind that back the next n_rows rows, which are about to be written. Valid until the next
  /// call; the memory's layers() must be asked for after it.
  virtual std::span<const PageTable> begin_step(int64_t n_rows) = 0;

  /// The recurrent state before the next row; nullptr when the model has none. Valid until this goes away.
  virtual float* state() { return nullptr; }

  /// Those rows have been written and read. `tokens` are the request's, at least those of its rows.
  virtual void end_step(std::span<const int32_t> tokens) = 0;

  /// Somebody waits to go on behind the first `length` tokens of the prompt.
  virtual void expect_branch(int64_t /*length*/) {}

  /// The token before position `length` opened a tool call.
  virtual void observe_anchor(int64_t length) = 0;

  /// Others may go on behind what was computed. `tokens` as in end_step. Between two steps.
  virtual void publish(std::span<const int32_t> /*tokens*/) {}

  /// The first n of the other choices that this was taken for, with the same rows and max_tokens still to come. Once,
  /// after the step that ends the prompt.
  virtual std::vector<std::unique_ptr<RequestKv>> fork_choices(int64_t n) = 0;
};

/// What a request asks for.
struct KvDemand {
  int64_t n_prompt = 0;
  int64_t max_tokens = 0;
  int64_t n_choices = 1;
  std::span<const int32_t> prompt = {};      ///< [n_prompt], or empty: nothing is reused, nothing is kept for others
  std::string_view space = {};               ///< the namespace that it shares with others
  std::span<const int64_t> boundaries = {};  ///< lengths of the prompt that others may have in common, ascending
};

/// The KV memory of an engine. One thread uses it and what it hands out; it outlives that.
class KvMemory {
 public:
  virtual ~KvMemory() = default;

  /// What requests are priced by; doesn't change, so any thread may read it.
  virtual const KvTerms& terms() const = 0;

  /// One view for each layer. Valid until a step begins or ends.
  virtual std::span<const KvLayerView> layers() = 0;

  /// Everything choice_pages(terms(), n_prompt, max_tokens, n_choices) says, less the pages that are there already, or
  /// nullptr when that isn't to be had. What is cached and idle gives way.
  virtual std::unique_ptr<RequestKv> take(const KvDemand& demand) = 0;
  std::unique_ptr<RequestKv> take(int64_t n_prompt, int64_t max_tokens, int64_t n_choices = 1) {
    return take(KvDemand{.n_prompt = n_prompt, .max_tokens = max_tokens, .n_choices = n_choices});
  }

  /// What is cached of a prompt; absent when there is no prefix cache. Changes nothing.
  virtual std::optional<PrefixReport> find_prefix(std::string_view /*space*/,
                                                  std::span<const int32_t> /*prompt*/) const {
    return std::nullopt;
  }

  /// Free pages of each kind, and those that a new request may have: what is cached and idle as well.
  virtual std::vector<int32_t> n_free() const = 0;
  virtual std::vector<int32_t> n_available() const { return n_free(); }

  /// What the prefix cache holds; absent when there is none.
  virtual std::optional<PrefixCacheReport> cache_report(size_t /*most_nodes*/) const { return std::nullopt; }

  /// Forgets every cached prefix that nobody uses, pinned ones too: they are pinned again when they are back.
  virtual void clear_cache() {}

  /// Gives the memory of what is free back to the system; what is cached isn't free. Between two steps.
  virtual void give_back() {}

  /// nullptr without a prefix cache.
  virtual PrefixPins* pins() { return nullptr; }

  /// Bytes when all is touched.
  virtual uint64_t size_bytes() const = 0;

  /// CHECKs the books.
  virtual void check_integrity() const = 0;
};

}  // namespace ferrox
