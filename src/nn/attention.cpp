#include "nn/attention.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ferrox {
namespace {

/// Query rows of one KV head that go to one call of the kernel.
struct Unit {
  const BatchSegment* segment;
  int64_t first_row;  ///< in the batch
  int64_t offset;     ///< in the segment
  int n_rows;
  int kv_head;
  float* parts = nullptr;  ///< of a unit that is cut: where its spans' results lie
};

/// A range of a unit's spans.
struct Piece {
  const Unit* unit;
  int64_t first_span;
  int64_t last_span;
};

std::vector<Unit> split_units(const Batch& batch, int n_kv_heads, int rows_a_unit) {
  std::vector<Unit> units;
  int64_t first_row = 0;
  for (const BatchSegment& segment : batch.segments) {
    for (int64_t offset = 0; offset < segment.n_rows; offset += rows_a_unit) {
      const int n_rows = static_cast<int>(std::min<int64_t>(rows_a_unit, segment.n_rows - offset));
      for (int head = 0; head < n_kv_heads; ++head) {
        units.push_back({&segment, first_row + offset, offset, n_rows, head});
      }
    }
    first_row += segment.n_rows;
  }
  return units;
}

PageTable table_of(const BatchSegment& segment, const LayerKv& kv) {
  return segment.pages[static_cast<size_t>(kv.kind)];
}

/// One row's heads of q or k.
struct Heads {
  float* first;
  int n;
  int64_t dim;
  int64_t stride;  ///< floats between heads; more than dim where a gate lies behind each
};

int64_t q_head_stride(const Attention& attention, const KvLayerShape& shape) {
  return shape.k_dim + (attention.gates_heads ? shape.v_dim : 0);
}

/// Normalises heads in place, one by one or all as one row.
void norm_heads(const KernelTable& kernels, const Norm& norm, HeadNormSpan span, const Heads& heads) {
  if (!norm) return;
  if (span == HeadNormSpan::kAllHeads) {
    CHECK(heads.stride == heads.dim, "heads that are normalised as one row lie side by side");
    return norm_row(kernels, norm, 0, heads.first, heads.n * heads.dim, heads.first);
  }
  const bool is_shared = static_cast<int64_t>(norm.weight.size()) == heads.dim;
  for (int head = 0; head < heads.n; ++head) {
    float* values = heads.first + head * heads.stride;
    norm_row(kernels, norm, is_shared ? 0 : head * heads.dim, values, heads.dim, values);
  }
}

void rotate_heads(const Pass& pass, const Attention& attention, int64_t row, const Heads& heads) {
  if (attention.rope == kNoRope) return;
  const RopeAngles& angles = pass.angles[static_cast<size_t>(attention.rope)];
  for (int head = 0; head < heads.n; ++head) angles.rotate(row, heads.first + head * heads.stride);
}

/// Normalises and rotates heads of q or k, in the model's order.
void finish_heads(const Pass& pass, const Attention& attention, const Norm& norm, int64_t row, const Heads& heads) {
  const KernelTable& kernels = pass.compute.kernels;
  if (attention.rotates_before_norm) rotate_heads(pass, attention, row, heads);
  norm_heads(kernels, norm, attention.norm_span, heads);
  if (!attention.rotates_before_norm) rotate_heads(pass, attention, row, heads);
}

/// Normalises and rotates one row's queries and keys, and stores its K and V.
void finish_row(const Pass& pass, const Attention& attention, const KvLayerShape& shape, const KvLayerView& kv,
                int64_t row, int64_t position, PageTable pages) {
  const KernelTable& kernels = pass.compute.kernels;
  const int64_t q_stride = q_head_stride(attention, shape);
  const int64_t q_width = attention.n_heads * q_stride;
  const int64_t k_width = int64_t{shape.n_kv_heads} * shape.k_dim;
  const int64_t v_width = int64_t{shape.n_kv_heads} * shape.v_dim;
  float* q = pass.buffers.q.data() + row * q_width;
  float* k = pass.buffers.k.data() + row * k_width;
  float* v = pass.buffers.v.data() + row * v_width;
  if (attention.clamp != 0.0f) {
    kernels.clamp(attention.clamp, q_width, q);
    kernels.clamp(attention.clamp, k_width, k);
    kernels.clamp(attention.clamp, v_width, v);
  }
  finish_heads(pass, attention, attention.q_norm, row, {q, attention.n_heads, shape.k_dim, q_stride});
  finish_heads(pass, attention, attention.k_norm, row, {k, shape.n_kv_heads, shape.k_dim, shape.k_dim});
  const int32_t page = pages[static_cast<size_t>(position / kv.page_rows)];
  const int page_row = static_cast<int>(position % kv.page_rows);
  for (int head = 0; head < shape.n_kv_heads; ++head) {
    kernels.store_row(k + head * shape.k_dim, shape.k_dim, kv.k_type, kv.k_row(page, head, page_row));
    kernels.store_row(v + head * shape.v_dim, shape.v_dim, kv.v_type, kv.v_row(page, head, page_row));
  }
}

void finish_rows(const Pass& pass, const Attention& attention, const LayerKv& kv) {
  const ProfileScope scope(pass.compute.pool.profile(), "rope and store");
  std::vector<int64_t> ends;  // of the segments' rows in the batch
  int64_t n_rows = 0;
  for (const BatchSegment& segment : pass.batch.segments) ends.push_back(n_rows += segment.n_rows);
  pass.compute.pool.run(n_rows, [&](int64_t row, int) {
    const auto at = static_cast<size_t>(std::ranges::upper_bound(ends, row) - ends.begin());
    const BatchSegment& segment = pass.batch.segments[at];
    const int64_t position = segment.first_position + row - (ends[at] - segment.n_rows);
    finish_row(pass, attention, kv.shape, kv.view, row, position, table_of(segment, kv));
  });
}

/// All spans that a unit's rows read.
Piece whole(const Unit& unit, int window) {
  const int64_t first = unit.segment->first_position + unit.offset;
  const int64_t first_read = window > 0 ? std::max<int64_t>(0, first + 1 - window) : 0;
  return {&unit, first_read / kAttentionSpan, (first + unit.n_rows - 1) / kAttentionSpan + 1};
}

/// The kernel's view of a unit, without its heads.
AttentionArgs attention_args(const Pass& pass, const Attention& attention, const LayerKv& kv, const Unit& unit,
                             int thread) {
  const KvLayerShape& shape = kv.shape;
  AttentionArgs args;
  args.kv = kv.view;
  args.pages = table_of(*unit.segment, kv);
  args.kv_head = unit.kv_head;
  args.q_head_stride = q_head_stride(attention, shape);
  args.q_row_stride = attention.n_heads * args.q_head_stride;
  args.out_head_stride = shape.v_dim;
  args.out_row_stride = static_cast<int64_t>(attention.n_heads) * shape.v_dim;
  args.n_rows = unit.n_rows;
  args.first_position = unit.segment->first_position + unit.offset;
  args.window = shape.window;
  args.scale = attention.scale;
  args.softcap = attention.softcap;
  args.scratch = pass.buffers.attention_scratch.data() + thread * pass.buffers.attention_scratch_stride;
  return args;
}

/// Points at heads [done, done + kAttentionRows) of the unit's group.
void set_heads(const Pass& pass, const Attention& attention, const Unit& unit, int group, int done,
               AttentionArgs& args) {
  const int head = unit.kv_head * group + done;
  args.n_heads = std::min(kAttentionRows, group - done);
  args.sinks = attention.sinks.empty() ? nullptr : attention.sinks.data() + head;
  args.slopes = attention.slopes.empty() ? nullptr : attention.slopes.data() + head;
  args.q = pass.buffers.q.data() + unit.first_row * args.q_row_stride + head * args.q_head_stride;
  args.out = pass.buffers.attended.data() + unit.first_row * args.out_row_stride + head * args.out_head_stride;
}

/// The rows that a piece begins with.
KvRows first_rows(const LayerKv& kv, const Piece& piece) {
  const Unit& unit = *piece.unit;
  const int64_t first = unit.segment->first_position + unit.offset;
  const int64_t first_read = kv.shape.window > 0 ? std::max<int64_t>(0, first + 1 - kv.shape.window) : 0;
  const int64_t from = std::max(first_read, piece.first_span * kAttentionSpan);
  const int64_t tile_end = (from / kAttentionTile + 1) * kAttentionTile;
  return {table_of(*unit.segment, kv), unit.kv_head, from, std::min(tile_end, first + unit.n_rows)};
}

/// `next` is what the thread will most likely do after it, or nullptr.
void attend_piece(const Pass& pass, const Attention& attention, const LayerKv& kv, const Piece& piece,
                  const Piece* next, int thread) {
  const int group = attention.n_heads / kv.shape.n_kv_heads;
  AttentionArgs args = attention_args(pass, attention, kv, *piece.unit, thread);
  const int64_t n_queries = int64_t{args.n_rows} * group;
  args.first_span = piece.first_span;
  args.last_span = piece.last_span;
  if (next != nullptr) args.next = first_rows(kv, *next);
  if (piece.unit->parts != nullptr) {
    const int64_t skipped = piece.first_span - whole(*piece.unit, kv.shape.window).first_span;
    args.parts = piece.unit->parts + skipped * n_queries * attention_part_floats(kv.shape.v_dim);
  }
  for (int done = 0; done < group; done += kAttentionRows) {  // more heads than one call takes: one after another
    set_heads(pass, attention, *piece.unit, group, done, args);
    pass.compute.kernels.attend(args);
  }
}

void join_unit(const Pass& pass, const Attention& attention, const LayerKv& kv, const Unit& unit, int thread) {
  AttentionArgs args = attention_args(pass, attention, kv, unit, thread);
  const Piece spans = whole(unit, kv.shape.window);
  args.first_span = spans.first_span;
  args.last_span = spans.last_span;
  args.parts = unit.parts;
  set_heads(pass, attention, unit, attention.n_heads / kv.shape.n_kv_heads, 0, args);
  pass.compute.kernels.join_attention(args);
}

/// Few heads of a long context are cut at spans, so that all threads have work. A span's result is the same whoever
/// computes it, and they are joined in order: where the cuts are changes nothing. Sets `parts` of units that are cut.
std::vector<Piece> cut_units(const Pass& pass, const Attention& attention, const LayerKv& kv,
                             std::vector<Unit>& units) {
  const int group = attention.n_heads / kv.shape.n_kv_heads;
  const auto n_units = static_cast<int64_t>(units.size());
  const int64_t n_wanted = (kAttentionPiecesPerThread * pass.compute.pool.n_threads() + n_units - 1) / n_units;
  std::vector<Piece> pieces;
  std::vector<int64_t> part_floats;
  int64_t total = 0;
  for (const Unit& unit : units) {
    pieces.push_back(whole(unit, kv.shape.window));
    const int64_t n_spans = pieces.back().last_span - pieces.back().first_span;
    const int64_t n_states = n_spans > 1 ? n_spans * unit.n_rows * group : 0;
    part_floats.push_back(n_states * attention_part_floats(kv.shape.v_dim));
    total += part_floats.back();
  }
  if (n_wanted == 1 || total == 0 || total > pass.buffers.attention_parts.size() || group > kAttentionRows) {
    return pieces;
  }
  float* next = pass.buffers.attention_parts.data();
  std::vector<Piece> cut;
  for (size_t i = 0; i < units.size(); ++i) {
    if (part_floats[i] > 0) units[i].parts = std::exchange(next, next + part_floats[i]);
    const int64_t n_spans = pieces[i].last_span - pieces[i].first_span;
    const int64_t n_pieces = std::min(n_spans, n_wanted);
    for (int64_t j = 0; j < n_pieces; ++j) {
      cut.push_back({&units[i], pieces[i].first_span + n_spans * j / n_pieces,
                     pieces[i].first_span + n_spans * (j + 1) / n_pieces});
    }
  }
  return cut;
}

/// Each row's K and V are read once a segment; a score and its weighted sum take a multiply-add an element.
Work work_of(const Pass& pass, const Attention& attention, const LayerKv& kv) {
  const KvLayerShape& shape = kv.shape;
  const double row_bytes =
      static_cast<double>(shape.n_kv_heads) * static_cast<double>(kv.view.k_row_bytes + kv.view.v_row_bytes);
  const double row_operations = 2.0 * attention.n_heads * static_cast<double>(shape.k_dim + shape.v_dim);
  Work work;
  for (const BatchSegment& segment : pass.batch.segments) {
    for (int64_t i = 0; i < segment.n_rows; ++i) {
      const int64_t n_before = segment.first_position + i + 1;
      const int64_t n_read = shape.window > 0 ? std::min<int64_t>(shape.window, n_before) : n_before;
      work.f32_operations += row_operations * static_cast<double>(n_read);
      if (i + 1 == segment.n_rows) work.bytes += row_bytes * static_cast<double>(n_read);
    }
  }
  return work;
}

/// Attends with every row of the batch.
void attend_rows(const Pass& pass, const Attention& attention, const LayerKv& kv) {
  const ProfileScope scope(pass.compute.pool.profile(), "scores and values");
  if (Profile* profile = pass.compute.pool.profile()) add_work(profile, work_of(pass, attention, kv));
  const int group = attention.n_heads / kv.shape.n_kv_heads;
  std::vector<Unit> units = split_units(pass.batch, kv.shape.n_kv_heads, std::max(1, kAttentionRows / group));
  if (units.empty()) return;
  const std::vector<Piece> pieces = cut_units(pass, attention, kv, units);
  pass.compute.pool.run(static_cast<int64_t>(pieces.size()), [&](int64_t i, int thread) {
    const Piece* const piece = pieces.data() + i;
    const bool is_last = i + 1 == static_cast<int64_t>(pieces.size());
    attend_piece(pass, attention, kv, *piece, is_last ? nullptr : piece + 1, thread);
  });
  std::erase_if(units, [](const Unit& unit) { return unit.parts == nullptr; });
  pass.compute.pool.run(static_cast<int64_t>(units.size()), [&](int64_t i, int thread) {
    join_unit(pass, attention, kv, units[static_cast<size_t>(i)], thread);
  });
}

/// attended *= sigmoid(gate), head by head.
void gate_rows(const Pass& pass, const Attention& attention, const KvLayerShape& shape) {
  const ProfileScope scope(pass.compute.pool.profile(), "gate");
  const KernelTable& kernels = pass.compute.kernels;
  const int64_t stride = q_head_stride(attention, shape);
  pass.compute.pool.run(pass.n_rows, [&](int64_t row, int) {
    float* gates = pass.buffers.q.data() + row * attention.n_heads * stride + shape.k_dim;
    float* attended = pass.buffers.attended.data() + row * attention.n_heads * shape.v_dim;
    for (int head = 0; head < attention.n_heads; ++head) {
      kernels.sigmoid(shape.v_dim, gates + head * stride);
      kernels.mul(gates + head * stride, shape.v_dim, attended + head * shape.v_dim);
    }
  });
}

}  // namespace

void run_attention(const Pass& pass, const Attention& attention, const LayerKv& kv, const float* x, float* out) {
  Buffers& buffers = pass.buffers;
  Activations input(x, pass.n_rows, pass.n_embd, pass.n_embd, buffers.blocks.data());
  const LinearJob projections[] = {{&attention.q, &input, buffers.q.data(), attention.q.n_out},
                                   {&attention.k, &input, buffers.k.data(), attention.k.n_out},
                                   {&attention.v, &input, buffers.v.data(), attention.v.n_out}};
  project(pass, "q k v", projections);
  finish_rows(pass, attention, kv);
  attend_rows(pass, attention, kv);
  if (attention.gates_heads) gate_rows(pass, attention, kv.shape);

  Activations attended(buffers.attended.data(), pass.n_rows, attention.out.n_in, attention.out.n_in,
                       buffers.blocks.data());
  const LinearJob projection{&attention.out, &attended, out, pass.n_embd};
  project(pass, "output", {&projection, 1});
}

}  // namespace ferrox
