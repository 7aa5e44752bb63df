// How does a program run a model with ferrox? Load an Engine, submit requests, receive events.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine_status.h"
#include "engine/memory_plan.h"
#include "engine/request.h"
#include "engine/sessions.h"
#include "engine/sleep_level.h"
#include "gguf/gguf_file.h"
#include "kv/prefix_observer.h"
#include "kv/prefix_pins.h"
#include "kv/prefix_report.h"
#include "nn/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"
#include "tier/tier_stats.h"

namespace ferrox {

inline constexpr uint64_t kDefaultDiskBytes = uint64_t{16} << 30;

struct EngineOptions {
  std::optional<std::filesystem::path> model_path;  ///< absent: the bundled model
  std::optional<std::string> chat_template;         ///< Jinja source that replaces the file's
  bool lock_weights = false;                        ///< keep them in memory: never swapped, never read again
  int n_threads = 0;                                ///< 0: what this process may use
  int64_t context_length = 0;                       ///< most positions of one request; 0: as trained, capped by memory
  int32_t n_parallel = 16;                          ///< most requests that run at once
  uint64_t kv_bytes = 0;             ///< 0: half of what weights and scratch leave, at most n_parallel contexts
  uint64_t memory_budget_bytes = 0;  ///< of everything; 0: FERROX_DEVICE_BUDGET_BYTES, or what the machine has free
  KvStorage kv_storage = KvStorage::kPaged;  ///< kContiguous runs one request at a time
  DType k_type = DType::kF16;                ///< one of kKvTypes
  DType v_type = DType::kF16;
  int32_t page_rows = 32;
  bool prefix_cache = true;  ///< free pages keep what was computed for requests that begin alike; paged storage alone
  std::shared_ptr<PrefixObserver> prefix_observer = {};  ///< hears of what the prefix cache holds; nullptr: nobody
  uint64_t kv_host_bytes = 0;                            ///< memory for prefixes that the store has no room for
  std::optional<std::filesystem::path> kv_disk = {};     ///< a folder that keeps them, over restarts as well
  uint64_t kv_disk_bytes = kDefaultDiskBytes;            ///< most bytes of its files; 0: there is no folder
  int32_t batch_rows = 512;                              ///< most rows of one step
  int32_t max_queue = 512;
  int64_t default_max_tokens = 2048;
  int64_t default_timeout_ms = 0;  ///< longest wait for admission; 0: no limit
  int64_t max_gap_ms = 250;        ///< between two tokens of who generates, while prompts load; 0: no limit
  std::function<void(double fraction)> on_load_progress;
};

/// What an engine is made of. For those who bring a model of their own; `load` makes the parts from a file.
struct EngineParts {
  std::unique_ptr<GgufFile> file;  ///< outlives the model
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat_template;
  std::string model_id;
};

/// Owns the model, its KV memory and the one thread that touches them. All methods are safe from any thread.
class Engine {
 public:
  /// Errors: what opening the file, load_model, make_tokenizer, the chat template and plan_memory refuse; tiers without
  /// a prefix cache in front of them, a folder that can't be used; a build without a bundled model when no path is
  /// given.
  static Result<std::unique_ptr<Engine>> load(const EngineOptions& options);

  /// The same from parts that are there already. Nothing of `options` but numbers is used. Errors: memory.
  static Result<std::unique_ptr<Engine>> assemble(EngineParts parts, const EngineOptions& options);

  /// Cancels what runs and joins the engine thread.
  ~Engine();

  const ModelShape& shape() const;
  const GgufFile& file() const;
  const Tokenizer& tokenizer() const;
  const ChatTemplate& chat_template() const;
  const std::string& model_id() const;  ///< the name answers carry: the file's stem, or "ferrox-demo"
  int64_t context_length() const;       ///< most positions of one request
  uint64_t kv_bytes() const;
  int32_t page_rows() const;       ///< positions of one page of keys and values
  uint64_t scratch_bytes() const;  ///< of the model, its threads and the choice of tokens
  EngineStatus status() const;

  /// Refused at once (no work done, no event sent): a token id outside the vocabulary, an empty prompt, a prompt that
  /// leaves no room (`prompt is too long: N tokens > M maximum`, kContextLength), a request larger than the whole
  /// store (kMemoryBudget, with the arithmetic), a full queue (kUnavailable).
  Result<RequestId> submit(GenerationRequest request, EventSink sink);

  /// All are accepted, or none with one refusal: submit's, or check_number's. The first one's timeout holds for all.
  /// Neighbours with one prompt and one limit compute it once and share its pages, where slots and store hold all of
  /// them side by side.
  Result<std::vector<RequestId>> submit_all(std::vector<NewRequest> requests);

  /// Refuses (kInvalidArgument) more requests than may run and wait together.
  Result<void> check_number(size_t n_requests) const;

  /// What submit would say of this prompt and limit, without sending anything: the same refusals of the same codes, but
  /// for a full queue. Nothing is counted or changed.
  Result<AdmissionAnswer> ask_admission(std::span<const int32_t> prompt, std::optional<int64_t> max_tokens,
                                        int32_t n_choices = 1) const;

  /// Gives `take` what the prefix cache holds, with at most most_nodes parts of its tree (absent: there is no cache),
  /// or empties it and its tiers first of what nobody uses. `take` is called on the engine thread between two steps, or
  /// never when the engine stops (false).
  using TakeCacheReport = std::function<void(std::optional<PrefixCacheReport>)>;
  bool ask_cache(size_t most_nodes, TakeCacheReport take);
  bool clear_cache(TakeCacheReport take);

  /// Gives `use` the pinned prefixes (nullptr: there is no cache); called as ask_cache's.
  bool ask_pins(std::function<void(PrefixPins*)> use);

  /// Gives `take` what each of n_parallel slots runs or ran last; called as ask_cache's.
  bool ask_slots(std::function<void(std::vector<SlotState>)> take);

  /// Gives back the memory that an idle engine can do without, and calls `done` as ask_cache does. It comes again as
  /// requests need it: whoever submits one needs no other call, and gets the same bits.
  bool sleep(SleepLevel level, std::function<void()> done);

  /// Reads ahead what the weights lost to sleep.
  void wake();

  /// Conversations in files; nullptr without a folder for prefixes.
  Sessions* sessions();

  /// What host memory and the disk hold of prefixes; absent when they aren't used.
  std::optional<PrefixTierStats> tier_stats() const;

  /// The request stops within a step and sends DoneEvent{kCancelled}. Unknown or finished ids are ignored.
  void cancel(RequestId id);

  /// Stops admitting: later submits are refused with kUnavailable. What runs goes on; wait_idle waits for it.
  void drain();
  bool wait_idle(int64_t timeout_ms);

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ferrox
