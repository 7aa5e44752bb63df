// What does one running request hold of KV memory, and how does a step use it? The same for paged and contiguous.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kv/kv_terms.h"
#include "tensor/kv_view.h"

namespace ferrox {

/// Everything that a request can ever need, held until this goes away: no step of it can fail for memory.
class RequestKv {
 public:
  virtual ~RequestKv() = default;

  virtual int64_t length() const = 0;  ///< rows computed

  /// Tables of each attention kind that back the next n_rows rows, which are about to be written. Valid until the next
  /// call; the memory's layers() must be asked for after it.
  virtual std::span<const PageTable> begin_step(int64_t n_rows) = 0;

  /// Those rows have been written and read.
  virtual void end_step() = 0;

  /// The token before position `length` opened a tool call.
  virtual void observe_anchor(int64_t length) = 0;

  /// The first n of the other choices that this was taken for, with the same rows and max_tokens still to come. Once,
  /// after the step that ends the prompt.
  virtual std::vector<std::unique_ptr<RequestKv>> fork_choices(int64_t n) = 0;
};

/// The KV memory of an engine. One thread uses it and what it hands out; it outlives that.
class KvMemory {
 public:
  virtual ~KvMemory() = default;

  /// What requests are priced by; doesn't change, so any thread may read it.
  virtual const KvTerms& terms() const = 0;

  /// One view for each layer. Valid until a step begins or ends.
  virtual std::span<const KvLayerView> layers() = 0;

  /// Everything choice_pages(terms(), n_prompt, max_tokens, n_choices) says, or nullptr when that isn't free.
  virtual std::unique_ptr<RequestKv> take(int64_t n_prompt, int64_t max_tokens, int64_t n_choices = 1) = 0;

  /// Free pages of each kind.
  virtual std::vector<int32_t> n_free() const = 0;

  /// Bytes when all is touched.
  virtual uint64_t size_bytes() const = 0;

  /// CHECKs the books.
  virtual void check_integrity() const = 0;
};

}  // namespace ferrox
