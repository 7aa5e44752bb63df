// Which model computed these rows? One hash of all that they depend on, for rows that outlive the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "kv/kv_layout.h"
#include "tier/page_key.h"

namespace ferrox {

/// Every byte of the model's files, what KV memory stores and how, and this program's arithmetic. Reads the files once,
/// over the pool's threads: a second for 10 GB that are in memory.
PageKey model_identity(std::span<const std::span<const std::byte>> files, const KvLayout& layout, ThreadPool& pool);

}  // namespace ferrox
